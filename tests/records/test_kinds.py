from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from records.record_texts import TEXTS, changed, findings_in, only_finding, record_in
from upheld.cli import main
from upheld.corpus.load import load
from upheld.records.kinds import KINDS
from upheld.records.types import Ref

REPOSITORY = Path(__file__).parents[2]


def correct(kind: str) -> str:
    return f"upheld schema {kind} says what each field takes"


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_record_is_valid_and_of_its_kind(kind: str) -> None:
    assert type(record_in(TEXTS[kind])) is KINDS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_each_key_that_is_missing_is_named(kind: str) -> None:
    needed = [name for name, field in KINDS[kind].model_fields.items() if field.is_required()]
    *others, last = (name for name in needed if name != "kind")
    assert only_finding(f"kind: {kind}\n") == (
        "UPH108", 1, 1, f"{', '.join(others)} and {last} are missing", "write them here",
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_key_is_placed_and_mended(kind: str) -> None:
    lines = TEXTS[kind].count("\n")
    assert only_finding(f"{TEXTS[kind]}tittle: again\n") == (
        "UPH107", lines + 1, 1, "unknown key tittle", "did you mean 'title'?",
    )  # fmt: skip


def test_an_unknown_key_that_is_like_no_other_lists_what_there_is() -> None:
    text = f"{TEXTS['device']}zzz: 1\n"
    assert only_finding(text)[4] == (
        "known keys: id, title, kind, aliases, vendor, memory, memory_bandwidth, origin, origins, "
        "notes"
    )


def test_an_unknown_key_deep_down_is_mended_from_the_keys_of_its_holder() -> None:
    policy = (
        TEXTS["policy"]
        + """\
fallback:
  when: [failed_known]
  after_output: never
  max_hops: 1
  providers:
    - id: other
      data: [public]
      region: [eu]
      behaviour: [chat]
"""
    )
    missing, unknown = findings_in(policy)
    assert (missing.rule, missing.message) == ("UPH108", "fallback.providers[1].regions is missing")
    assert (missing.place.line, missing.place.column) == (10, 7)
    assert (unknown.rule, unknown.message) == ("UPH107", "unknown key fallback.providers[1].region")
    assert (unknown.place.line, unknown.place.column) == (12, 7)
    assert unknown.help == "did you mean 'regions'?"


class TestAdr:
    def test_decides_for_one_of_its_options(self) -> None:
        assert only_finding(changed("adr", "{option: one,", "{option: two,")) == (
            "UPH109", 1, 1, "decision.option 'two' is none of the options: one",
            correct("adr"),
        )  # fmt: skip

    def test_a_status_that_does_not_exist(self) -> None:
        assert only_finding(changed("adr", "status: accepted", "status: acepted")) == (
            "UPH109", 4, 1, "status can't be 'acepted'", "did you mean accepted?",
        )  # fmt: skip

    @pytest.mark.parametrize(
        "assessed",
        ["state: passed", "state: passed, assessed_by: A",
         "state: not-passed, assessed_on: 2026-12-01", "assessed_by: A",
         "assessed_on: 2026-12-01", "assessed_by: A, assessed_on: 2026-12-01"],
    )  # fmt: skip
    def test_a_gate_is_assessed_by_someone_or_not_at_all(self, assessed: str) -> None:
        gate = (
            f"gates:\n  - {{id: g, title: T, depth: build, task: D, passes_when: P, {assessed}}}\n"
        )
        assert only_finding(TEXTS["adr"] + gate) == (
            "UPH109", 18, 5,
            "gates[1]: assessed_by and assessed_on go with a state that was assessed, and only "
            "with it",
            correct("adr"),
        )  # fmt: skip

    @pytest.mark.parametrize("state", ["passed", "not-passed"])
    def test_a_gate_that_someone_assessed(self, state: str) -> None:
        gate = "gates:\n  - {id: g, title: T, depth: build, task: D, passes_when: P, "
        gate += f"state: {state}, assessed_by: A, assessed_on: 2026-12-01}}\n"
        assert record_in(TEXTS["adr"] + gate).model_dump()["gates"][0]["state"] == state

    def test_a_stopping_point_says_what_was_not_done_and_what_reopens_it(self) -> None:
        for empty in ("not_performed", "reopened_by"):
            lists = {"not_performed": "[N]", "reopened_by": "[R]", empty: "[]"}
            point = ", ".join(f"{name}: {items}" for name, items in lists.items())
            text = f"{TEXTS['adr']}stopping_point: {{says: S, {point}}}\n"
            assert only_finding(text)[3] == f"stopping_point.{empty}: wants at least one entry"
            assert record_in(text.replace("[]", "[x]"))

    def test_an_option_at_least(self) -> None:
        text = changed(
            "adr", "options:\n  - {id: one, title: The one, depth: build}", "options: []"
        )
        assert [(f.message, f.place.line) for f in findings_in(text)] == [
            ("options: wants at least one entry", 7)
        ]


class TestDeployment:
    def test_a_version_stays_text(self) -> None:
        for version in ("0.10", "1.10", "014", "1e3"):
            text = changed("deployment", "engine_version: 0.10", f"engine_version: {version}")
            assert record_in(text).model_dump()["engine_version"] == version

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("device_count: 1", "device_count: 1\ntensor_parallel: 2",
             "tensor_parallel 2 needs more devices than device_count 1"),
            ("weight_dtype: bf16", "weight_dtype: int4",
             "weight_group_size goes with weight_dtype: int4, and only with it"),
            ("weight_dtype: bf16", "weight_dtype: bf16\nweight_group_size: 128",
             "weight_group_size goes with weight_dtype: int4, and only with it"),
            ("max_output_tokens: 256", "max_output_tokens: 2048",
             "max_output_tokens leaves no room for a prompt in max_model_len"),
        ],
    )  # fmt: skip
    def test_is_consistent(self, old: str, new: str, message: str) -> None:
        text = changed("deployment", old, new)
        assert only_finding(text) == ("UPH109", 1, 1, message, correct("deployment"))

    @pytest.mark.parametrize(
        ("old", "new", "place", "message"),
        [
            ("device_count: 1", "device_count: -1", (6, 1),
             "device_count: wants a whole number in plain digits, such as 32"),
            ("max_num_seqs: 4", "max_num_seqs: 0", (15, 1),
             "max_num_seqs: wants a whole number of at least 1"),
            ("max_num_seqs: 4", "max_num_seqs: 014", (15, 1),
             "max_num_seqs: wants a whole number in plain digits, such as 32"),
            ("prefix_caching: false", "prefix_caching: NO", (16, 1),
             "prefix_caching: wants true or false, not 'NO'"),
            ("2048 tokens", "2048", (13, 1),
             "max_model_len: '2048' has no unit; units that fit: tokens"),
            ("0.90", "0.0", (12, 1),
             "gpu_memory_utilization: wants a share above 0 and at most 1, such as 0.90"),
            ("0.1 GiB", "0.1", (17, 18),
             "runtime_memory.size: '0.1' has no unit; units that fit: B, kB, MB, GB, TB, KiB, "
             "MiB, GiB, TiB"),
            ("model: tiny", "model: [tiny]", (4, 1), "model: wants the id of one record"),
            ("title: One replica", 'title: ""', (3, 1), "title: is blank"),
            ("title: One replica", "title: {a: b}", (3, 1),
             "title: wants text, not a list or a mapping"),
            ("runtime_memory: {size: 0.1 GiB, origin: taken}", "runtime_memory: 4 GiB", (17, 1),
             "runtime_memory: wants a mapping of keys to values"),
            ("prefix_caching: false", "prefix_caching: false\nassumes: taken", (17, 1),
             "assumes: wants a list"),
            ("prefix_caching: false", "prefix_caching: false\nassumes: [ok, -no]", (17, 15),
             "assumes[2]: wants an id of 1 to 64 ASCII letters, digits, '.', '_' or '-' that "
             "begins with a letter or digit"),
        ],
    )  # fmt: skip
    def test_a_bad_value_is_placed(
        self, old: str, new: str, place: tuple[int, int], message: str
    ) -> None:
        text = changed("deployment", old, new)
        assert only_finding(text) == ("UPH109", *place, message, correct("deployment"))


