from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.records import metrics
from upheld.records.units import (
    ALIASES,
    MAX_DIGITS,
    MAX_EXPONENT,
    UNITS,
    QuantityError,
    count,
    dimensions,
    find_unit,
    format_bytes,
    format_number,
    of_unit,
    parse_number,
    parse_quantity,
    units_of,
)

_DECIMALS = st.decimals(
    min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False, places=6
)


class TestNumbers:
    @given(_DECIMALS)
    def test_are_exact(self, number: Decimal) -> None:
        assert parse_number(f"{number:f}") == Fraction(number)

    @given(st.integers(-(10**29), 10**29))
    def test_may_be_grouped_by_thousands(self, number: int) -> None:
        assert parse_number(f"{number:,}") == number == parse_number(str(number))

    @given(st.integers(-(10**6), 10**6), st.integers(-MAX_EXPONENT, MAX_EXPONENT))
    def test_may_have_an_exponent(self, number: int, exponent: int) -> None:
        assert parse_number(f"{number}e{exponent}") == number * Fraction(10) ** exponent

    @given(st.text(max_size=60))
    def test_are_refused_in_one_way_alone(self, text: str) -> None:
        try:
            parse_number(text)
        except QuantityError:
            return

    @pytest.mark.parametrize(
        "text",
        [
            "", " ", "nan", ".nan", "inf", "-.INF", "Infinity", "0x10", "0b11", "0o14", "1_000",
            ".5", "5.", "1.2.3", "12:30:45", "1,00", "10,0000", "1 000", "--1", "1e", "1e1.5",
            "NO", "true", "１２", "١٢", "²", "1\n", " 1",
        ],
    )  # fmt: skip
    def test_that_are_none(self, text: str) -> None:
        with pytest.raises(QuantityError, match="is not a finite decimal number"):
            parse_number(text)

    @pytest.mark.parametrize("text", ["9" * 31, "0." + "1" * 30, "9" * 1_000_000, "1," * 20_000])
    def test_of_too_many_digits(self, text: str) -> None:
        with pytest.raises(QuantityError) as caught:
            parse_number(text)
        assert len(str(caught.value)) < 120

    @pytest.mark.parametrize("text", ["1e31", "1E-31", "1e999999999", "1e+" + "9" * 100_000])
    def test_of_an_exponent_out_of_bounds(self, text: str) -> None:
        with pytest.raises(QuantityError, match=f"beyond ±{MAX_EXPONENT}"):
            parse_number(text)

    def test_at_the_bounds(self) -> None:
        assert parse_number("9" * MAX_DIGITS) == 10**MAX_DIGITS - 1
        assert parse_number("1e30") == 10**30

    def test_that_floating_point_can_not_hold(self) -> None:
        assert parse_number("9007199254740993") == 2**53 + 1
        assert parse_number("1.9999999999999998") < 2


class TestQuantities:
    @given(_DECIMALS, st.sampled_from(sorted(UNITS)))
    def test_round_trip(self, number: Decimal, symbol: str) -> None:
        text = f"{number:f} {symbol}"
        quantity = parse_quantity(text)
        assert (quantity.value, quantity.unit) == (Fraction(number), UNITS[symbol])
        assert str(quantity) == text
        assert parse_quantity(str(quantity)) == quantity
        assert quantity.base == Fraction(number) * UNITS[symbol].factor

    @given(st.text(max_size=60), st.sampled_from([None, *sorted(dimensions())]))
    def test_are_refused_in_one_way_alone(self, text: str, dimension: str | None) -> None:
        try:
            quantity = parse_quantity(text, dimension)
        except QuantityError:
            return
        assert dimension in (None, quantity.unit.dimension)

    def test_gb_and_gib_differ(self) -> None:
        assert parse_quantity("80 GB").base == 80 * 10**9
        assert parse_quantity("80 GiB").base == 80 * 2**30
        assert parse_quantity("79.6 GiB").base > parse_quantity("80 GB").base

    def test_milliseconds_and_seconds_differ(self) -> None:
        assert parse_quantity("0.35 s").base == parse_quantity("350 ms").base

    @pytest.mark.parametrize("text", ["80GiB", " 80 GiB ", "80\tGiB", "+80 GiB", "80.0 GiB"])
    def test_spacing_and_sign_do_not_matter(self, text: str) -> None:
        assert parse_quantity(text, "memory").base == 80 * 2**30

    @pytest.mark.parametrize("text", ["0.9", "90 %", "90 percent", "0.9x", "0.9 ×", "0.9 ratio"])
    def test_a_ratio_needs_no_unit(self, text: str) -> None:
        assert parse_quantity(text, "ratio").base == Fraction(9, 10)

    def test_a_bare_number_names_the_units_that_fit(self) -> None:
        with pytest.raises(QuantityError) as caught:
            parse_quantity("80", "memory")
        assert str(caught.value) == (
            "'80' has no unit; units that fit: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"
        )

    def test_another_dimension_names_the_units_that_fit(self) -> None:
        with pytest.raises(QuantityError) as caught:
            parse_quantity("500 tokens/s", "tokens")
        assert str(caught.value) == (
            "'500 tokens/s' measures token rate, not tokens; units that fit: tokens"
        )

    @pytest.mark.parametrize(
        ("symbol", "near"),
        [("gib", "GiB"), ("GIB", "GiB"), ("Gb", "GB"), ("gb", "GB"), ("milisec", None)],
    )
    def test_a_unit_that_does_not_exist(self, symbol: str, near: str | None) -> None:
        with pytest.raises(QuantityError) as caught:
            parse_quantity(f"80 {symbol}")
        message = str(caught.value)
        assert message.startswith(f"unknown unit {symbol!r}")
        if near is not None:
            assert f"did you mean {near}" in message

    @pytest.mark.parametrize(
        "text", ["1_000 tokens", "8.192,5 tokens", "1 000 tokens", "1.2.3 tokens", "1'000 tokens"]
    )
    def test_a_number_that_is_not_plain_is_no_unknown_unit(self, text: str) -> None:
        with pytest.raises(QuantityError) as caught:
            parse_quantity(text)
        assert str(caught.value) == (
            f"{text!r} is not a number in plain form, such as 8192, 8,192 or 0.5"
        )

    @pytest.mark.parametrize("text", ["", "GiB", "NO", ".nan GiB", "inf s", "~", "٨٠ GiB"])
    def test_what_does_not_begin_with_a_number(self, text: str) -> None:
        with pytest.raises(QuantityError, match="does not begin with a number"):
            parse_quantity(text)

    def test_a_message_does_not_repeat_a_megabyte(self) -> None:
        for text in ("x" * 10**6, "1 " + "x" * 10**6, "1" * 10**6 + " GiB"):
            with pytest.raises(QuantityError) as caught:
                parse_quantity(text, "memory")
            assert len(str(caught.value)) < 250


