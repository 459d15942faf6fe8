from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.record_texts import TEXTS, findings_in, only_finding
from upheld.corpus.validate import MAX_FINDINGS, validate
from upheld.corpus.yaml_reader import YamlError, read_yaml
from upheld.records.kinds import KINDS

ALL_KINDS = "adr, model, device, deployment, run, policy, source, assumption, snapshot"


class TestKind:
    @pytest.mark.parametrize("text", ["- kind: adr\n", "adr\n", '"kind: adr"\n', "[]\n"])
    def test_of_what_is_no_mapping(self, text: str) -> None:
        assert only_finding(text) == (
            "UPH106", 1, 1, "a record is a mapping that begins with kind and id",
            f"write kind: and one of {ALL_KINDS}",
        )  # fmt: skip

    @pytest.mark.parametrize("text", ["{}\n", "id: x\n", "Kind: adr\n"])
    def test_missing(self, text: str) -> None:
        assert only_finding(text)[::3] == ("UPH106", "the record has no kind")

    @pytest.mark.parametrize(
        ("kind", "help_text"),
        [
            ("ADR", "did you mean adr?"),
            ("deploiment", "did you mean deployment?"),
            ("zzz", f"kinds: {ALL_KINDS}"),
            ('""', f"kinds: {ALL_KINDS}"),
        ],
    )
    def test_unknown(self, kind: str, help_text: str) -> None:
        assert only_finding(f"id: x\nkind: {kind}\n") == (
            "UPH106", 2, 1, f"there is no kind of record {kind.strip(chr(34))!r}", help_text,
        )  # fmt: skip

    @pytest.mark.parametrize("kind", ["[adr]", "{adr: adr}"])
    def test_no_word(self, kind: str) -> None:
        assert only_finding(f"kind: {kind}\n")[3] == "kind wants one word, not a list or a mapping"


@pytest.mark.parametrize("key", ["[key]", "a.b", "0", "", "__class__", "model_config", "é"])
def test_an_unknown_key_of_any_letters(key: str) -> None:
    rule, line, column, message, _ = only_finding(f"{TEXTS['source']}'{key}': x\n")
    assert (rule, line, column, message) == ("UPH107", 8, 1, f"unknown key {key}")


def test_a_message_does_not_repeat_a_megabyte() -> None:
    long = "x" * 500_000
    for text in (
        f"kind: {long}\n",
        TEXTS["source"] + f"? {long}\n: x\n",
        TEXTS["source"].replace("https://example.org/", long),
        TEXTS["adr"].replace("status: accepted", f"status: {long}"),
        TEXTS["adr"].replace("memory.kv_cache", long),
        TEXTS["device"].replace("1 GiB", f"1 {long}"),
        TEXTS["deployment"].replace("prefix_caching: false", f"prefix_caching: {long}"),
    ):
        *_, message, help_text = only_finding(text)
        assert len(message) + len(help_text) < 500


def test_many_mistakes_are_counted_and_not_all_told() -> None:
    keys = "".join(f"key{number}: x\n" for number in range(20_000))
    *told, last = findings_in(TEXTS["source"] + keys)
    assert len(told) == MAX_FINDINGS
    assert last.message == "19,900 more values and keys are wrong in this record"


def test_several_mistakes_are_all_told_where_they_are() -> None:
    text = """\
kind: deployment
id: CON
title: One replica
model: [tiny]
device: card
device_count: 0
runtime_memory:
  size: 4
  orign: taken
claims:
  - id: a
    says: S
    basis: guess
  - says: S
"""
    places = {
        finding.message.split(": ")[0]: (finding.rule, finding.place.line, finding.place.column)
        for finding in findings_in(text)
        if finding.rule != "UPH108"
    }
    assert places == {
        "id": ("UPH109", 2, 1),
        "model": ("UPH109", 4, 1),
        "device_count": ("UPH109", 6, 1),
        "runtime_memory.size": ("UPH109", 8, 3),
        "unknown key runtime_memory.orign": ("UPH107", 9, 3),
        "claims[1].basis can't be 'guess'": ("UPH109", 13, 5),
    }
    missing = {f.message: (f.place.line, f.place.column) for f in findings_in(text)}
    assert missing["runtime_memory.origin is missing"] == (7, 1)
    assert missing["claims[1].metric is missing"] == (11, 5)
    assert missing["claims[2]: id, basis and metric are missing"] == (14, 5)
    (top,) = (place for message, place in missing.items() if message.startswith("engine, "))
    assert top == (1, 1)


_WORDS = st.sampled_from([
    "kind", "id", "title", "claims", "within", "deployment", "model", "origins", "[key]", "adr",
    "x", "1", "true", "80 GiB", "<= 1", "latency.ttft", "assumed", "",
])  # fmt: skip
_VALUES = st.recursive(
    _WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4)
)


@given(st.sampled_from(sorted(KINDS)), st.dictionaries(_WORDS, _VALUES, max_size=6))
def test_any_mapping_is_a_record_or_has_findings(kind: str, keys: dict[str, object]) -> None:
    document = read_yaml("a.yaml", b"a: b")
    document.value = dict.fromkeys(KINDS[kind].model_fields, "x") | keys | {"kind": kind}
    outcome = validate(document)
    if isinstance(outcome, list):
        assert outcome
        assert all(finding.message and finding.help for finding in outcome)


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_a_record_with_a_piece_cut_out_is_never_a_traceback(kind: str, data: st.DataObject) -> None:
    text = TEXTS[kind]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    try:
        document = read_yaml("a.yaml", (text[:start] + text[end:]).encode())
    except YamlError:
        return
    validate(document)
