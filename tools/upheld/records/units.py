"""Quantities as people write them, `80 GiB`, `500 ms`, `8,192 tokens`, held exactly.

Decimal and binary prefixes are kept apart (1 GB = 10^9 B, 1 GiB = 2^30 B; IEC 80000-13).
Values are `fractions.Fraction`, so that a comparison never rests on floating point.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from upheld.records.shorten import shorten

MAX_DIGITS = 30
MAX_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its symbol, what it measures, and how many base units one of it is."""

    symbol: str
    dimension: str
    factor: Fraction


def _units() -> dict[str, Unit]:
    table: dict[str, dict[str, Fraction | int]] = {
        "memory": {
            "B": 1,
            "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
            "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
        },
        "time": {
            "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 10**3), "s": 1,
            "min": 60, "h": 3600, "days": 86400,
        },
        "tokens": {"tokens": 1},
        "requests": {"requests": 1},
        "sequences": {"sequences": 1},
        "devices": {"devices": 1},
        "count": {"count": 1},
        "ratio": {"ratio": 1, "%": Fraction(1, 100)},
        "token rate": {"tokens/s": 1},
        "token rate per device": {"tokens/s/device": 1},
        "token rate per user": {"tokens/s/user": 1},
        "request rate": {"requests/s": 1, "requests/min": Fraction(1, 60)},
        "bandwidth": {"B/s": 1, "MB/s": 10**6, "GB/s": 10**9, "TB/s": 10**12},
        "compute rate": {"FLOP/s": 1, "TFLOP/s": 10**12},
        "frequency": {"Hz": 1, "MHz": 10**6, "GHz": 10**9},
        "power": {"W": 1, "kW": 1000},
        "temperature": {"°C": 1},
        "energy": {"J": 1, "kWh": 3_600_000},
        "money": {"USD": 1},
        "money per time": {"USD/h": Fraction(1, 3600)},
        "money per tokens": {"USD/1M tokens": Fraction(1, 10**6)},
        "tokens per energy": {"tokens/J": 1},
    }  # fmt: skip
    return {
        symbol: Unit(symbol, dimension, Fraction(factor))
        for dimension, units in table.items()
        for symbol, factor in units.items()
    }


UNITS = _units()

# Other spellings in use, each for exactly one unit. "Gb" and "K" are not here: they are ambiguous.
ALIASES = {
    "bytes": "B", "byte": "B", "KB": "kB",
    "μs": "us", "µs": "us", "sec": "s", "second": "s", "seconds": "s",
    "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "day": "days", "d": "days",
    "token": "tokens", "tok": "tokens", "request": "requests", "req": "requests",
    "sequence": "sequences", "seqs": "sequences", "device": "devices", "gpus": "devices",
    "tok/s": "tokens/s", "req/s": "requests/s", "samples/s": "requests/s",
    "percent": "%", "×": "ratio", "x": "ratio",
    "req/min": "requests/min", "tok/s/gpu": "tokens/s/device", "tok/s/user": "tokens/s/user",
    "TFLOPS": "TFLOP/s", "USD/Mtok": "USD/1M tokens",
}  # fmt: skip

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<part>\d+))?(?:[eE](?P<exp>[+-]?\d+))?",
    re.ASCII,  # other scripts have digits too, and a reviewer may not know them
)
# What follows a number without being its unit: `1_000`, `8.192,5`, `1 000`.
_MORE_NUMBER = re.compile(r"[\d.,_'’]")


class QuantityError(ValueError):
    """The text is no quantity; the message says what is wrong and which units fit."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact value in a unit. `text` is what the author wrote."""

    value: Fraction
    unit: Unit
    text: str

    @property
    def base(self) -> Fraction:
        """The value in base units of its dimension: bytes, seconds, tokens, …"""
        return self.value * self.unit.factor

    def __str__(self) -> str:
        return self.text


def units_of(dimension: str) -> list[str]:
    """The symbols that measure `dimension`."""
    return [symbol for symbol, unit in UNITS.items() if unit.dimension == dimension]