class TestUnits:
    def test_every_alias_leads_to_a_unit_and_hides_none(self) -> None:
        assert set(ALIASES.values()) <= set(UNITS)
        assert not set(ALIASES) & set(UNITS)

    @pytest.mark.parametrize("alias", ["Gb", "K", "M", "G", "m", "Mb"])
    def test_an_ambiguous_spelling_is_no_alias(self, alias: str) -> None:
        with pytest.raises(QuantityError, match="unknown unit"):
            find_unit(alias)

    def test_every_dimension_has_units(self) -> None:
        for dimension in dimensions():
            assert units_of(dimension)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("1 kB", "1000 B"), ("1 MB", "1000 kB"), ("1 GB", "1000 MB"), ("1 TB", "1000 GB"),
            ("1 KiB", "1024 B"), ("1 MiB", "1024 KiB"), ("1 GiB", "1024 MiB"),
            ("1 TiB", "1024 GiB"), ("1 us", "1000 ns"), ("1 ms", "1000 us"), ("1 s", "1000 ms"),
            ("1 min", "60 s"), ("1 h", "60 min"), ("1 days", "24 h"), ("100 %", "1 ratio"),
            ("1 MB/s", "1e6 B/s"), ("1 GB/s", "1000 MB/s"), ("1 TB/s", "1000 GB/s"),
            ("1 TFLOP/s", "1e12 FLOP/s"), ("1 kW", "1000 W"), ("1 kWh", "3.6e6 J"),
        ],
    )  # fmt: skip
    def test_that_are_the_same(self, one: str, other: str) -> None:
        assert parse_quantity(one).base == parse_quantity(other).base

    def test_of_prices(self) -> None:
        # By the second, and by the token.
        assert parse_quantity("3600 USD/h").base == 1
        assert parse_quantity("1e6 USD/1M tokens").base == 1

    def test_every_dimension_but_prices_has_a_unit_of_one(self) -> None:
        based = {unit.dimension for unit in UNITS.values() if unit.factor == 1}
        assert dimensions() - based == {"money per time", "money per tokens"}

    def test_every_unit_is_positive(self) -> None:
        assert all(unit.factor > 0 for unit in UNITS.values())

    def test_every_metric_is_in_a_unit_of_its_dimension(self) -> None:
        for metric in metrics.METRICS.values():
            assert (metric.unit is None) == (metric.dimension is None)
            if metric.unit is not None:
                assert UNITS[metric.unit].dimension == metric.dimension


class TestForPeople:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (Fraction(8192), "8,192"),
            (Fraction(-3), "-3"),
            (Fraction(1, 3), "0.333333"),
            (Fraction(12345678, 10), "1,234,568"),
            (Fraction(10**17 + 1, 2), "5e+16"),
            (Fraction(9, 10), "0.9"),
        ],
    )
    def test_numbers(self, value: Fraction, shown: str) -> None:
        assert format_number(value) == shown

    @pytest.mark.parametrize(
        ("count", "shown"),
        [
            (0, "0 B"),
            (1023, "1,023 B"),
            (1024, "1.00 KiB"),
            (16_060_522_496, "14.96 GiB"),
            (-(2**30), "-1.00 GiB"),
            (2**50, "1,024.00 TiB"),
        ],
    )
    def test_bytes(self, count: int, shown: str) -> None:
        assert format_bytes(count) == shown


@pytest.mark.parametrize(
    ("value", "symbol", "shown"),
    [
        (Fraction(52), "sequences", "52 sequences"),
        (Fraction(1), "sequences", "1 sequence"),
        (Fraction(1), "devices", "1 device"),
        (Fraction(1), "s", "1 s"),
        (Fraction(1, 2), "tokens", "0.5 tokens"),
        (Fraction(607, 1000), None, "0.607"),
    ],
)
def test_of_unit(value: Fraction, symbol: str | None, shown: str) -> None:
    assert of_unit(value, symbol) == shown


def test_count() -> None:
    assert [count(number, "file") for number in (0, 1, 2, 1000)] == [
        "0 files", "1 file", "2 files", "1,000 files",
    ]  # fmt: skip