@pytest.mark.parametrize("kind", ["model", "device"])
def test_an_origin_of_a_single_field_names_a_field(kind: str) -> None:
    text = f"{TEXTS[kind]}origins: {{title: taken}}\n"
    assert record_in(text).model_dump()["origins"] == {"title": "taken"}
    message = only_finding(text.replace("{title:", "{tittle:"))[3]
    assert message.startswith("origins: 'tittle' is no field of this record; fields: id, title, ")


def test_a_run_names_a_file_at_least_by_a_digest() -> None:
    bad = changed("run", '"' + "0" * 64 + '"', '"' + "A" * 64 + '"')
    assert only_finding(bad) == (
        "UPH109", 9, 5,
        "files[1].sha256: wants 64 hexadecimal digits in lower case, as sha256sum prints them",
        correct("run"),
    )  # fmt: skip


def test_a_source_has_an_address_that_a_browser_may_follow() -> None:
    bad = changed("source", "https://example.org/", "javascript:alert(1)")
    assert only_finding(bad)[3] == "url: wants an http or https address"


class TestSchemas:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_json_schema_2020_12(self, kind: str) -> None:
        result = CliRunner().invoke(main, ["schema", kind])
        assert result.exit_code == 0
        schema = json.loads(result.stdout)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["$id"] == f"upheld:{kind}"
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert schema["properties"]["kind"]["const"] == kind
        assert list(schema["properties"]) == list(KINDS[kind].model_fields)
        for part in _parts(schema):
            _check_part(part, schema)

    def test_every_key_of_a_record_is_described(self) -> None:
        for kind, model in KINDS.items():
            for name, part in model.model_json_schema()["properties"].items():
                assert part.keys() & {"type", "$ref", "anyOf", "enum", "const"}, (kind, name)

    def test_patterns_agree_with_what_is_read(self) -> None:
        properties = KINDS["adr"].model_json_schema()["properties"]
        assert re.search(properties["id"]["pattern"], "ADR-009")
        assert not re.search(properties["id"]["pattern"], "ADR-٠٠٩")
        assert re.search(properties["date"]["pattern"], "2026-11-02")
        assert not re.search(properties["date"]["pattern"], "26-11-02")


