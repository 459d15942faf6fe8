"""Terms: bytes with a name, a formula and everything that they were worked out from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Input:
    """One value that went into a formula.

    `origin` is where it came from: the id of a record, or words where there is none (a file, an
    option, "engine default"). `given` says that the value is a fact that the result rests upon,
    so that its origin must be told with the result; a decision, such as a block size, is not.
    """

    name: str
    value: int | str | Fraction
    origin: str
    given: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """Exact bytes on one device. A term that has parts is their sum; see `leaf` and `total`.

    `given` names, sorted, the origin of every fact that this term and its parts rest upon.
    `stated` says that somebody stated the bytes, and nothing worked them out.
    """

    name: str
    bytes: int
    formula: str
    inputs: tuple[Input, ...]
    given: tuple[str, ...]
    parts: tuple[Term, ...] = ()
    stated: bool = False

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Term]]:
        """This term and all below it, each before its parts, with its depth in the tree."""
        yield depth, self
        for part in self.parts:
            yield from part.walk(depth + 1)


def leaf(name: str, count: int, formula: str, inputs: Iterable[Input]) -> Term:
    """A term of `count` bytes that was worked out from `inputs` alone."""
    inputs = tuple(inputs)
    return Term(name, count, formula, inputs, origins_of(inputs))


def total(name: str, parts: Iterable[Term]) -> Term:
    """The sum of `parts`, resting upon all that they rest upon."""
    parts = tuple(parts)
    return Term(
        name,
        bytes=sum(part.bytes for part in parts),
        formula="sum of its parts",
        inputs=(),
        given=tuple(sorted({origin for part in parts for origin in part.given})),
        parts=parts,
    )


def origins_of(inputs: Iterable[Input]) -> tuple[str, ...]:
    """The origins of the facts among `inputs`, sorted, each once."""
    return tuple(sorted({item.origin for item in inputs if item.given}))
