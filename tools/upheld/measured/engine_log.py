"""What the start-up logs of all engines share: their lines, printed numbers, figures over ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED
from upheld.measured.printed import is_text as is_text
from upheld.measured.reading import Figure, Startup
from upheld.records.finding import Finding, Place
from upheld.records.units import format_number

NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
"""A printed number, for patterns: short enough that no line makes a huge one."""

DTYPES = {
    "torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.float32": "fp32",
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32",
    "torch.float8_e4m3fn": "fp8", "torch.float8_e5m2": "fp8", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8",
    "torch.float8_e4m3fnuz": "fp8", "torch.float8_e5m2fnuz": "fp8",
}  # fmt: skip
"""What engines call dtypes, in the words of an envelope."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST_LINE = 20_000
_SETTING = re.compile(r"(?<![\w'])(?P<name>\w+)=(?P<value>'[^']*'|[^\s,(){}\[\]]+)")
_MOST_SHOWN = 8


@dataclass(slots=True)
class Printed:
    """A number that one line prints; `rounding` is half of its last digit, 0 where it is whole."""

    value: Fraction
    rounding: Fraction

    @classmethod
    def of(cls, digits: str) -> Printed:
        """The number in digits such as `1,034,544` or `7.5126`."""
        places = len(digits.partition(".")[2])
        rounding = Fraction(1, 2 * 10**places) if places else Fraction(0)
        return cls(Fraction(digits.replace(",", "")), rounding)

    @classmethod
    def sum(cls, parts: Sequence[Printed]) -> Printed:
        """All parts together, each of them rounded on its own."""
        value = sum((each.value for each in parts), Fraction(0))
        return cls(value, sum((each.rounding for each in parts), Fraction(0)))


@dataclass(slots=True)
class Start:
    """What the lines of one start say: settings by name, numbers by kind of line, in order."""

    at: Place
    settings: dict[str, str] = field(default_factory=dict)
    printed: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    failed: tuple[Place, str] | None = None

    @property
    def empty(self) -> bool:
        """Whether no line of the start has said anything yet."""
        return not (self.settings or self.printed)

    def take(self, patterns: Mapping[str, re.Pattern[str]], says: str, **where: str) -> None:
        """Keep the named groups of each pattern that the line matches, and `where` beside them."""
        for kind, pattern in patterns.items():
            if found := pattern.search(says):
                named = {name: text for name, text in found.groupdict().items() if text is not None}
                self.printed.setdefault(kind, []).append(named | where)

    def numbers(self, kind: str, name: str = "value") -> list[Printed]:
        """The numbers of that name on all lines of the kind."""
        return [Printed.of(each[name]) for each in self.printed.get(kind, ()) if name in each]

    def startup(self, engine: str) -> Startup:
        """The same, to be held against arithmetic."""
        printed = {kind: tuple(lines) for kind, lines in self.printed.items()}
        return Startup(engine, dict(self.settings), printed)


def lines_of(content: Content) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without colours, cut where no engine's line goes on."""
    for number, line in enumerate(content.text.split("\n"), start=1):
        yield number, _COLOUR.sub("", line[:_LONGEST_LINE]).rstrip("\r")


def settings_in(text: str) -> dict[str, str]:
    """The first value of each `name=value` in the text of a Python object, without quotes."""
    settings: dict[str, str] = {}
    for found in _SETTING.finditer(text):
        settings.setdefault(found["name"], found["value"].strip("'"))
    return settings


def whole(text: str | None) -> int | None:
    """A count of at least 1, or None."""
    return int(text) if text is not None and re.fullmatch(r"[1-9]\d{0,8}", text) else None


def over_ranks(
    name: str, unit: str, printed: Sequence[Printed], which: str, note: str | None = None
) -> Figure:
    """The figure of the rank that limits: the `most` or the `fewest` of what ranks print."""
    choose = max if which == "most" else min
    taken = choose(printed, key=lambda each: each.value)
    notes = [] if note is None else [note]
    if len({each.value for each in printed}) > 1:
        notes.append(f"the {which} of {len(printed)} that ranks or engines print")
    return Figure(
        name, taken.value, unit, "reported", taken.value, "; ".join(notes) or None, taken.rounding
    )


def of_a_token(parts: Sequence[Printed], unit: int, tokens: int, note: str) -> Figure:
    """Bytes of the cache for one token: printed sizes in `unit` bytes over the tokens they hold.

    It is known as far as the sizes' last digits allow, which the note says.
    """
    size = Printed.sum(parts)
    scale = Fraction(unit, tokens)
    rounding = size.rounding * scale
    if rounding:
        note = f"{note}; its last digit leaves {format_number(rounding, 2)} B either way open"
    return Figure(
        "memory.kv_cache_per_token",
        size.value * scale,
        "B",
        "recomputed",
        note=note,
        rounding=rounding,
    )


def listed(printed: Sequence[Printed], unit: str = "") -> str:
    """The numbers for people, the first few of many."""
    shown = ", ".join(format_number(each.value, 12) for each in printed[:_MOST_SHOWN])
    left = len(printed) - _MOST_SHOWN
    return f"{shown}{unit}" + (f" and {left} more" if left > 0 else "")


def findings_of(start: Start, *kinds: str) -> tuple[Finding, ...]:
    """Whether the start failed, or ends before any line of `kinds` says what its cache holds."""
    if start.failed is not None:
        return (
            Finding(
                NOT_MEASURED,
                start.failed[0],
                f"the engine did not start: {start.failed[1]}",
                "its figures are of a deployment that never served; start it with a shorter "
                "context, more memory or more devices",
            ),
        )
    if not any(kind in start.printed for kind in kinds):
        return (
            Finding(
                NOT_MEASURED,
                start.at,
                "the log ends, or was cut, before the engine says what its KV cache holds",
                "add the whole log, up to the line after which requests are served",
                "warning",
            ),
        )
    return ()
