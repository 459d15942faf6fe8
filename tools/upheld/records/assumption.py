"""An assumption: something taken as given, by someone, on a date, for a reason."""

from __future__ import annotations

from typing import Literal

from upheld.records.types import AnyQuantity, Date, Line, Record, SourceRef, Text


class Assumption(Record):
    """What is taken as given. `review` is when somebody should look again.

    `value` is the figure alone where it is one, such as a price, for what is derived from it.
    """

    kind: Literal["assumption"]
    says: Text
    value: AnyQuantity | None = None
    why: Text
    owner: Line
    date: Date
    review: Date | None = None
    reopened_by: list[Line] = []
    sources: list[SourceRef] = []
