"""Files of engine reports by others: what they may leave out or spell in another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine_report_checks import devices, vllm
from engine_report_checks.reading import as_scored, engine_of
from engine_report_checks.scores import score, score_all
from engine_report_checks.shapes import version_of

OWN = Path(__file__).parents[1] / "corpora" / "engine-reports"
SHAPES: dict[str, Any] = {
    "dense": {
        "num_hidden_layers": 2,
        "kv_layers": [{"kind": "full", "layers": 2, "kv_heads": 8, "k_dim": 128, "v_dim": 128}],
    },
    "windows": {
        "kv_layers": [
            {"kind": "sliding", "layers": 4, "kv_heads": 1, "k_dim": 64, "v_dim": 64, "window": 64}
        ]
    },
    "latent": {
        "num_hidden_layers": 3,
        "kv_layers": [{"kind": "mla", "layers": 3, "latent": 512, "rope": 64}],
    },
}
GIB_OF_TOKENS = f"{2**30 // 8192:,}"
PLAIN: dict[str, Any] = {
    "id": "plain",
    "engine": "vllm-v1",
    "model_shape": "dense",
    "arguments": {"max_model_len": 4096},
    "reported": {"available_kv_gib": "1.00", "gpu_kv_cache_tokens": GIB_OF_TOKENS},
}


def scored(**changed: Any) -> dict[str, Any]:
    return score({**PLAIN, **changed}, SHAPES)


def test_a_case_of_the_least_keys_is_exact() -> None:
    assert scored()["verdict"] == "exact"


@pytest.mark.parametrize(
    "changed",
    [
        {"engine": "vLLM"},
        {"engine": "vllm_v1"},
        {"engine_version": 0.11},
        {"engine_version": "main"},
        {"engine_version": "0.9.2.dev123+gabc"},
        {"engine_version": "0.8 to 0.11"},
        {"arguments": {"max_model_len": "4,096", "dtype": None}},
        {"assumed": None, "attention": None, "basis": None, "colour": "red"},
        {"reported": {**PLAIN["reported"], "gpu_kv_cache_tokens": 2**30 // 8192}},
    ],
)
def test_other_spellings_are_read(changed: dict[str, Any]) -> None:
    assert scored(**changed)["verdict"] == "exact"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"engine": "exllama"}, "the engine exllama is not known"),
        ({"engine": None}, "is not known"),
        ({"arguments": ["a"]}, "`arguments` is no mapping"),
        ({"reported": "130,000 tokens"}, "`reported` is no mapping"),
        ({"model_shape": "no-such", "reported": {}}, "the model's shape is not known"),
        (
            {"reported": {"available_kv_gib": "lots", "gpu_kv_cache_tokens": "1"}},
            "the case can't be read",
        ),
        ({"engine": "sglang", "reported": {"pools": [{"tokens": "1"}]}}, "the case can't be read"),
        (
            {"engine": "sglang", "reported": {"pools": [{"layers": "odd", "tokens": "1"}]}},
            "a pool of odd layers is not known",
        ),
        (
            {"engine": "llama-server", "reported": {"caches": [{"layers": "mla", "cells": "1"}]}},
            "a cache of mla layers is not known",
        ),
        (
            {"engine": "llamacpp", "reported": {"recurrent": {"cells": "1"}}},
            "no layers with a state are known",
        ),
    ],
)
def test_a_case_that_cannot_be_read_says_why(changed: dict[str, Any], reason: str) -> None:
    found = scored(**changed)
    assert found["verdict"] == "not-predicted"
    assert reason in found["reason"]


@pytest.mark.parametrize("case", [None, [], "text", 3])
def test_one_bad_case_does_not_cost_the_others(case: Any) -> None:
    found = score_all([case, PLAIN], SHAPES)
    assert [each["verdict"] for each in found["cases"]] == ["not-predicted", "exact"]
    assert found["cases"][0]["reason"] == "the case is no mapping"


def test_no_key_that_is_taken_away_stops_the_run() -> None:
    reports = yaml.safe_load((OWN / "reports.yaml").read_text("utf-8"))
    shapes = yaml.safe_load((OWN / "shapes.yaml").read_text("utf-8"))
    for part in ("arguments", "reported", "assumed", "attention", "engine_version", "model_shape"):
        without = [{name: each[name] for name in each if name != part} for each in reports]
        nulled = [{**each, part: None} for each in reports]
        assert len(score_all(without + nulled, shapes)["cases"]) == 2 * len(reports)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("vLLM v0.24.0", (0, 24, 0)),
        ("0.19.2rc1.dev21", (0, 19, 2)),
        ("0.28-ish", (0, 28)),
        ("0.1.dev1+g1234", (0, 19)),
        ("0.2x", (0, 19)),
        ("main", (0, 19)),
        (None, (0, 19)),
    ],
)
def test_versions_as_reports_have_them(text: str | None, version: tuple[int, ...]) -> None:
    assert version_of(text, (0, 19)) == version


def test_engines_as_reports_have_them() -> None:
    names = ["vLLM", "llama.cpp", "ik_llama.cpp", "TRT-LLM", "SGLang", "turbomind"]
    assert [engine_of(name) for name in names] == [
        "vllm-v1", "llama.cpp", "ik_llama.cpp", "tensorrt-llm", "sglang", "lmdeploy",
    ]  # fmt: skip


def test_a_count_in_text_is_a_number_and_a_figure_stays_text() -> None:
    found = as_scored({**PLAIN, "arguments": {"max_model_len": "8,192"}, "reported": {"a": 1.5}})
    assert (found["arguments"]["max_model_len"], found["reported"]["a"]) == (8192, "1.5")


@pytest.mark.parametrize(
    ("gpu", "tokens"),
    [
        ("2x H100", 8192),
        ("A100-SXM4-80GB", 2048),
        ("L4", 2048),
        ("RTX 4090 24 GB", 2048),
        ("B200", 16384),
        ("some new device", 8192),
        ("NVIDIA 98304 MiB", 8192),
    ],
)
def test_a_device_has_its_default_of_tokens_a_step(gpu: str, tokens: int) -> None:
    assert devices.batched_tokens(gpu, (0, 30)) == tokens


@pytest.mark.parametrize(
    ("version", "arguments", "mode"),
    [
        ("0.25.1", {}, "none"),
        ("0.26.0", {}, "align"),
        ("0.26.0", {"enable_prefix_caching": False}, "none"),
        ("0.19", {"enable_prefix_caching": True}, "align"),
    ],
)
def test_states_are_cached_as_prefixes_are(
    version: str, arguments: dict[str, Any], mode: str
) -> None:
    case = as_scored({**PLAIN, "engine_version": version, "arguments": arguments})
    assert vllm.settings_of(case, SHAPES["dense"]).state_mode == mode


@pytest.mark.parametrize(
    ("version", "stated", "tokens"),
    [("0.21", None, 2048), ("0.22", None, 2496), ("0.22", 2048, 2048)],
)
def test_an_item_of_a_prefix_fits_in_the_default_of_tokens_a_step(
    version: str, stated: int | None, tokens: int
) -> None:
    arguments = {"max_num_batched_tokens": stated}
    case = as_scored({**PLAIN, "engine_version": version, "gpu": "L4", "arguments": arguments})
    shape = {**SHAPES["dense"], "prefix_item_tokens": 2496}
    assert vllm.settings_of(case, shape).max_num_batched_tokens == tokens


def test_windows_alone_are_a_pool_with_and_without_drafts() -> None:
    arguments = {"max_model_len": 4096, "speculative": {"method": "mtp", "num_tokens": 1}}
    for each in (PLAIN["arguments"], arguments):
        found = scored(model_shape="windows", arguments=each)
        assert found["checks"] or found["reason"]
        assert "StopIteration" not in found.get("reason", "")


def test_sglang_counts_all_layers_in_one_pool_where_it_has_one() -> None:
    size = f"{gib(2 * 8 * 128 * 2 * 2**20):.2f}"
    pool = {"layers": "all", "tokens": str(2**20), "k_gb": size, "v_gb": size}
    assert scored(engine="sglang", reported={"pools": [pool]})["verdict"] == "exact"


def gib(size: int) -> float:
    return size / 2**30


def test_llama_cpp_keeps_latent_rows_without_values() -> None:
    cache = {"layers": "mla", "cells": "1024", "streams": 2, "k_mib": "6.75", "v_mib": "0.00"}
    found = scored(
        engine="llama.cpp",
        model_shape="latent",
        arguments={"n_ctx": 2048, "n_seq": 2},
        reported={"caches": [cache]},
    )
    assert found["verdict"] == "exact", found


@pytest.mark.parametrize(("whole", "cells"), [(True, "8192"), (False, "768")])
def test_with_the_whole_window_kept_all_cells_are_there(whole: bool, cells: str) -> None:
    found = scored(
        engine="llama.cpp",
        model_shape="windows",
        arguments={"n_ctx": 8192, "swa_full": whole},
        reported={"caches": [{"layers": "sliding", "cells": cells}]},
    )
    assert found["verdict"] == "exact", found
