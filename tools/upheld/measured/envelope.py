"""Whether what a file states covers what a claim states, axis by axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from upheld.records.envelope import AXES

Names = Callable[[str, str], str]
"""The normal form of a name on an axis: `(axis, name)` to what two equal names share."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An axis that does not cover; `found` is None where nothing is stated on it."""

    axis: str
    claimed: object
    found: object | None


def compare(
    claimed: Mapping[str, object], found: Mapping[str, object], names: Names
) -> list[Difference]:
    """Each claimed axis that the evidence does not cover, in the order of the axes.

    Names are equal in their normal form, versions in every part that the claim names, numbers
    exactly. An axis that the claim leaves open is not compared; one that the evidence leaves
    open covers nothing.
    """
    return [
        Difference(axis, claimed[axis], found.get(axis))
        for axis in AXES
        if claimed.get(axis) is not None
        and not _covers(axis, claimed[axis], found.get(axis), names)
    ]


def contradictions(
    file_states: Mapping[str, object], record_states: Mapping[str, object], names: Names
) -> list[Difference]:
    """Each axis on which a run record says otherwise than its own raw file.

    `claimed` is what the record says, `found` what the file says. A version is no contradiction
    where one of the two only names fewer parts.
    """
    return [
        Difference(axis, record_states[axis], file_states[axis])
        for axis in AXES
        if record_states.get(axis) is not None
        and file_states.get(axis) is not None
        and not _covers(axis, record_states[axis], file_states[axis], names)
        and not (
            AXES[axis].comparison == "version"
            and _covers(axis, file_states[axis], record_states[axis], names)
        )
    ]


def _covers(axis: str, claimed: object, found: object | None, names: Names) -> bool:
    if found is None:
        return False
    match AXES[axis].comparison:
        case "number":
            wanted = _number(claimed)
            return wanted is not None and wanted == _number(found)
        case "version":
            return _version_covers(_text(claimed), _text(found))
        case "name":
            return names(axis, _text(claimed)) == names(axis, _text(found))


def _version_covers(claimed: str, found: str) -> bool:
    """`0.11` covers `0.11.2` and `v0.11.2+cu128`; a local part counts where it is claimed."""
    wanted, _, wanted_local = claimed.casefold().removeprefix("v").partition("+")
    there, _, there_local = found.casefold().removeprefix("v").partition("+")
    parts = wanted.split(".")
    return there.split(".")[: len(parts)] == parts and wanted_local in ("", there_local)


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | Fraction | str):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return None


def _text(value: object) -> str:
    return str(value).casefold() if isinstance(value, bool) else str(value)
