"""Ids that are given as options."""

from __future__ import annotations

from upheld.cli import CouldNotRun


def checked_id(id_: str, help_text: str) -> str:
    """The id, if it is one.

    Raises:
        CouldNotRun: it is none; `help_text` says what to do instead.
    """
    from upheld.records.types import check_id

    try:
        return check_id(id_)
    except ValueError as error:
        raise CouldNotRun(f"{id_!r} {error}", help_text) from None
