"""Claims that a source carries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.records.claim import Claim
from upheld.records.expectation import Expectation
from upheld.records.source import Source
from upheld.records.units import Quantity, QuantityError, parse_quantity

_QUANTITY = re.compile(
    r"(?<![\w.,])(?P<number>\d[\d.,]*) ?(?P<unit>USD/1M tokens|[A-Za-zµμ]+(?:/[A-Za-z]+)?|[%×])"
)
_NUMBER_WORDS = frozenset({
    "zero", "none", "half", "halves", "third", "quarter", "one", "two", "three", "four", "five",
    "six", "seven", "eight", "nine", "ten", "twelve", "dozen", "hundred", "thousand", "million",
    "billion", "once", "twice", "thrice", "double", "doubles", "triple", "triples",
})  # fmt: skip


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Upheld where a source is named with the place in it; what it says is the source's word."""
    places: list[str] = []
    stale: list[str] = []
    for citation in claim.sources:
        source = context.corpus.get(citation.source)
        if not isinstance(source, Source):
            return Outcome("unsupported", f"The source {citation.source} is no valid record.")
        if source.checked > context.as_of:
            return Outcome(
                "insufficient",
                f"{source.id} is said to be checked on {source.checked}, after {context.as_of}.",
            )
        if claim.expect is not None and citation.quote is None:
            return Outcome(
                "insufficient", f"A figure is cited without the words of {source.id} that give it."
            )
        if claim.expect is not None and citation.quote is not None:
            otherwise = _otherwise(claim.expect, citation.quote)
            if otherwise:
                return Outcome("insufficient", f"The words of {source.id} {otherwise}.")
        age = (context.as_of - source.checked).days
        if claim.max_age is not None and age > claim.max_age.base / 86400:
            stale.append(
                f"{source.id} was checked {age:,} days ago; the claim allows {claim.max_age}."
            )
        places.append(f"{source.title}, {citation.at} (checked {source.checked})")
    if not places:
        return Outcome("unsupported", "No source is named, so nobody can look it up.")
    if stale:
        return Outcome("stale", " ".join(stale))
    return Outcome("upheld", f"Said by {'; '.join(places)}.")


def _otherwise(expect: Expectation, quote: str) -> str | None:
    """Why quoted words do not give the figure that is claimed; None where they may."""
    if not any(letter.isdecimal() for letter in quote):
        words = {word.strip(",.;:!?()").casefold() for word in quote.replace("-", " ").split()}
        return None if words & _NUMBER_WORDS else "that are quoted hold no figure"
    given = list(_quantities(quote, expect.quantity.unit.dimension))
    if not given or any(expect.met_by(found.base) for found in given):
        return None
    return f"give {' and '.join(map(str, given))}; claimed: {expect}"


def _quantities(quote: str, dimension: str) -> Iterator[Quantity]:
    """Every quantity of a dimension in free text; what is written otherwise is passed over."""
    for match in _QUANTITY.finditer(quote):
        with suppress(QuantityError):
            yield parse_quantity(f"{match['number'].rstrip(',.')} {match['unit']}", dimension)
