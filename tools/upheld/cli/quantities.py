"""Values of options, as people write them; each function is the type of a click option.

Raises:
    click.BadParameter: not such a value; the message says what is wrong with it.
"""

from __future__ import annotations

from fractions import Fraction

import click

from upheld.arithmetic.configs import MAX_COUNT
from upheld.records.shorten import shorten
from upheld.records.units import Quantity, QuantityError, parse_number, parse_quantity


def memory(text: str) -> Quantity:
    """Bytes, such as `80 GiB`."""
    return _quantity(text, "memory")


def tokens(text: str) -> Quantity:
    """Tokens, whose unit may be left out: `8192`, `8,192 tokens`."""
    return _quantity(f"{text} tokens" if text[-1:].isdigit() else text, "tokens")


def share(text: str) -> Fraction:
    """A share above 0 and at most 1, such as `0.9`."""
    try:
        value = parse_number(text)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if not 0 < value <= 1:
        raise click.BadParameter(f"{shorten(text)!r} is not above 0 and at most 1")
    return value


def count(text: str) -> int:
    """A whole number from 1 to what arithmetic takes as a count."""
    plain = text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_COUNT))
    if not plain or not 1 <= int(text) <= MAX_COUNT:
        raise click.BadParameter(f"{shorten(text)!r} is not a whole number from 1 to {MAX_COUNT:,}")
    return int(text)


def _quantity(text: str, dimension: str) -> Quantity:
    try:
        quantity = parse_quantity(text, dimension)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if quantity.value <= 0:
        raise click.BadParameter(f"{shorten(text)!r} is not above 0")
    return quantity