def dimensions() -> set[str]:
    """All dimensions that a quantity can have."""
    return {unit.dimension for unit in UNITS.values()}


def find_unit(symbol: str) -> Unit:
    """The unit of that symbol or alias.

    Raises:
        QuantityError: no such unit, with the nearest ones named.
    """
    unit = UNITS.get(ALIASES.get(symbol, symbol))
    if unit is not None:
        return unit
    from difflib import get_close_matches

    folded = [known for known in UNITS if known.casefold() == symbol.casefold()]
    near = folded or get_close_matches(symbol, UNITS, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise QuantityError(f"unknown unit {shorten(symbol)!r}{hint}")


def parse_number(text: str) -> Fraction:
    """An exact decimal number.

    Raises:
        QuantityError: not a number, not finite, or of more digits than are allowed.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise QuantityError(f"{shorten(text)!r} is not a finite decimal number")
    whole = match["whole"].replace(",", "")
    part = match["part"] or ""
    exponent = match["exp"] or "0"
    if len(whole) + len(part) > MAX_DIGITS:
        raise QuantityError(f"a number of more than {MAX_DIGITS} digits")
    if len(exponent) > 3 or abs(int(exponent)) > MAX_EXPONENT:
        raise QuantityError(f"an exponent beyond ±{MAX_EXPONENT}")
    value = Fraction(int(whole + part), 10 ** len(part)) * Fraction(10) ** int(exponent)
    return -value if match["sign"] == "-" else value


def parse_quantity(text: str, dimension: str | None = None) -> Quantity:
    """Read a quantity such as `80 GiB`, `99 %` or `8,192 tokens`.

    A bare number is accepted only where a ratio or a count is wanted.

    Raises:
        QuantityError: not a number, no unit, an unknown unit, or one of another dimension.
    """
    text = text.strip()
    match = _NUMBER.match(text)
    if match is None:
        raise QuantityError(f"{shorten(text)!r} does not begin with a number")
    value = parse_number(match.group())
    symbol = text[match.end() :].strip()
    if not symbol:
        if dimension in ("ratio", "count"):
            return Quantity(value, UNITS[dimension], text)
        fits = ", ".join(units_of(dimension)) if dimension else "GiB, ms, tokens, …"
        raise QuantityError(f"{shorten(text)!r} has no unit; units that fit: {fits}")
    if _MORE_NUMBER.match(symbol):
        raise QuantityError(
            f"{shorten(text)!r} is not a number in plain form, such as 8192, 8,192 or 0.5"
        )
    unit = find_unit(symbol)
    if dimension is not None and unit.dimension != dimension:
        fits = ", ".join(units_of(dimension))
        raise QuantityError(
            f"{shorten(text)!r} measures {unit.dimension}, not {dimension}; units that fit: {fits}"
        )
    return Quantity(value, unit, text)


def format_number(value: Fraction, digits: int = 6) -> str:
    """A number for people: exact where it is short, else rounded to `digits` significant digits."""
    if value.denominator == 1 and abs(value.numerator) < 10**15:
        return f"{value.numerator:,}"
    if 10**digits <= abs(value) < 10**15:
        return f"{round(value):,}"
    text = f"{float(value):,.{digits}g}"
    return text if "e" not in text else f"{float(value):.{digits}g}"


def format_bytes(count: int) -> str:
    """Bytes for people, in binary units to two decimals: `14.96 GiB`."""
    for symbol in ("TiB", "GiB", "MiB", "KiB"):
        factor = int(UNITS[symbol].factor)
        if abs(count) >= factor:
            return f"{count / factor:,.2f} {symbol}"
    return f"{count:,} B"


def count(number: int, word: str) -> str:
    """`1 record`, `2 records`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def of_unit(value: Fraction, symbol: str | None) -> str:
    """A value with its unit for people: `52 sequences`, `1 device`, `0.607`."""
    if symbol is None:
        return format_number(value)
    if UNITS[symbol].dimension in ("tokens", "requests", "sequences", "devices"):
        symbol = symbol if value != 1 else symbol[:-1]
    return f"{format_number(value)} {symbol}"
