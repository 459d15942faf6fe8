"""The day that a file states for its measurement, and days that it can't be."""

from __future__ import annotations

import re
from datetime import date

from upheld.measured.reading import Row
from upheld.records.finding import Finding

IMPOSSIBLE_DATE = "UPH518"

_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})", re.ASCII)

# The day on which vLLM was announced, SGLang's client was proposed (sgl-project/sglang#657), and
# the first commit of pytest-benchmark was made.
_FIRST_DAYS = {
    "pytest-benchmark": date(2014, 10, 10),
    "sglang-bench-serving": date(2024, 7, 19),
    "vllm-bench-serve": date(2023, 6, 20),
}


def day_of(row: Row) -> date | None:
    """The day that the file states for the row; None where it states none."""
    return day_in(row.stated.get("date", ""))


def day_in(text: str) -> date | None:
    """The day at the beginning of a file's date: `20260301-101500`, `2026-03-01T10:15:00`."""
    found = _DAY.match(text)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def before_the_tool(format_name: str, row: Row) -> Finding | None:
    """A finding where a file is dated before its tool existed, which a clock that was reset does.

    It warns: figures come from a clock of their own, but how old they are is not known.
    """
    day, first = day_of(row), _FIRST_DAYS.get(format_name)
    if day is None or first is None or day >= first:
        return None
    return Finding(
        IMPOSSIBLE_DATE,
        row.place,
        f"the file is dated {day}, but {format_name} exists since {first}: the clock was wrong",
        "set the clock and measure again where the age of the measurement matters",
        "warning",
    )
