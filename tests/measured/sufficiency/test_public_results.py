"""What the checks of a load find in public results, each looked at by hand and found right."""

from __future__ import annotations

from pathlib import Path

import pytest

from upheld.measured.read import read_file

pytestmark = pytest.mark.corpus

FORMATS = ("vllm-bench-serve", "sglang-bench-serving", "pytest-benchmark")
CHECKED = {f"UPH{code}" for code in range(510, 520)}

FOUND = {
    # Fifty and a hundred requests take a quarter of an hour or more at 1/s and 4/s.
    "anithagovindaraju0603-gif__baseline_rate1.json": {"UPH510"},
    "anithagovindaraju0603-gif__baseline_rate4.json": {"UPH510", "UPH514"},
    "django__mistral-small-4-119b_nvfp4_09-reasoning.json": {"UPH510"},
    # A mean time to first token of 455 s.
    "django__muse-glimmer-30b_bf16-spec_11-rate-sweep-1.0.json": {"UPH510"},
    # 28 requests/s of 35, and 2,000 at once.
    "nerdalert__results.json": {"UPH510", "UPH511"},
    # 64 requests under a limit of 64: first tokens take six times as long as among 640.
    "infx__atom_mtp_profile_tp4_conc64_isl8192_osl1024.json": {"UPH511"},
    # The first of two equal runs has a mean time to first token of 217 ms, the second 39 ms.
    "er0080__sweep4_summary.json": {"UPH519"},
    "RamadhaRanuh__sglang_0307_10_sharegpt.jsonl": {"UPH511"},
    # Lengths drawn from 1 to 128 are 60 in the mean; 50 requests under a limit of 32.
    "TonyLi15__agg_n100_in128_out64_c32.jsonl": {"UPH512"},
    "TonyLi15__agg_n50_in128_out64_c32.jsonl": {"UPH511", "UPH512"},
    "TonyLi15__pd_inter_n50_in128_out128_c32.jsonl": {"UPH511", "UPH512"},
}


def test_they_find_what_a_reader_finds_and_nothing_else(corpora: Path) -> None:
    found: dict[str, set[str]] = {}
    files = [
        file
        for format_ in FORMATS
        for file in sorted((corpora / "benchmark-files" / format_).iterdir())
    ]
    for file in files:
        rules = {each.rule for each in read_file(file.name, file.read_bytes()).all_findings}
        if rules & CHECKED:
            found[file.name] = rules & CHECKED
    assert len(files) > 30
    assert found == FOUND
