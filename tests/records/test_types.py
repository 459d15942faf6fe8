from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from upheld.records import types


def read(field: Any, value: object) -> Any:
    return TypeAdapter(field).validate_python(value)


def refusal(field: Any, value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        read(field, value)
    (error,) = caught.value.errors()
    return str(error["msg"]).removeprefix("Value error, ")


FIELDS = [
    types.Id, types.AdrId, types.Count, types.Whole, types.Flag, types.Date, types.Share,
    types.MetricName, types.Url, types.Memory, types.Duration, types.Tokens, types.RequestRate,
    types.Bandwidth, types.ModelRef, types.OriginRef,
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
@given(text=st.text(max_size=80))
def test_any_text_is_read_or_refused(field: Any, text: str) -> None:
    try:
        read(field, text)
    except ValidationError:
        return


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [[], {}, ["x"], {"x": "y"}])
def test_a_list_or_a_mapping_is_no_value(field: Any, value: object) -> None:
    assert refusal(field, value) in (
        "wants one value, not a list or a mapping",
        "wants the id of one record",
    )


class TestIds:
    @pytest.mark.parametrize("text", ["a", "qwen2.5-7b", "H100_80GB", "0", "x" * 64, "a.b", "com"])
    def test_good(self, text: str) -> None:
        assert read(types.Id, text) == text

    @pytest.mark.parametrize(
        "text",
        ["", "x" * 65, "-a", ".a", "_a", "a b", "a/b", "../a", "a\n", "a:b", "é", "ADR-\u0430",
         "ADR-\u200b1", "ADR-00\u202e1", "１", "a*", "a#b", "<img>"],
    )  # fmt: skip
    def test_bad(self, text: str) -> None:
        assert refusal(types.Id, text).startswith("wants an id of 1 to 64 ASCII letters")

    @pytest.mark.parametrize(
        "text", ["CON", "nul", "Aux.md", "COM1", "lpt9.txt", "a.", "a.md.", "prn.x.y"]
    )
    def test_no_file_name_on_every_system(self, text: str) -> None:
        assert refusal(types.Id, text) == (
            f"{text!r} can't be a file name on every system; choose another id"
        )

    @pytest.mark.parametrize("text", ["ADR-001", "ADR-12345"])
    def test_of_a_decision(self, text: str) -> None:
        assert read(types.AdrId, text) == text

    @pytest.mark.parametrize(
        "text", ["ADR-1", "adr-001", "ADR-000001", "ADR-٠٠٩", "ADR-001 ", "ADR-001\n", "ADR‑001"]
    )
    def test_of_no_decision(self, text: str) -> None:
        assert refusal(types.AdrId, text) == "wants an ADR id such as ADR-009"

    def test_a_link_knows_the_kinds_that_it_may_lead_to(self) -> None:
        link = read(types.OriginRef, "a-source")
        assert (link, link.kinds) == ("a-source", ("source", "assumption", "run"))


class TestCounts:
    @pytest.mark.parametrize(("text", "count"), [("1", 1), ("32", 32), ("9" * 18, 10**18 - 1)])
    def test_good(self, text: str, count: int) -> None:
        assert read(types.Count, text) == count

    @pytest.mark.parametrize(
        "text",
        ["-1", "+5", "1.5", "1.0", "014", "0x10", "0o14", "0b11", "1_000", "1,000", "1e3", "NO",
         "", " 1", "١", "9" * 19, "9" * 100_000, ".nan", ".inf", "12:30", "true"],
    )  # fmt: skip
    def test_bad(self, text: str) -> None:
        message = "wants a whole number in plain digits, such as 32"
        assert refusal(types.Count, text) == refusal(types.Whole, text) == message

    @pytest.mark.parametrize(("field", "least"), [(types.Count, 1), (types.Whole, 0)])
    def test_an_editor_knows_the_least(self, field: Any, least: int) -> None:
        assert TypeAdapter(field).json_schema() == {"type": "integer", "minimum": least}
        assert read(field, str(least)) == least

    def test_one_token_is_enough(self) -> None:
        assert read(types.Tokens, "1 token").base == 1

    def test_nothing_is_a_whole_number_but_no_count(self) -> None:
        assert read(types.Whole, "0") == 0
        assert refusal(types.Count, "0") == "wants a whole number of at least 1"


class TestFlags:
    def test_good(self) -> None:
        assert read(types.Flag, "true") is True
        assert read(types.Flag, "false") is False

    @pytest.mark.parametrize("text", ["NO", "no", "yes", "on", "off", "True", "FALSE", "y", "1"])
    def test_norway_is_no_flag(self, text: str) -> None:
        assert refusal(types.Flag, text) == f"wants true or false, not {text!r}"


class TestDates:
    def test_good(self) -> None:
        assert read(types.Date, "2026-11-02") == date(2026, 11, 2)
        assert read(types.Date, "2028-02-29") == date(2028, 2, 29)

    @pytest.mark.parametrize(
        "text",
        ["2026-02-30", "26-11-02", "2026-13-01", "2027-02-29", "0000-01-01", "2026-1-2",
         "20261102", "2026-W45-1", "2026-11-02T10:00", "2026-11-08 10:00:00 -25:00", "02.11.2026",
         "٢٠٢٦-١١-٠٢", "2026-11-02\n", "today", ""],
    )  # fmt: skip
    def test_bad(self, text: str) -> None:
        assert refusal(types.Date, text) == (
            f"wants a date that exists, as YYYY-MM-DD, such as 2026-11-02; not {text!r}"
        )


class TestText:
    @pytest.mark.parametrize("text", ["1.10", "NO", "014", "0x1F", "2026-11-02", "12:30:45", "1e3"])
    def test_what_looks_like_something_else_stays_text(self, text: str) -> None:
        assert read(types.Line, text) == text
        assert read(types.Text, text) == text

    @pytest.mark.parametrize("text", [" ", "\n", "\t \n", "\u00a0"])
    def test_blank(self, text: str) -> None:
        assert refusal(types.Line, text) == refusal(types.Text, text) == "is blank"

    def test_bounds(self) -> None:
        assert read(types.Line, "x" * 500)
        assert read(types.Text, "x" * 50_000)
        assert "at most 500" in refusal(types.Line, "x" * 501)
        assert "at most 50000" in refusal(types.Text, "x" * 50_001)

    def test_a_line_has_no_second(self) -> None:
        assert refusal(types.Line, "a\n::error::b") == "wants a single line"
        assert read(types.Line, " a ") == "a"


class TestQuantities:
    def test_good(self) -> None:
        assert read(types.Memory, "80 GiB").base == 80 * 2**30
        assert read(types.Duration, "0 s").base == 0
        assert read(types.Tokens, "8,192 tokens").base == 8192
        assert read(types.RequestRate, "0.5 req/s").base == Fraction(1, 2)
        assert read(types.Bandwidth, "3.35 TB/s").base == 3_350 * 10**9
        assert read(types.Share, "0.90") == Fraction(9, 10)

    @pytest.mark.parametrize(
        ("field", "text", "message"),
        [
            (types.Memory, "80", "'80' has no unit; units that fit: B, kB,"),
            (types.Memory, "80 Gb", "unknown unit 'Gb'; did you mean GB"),
            (types.Memory, "-1 GiB", "'-1 GiB' is negative"),
            (types.Memory, "-0.0 GiB", "'-0.0 GiB' is negative"),
            (types.Duration, "30 GiB", "'30 GiB' measures memory, not time; units that fit: ns,"),
            (types.Duration, ".inf s", "'.inf s' does not begin with a number"),
            (types.Tokens, "0 tokens", "'0 tokens' is not a whole number of at least 1 token"),
            (types.Tokens, "1.5 tokens", "'1.5 tokens' is not a whole number of at least 1 token"),
            (types.Tokens, "1e-30 tokens", "'1e-30 tokens' is not a whole number"),
            (types.Tokens, "1e999999999 tokens", "an exponent beyond ±30"),
            (types.Tokens, "9" * 20_000 + " tokens", "a number of more than 30 digits"),
            (types.RequestRate, "4 tokens/s", "'4 tokens/s' measures token rate, not request"),
        ],
    )
    def test_bad(self, field: Any, text: str, message: str) -> None:
        assert refusal(field, text).startswith(message)

    @pytest.mark.parametrize("text", ["0", "1.1", "-0.5", "90", "-0.0"])
    def test_no_share(self, text: str) -> None:
        assert refusal(types.Share, text) == "wants a share above 0 and at most 1, such as 0.90"

    @pytest.mark.parametrize("text", [".nan", "90 %", "NaN", "inf"])
    def test_no_number(self, text: str) -> None:
        assert refusal(types.Share, text) == f"{text!r} is not a finite decimal number"


class TestAddressesAndDigests:
    @pytest.mark.parametrize("text", ["https://docs.vllm.ai/x?y=1#z", "http://a.b:8080/"])
    def test_good_address(self, text: str) -> None:
        assert read(types.Url, text) == text

    @pytest.mark.parametrize(
        "text",
        ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/x", "ftp://a.b",
         "https://user:word@host/", "https://a.b/\"><img>", "https://a.b/x y", "https://a.b/\n",
         "HTTPS:a", "https://аpple.com/", "https://a.b:٨٠/"],
    )  # fmt: skip
    def test_bad_address(self, text: str) -> None:
        assert refusal(types.Url, text) == "wants an http or https address"

    def test_digest(self) -> None:
        assert read(types.Sha256, "0a" * 32) == "0a" * 32
        for text in ("0A" * 32, "0a" * 31, "0a" * 32 + "\n", "g" * 64, "٠" * 64):
            assert "pattern" in refusal(types.Sha256, text)


def test_a_refusal_does_not_repeat_a_megabyte() -> None:
    for field in FIELDS:
        assert len(refusal(field, "x\n" * 500_000)) < 250


def test_a_part_never_changes_and_has_no_key_beside_its_own() -> None:
    class Piece(types.Part):
        size: types.Count

    piece = Piece.model_validate({"size": "1"})
    with pytest.raises(ValidationError, match="frozen"):
        piece.size = 2
    with pytest.raises(ValidationError, match="Extra inputs"):
        Piece.model_validate({"size": "1", "more": "2"})