_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema within it, but not the defaults that they hold."""
    yield schema
    for holder in ("properties", "$defs"):
        for part in schema.get(holder, {}).values():
            yield from _parts(part)
    for holder in ("items", "additionalProperties"):
        if isinstance(schema.get(holder), dict):
            yield from _parts(schema[holder])
    for part in schema.get("anyOf", []):
        yield from _parts(part)


def _check_part(part: dict[str, Any], whole: dict[str, Any]) -> None:
    assert part.get("type", "object") in _TYPES
    if "$ref" in part:
        assert part["$ref"].removeprefix("#/$defs/") in whole["$defs"]
    if "pattern" in part:
        re.compile(part["pattern"])
    for name in part.get("required", []):
        assert name in part["properties"]
    for bound in ("minLength", "maxLength", "minItems"):
        assert isinstance(part.get(bound, 0), int)


def test_every_link_leads_to_a_kind_that_exists() -> None:
    kinds = {kind for link in Ref.__subclasses__() for kind in link.kinds}
    assert kinds <= set(KINDS)


def test_every_kind_is_named_in_its_own_model() -> None:
    for kind, model in KINDS.items():
        assert typing.get_args(model.model_fields["kind"].annotation) == (kind,)


def test_every_record_of_this_repository_is_valid() -> None:
    corpus = load(REPOSITORY)
    assert corpus.findings == []
    assert {entry.kind for entry in corpus.entries.values()} >= {"adr", "model", "policy"}
