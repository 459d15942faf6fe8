"""A distribution as a summary gives it: its statistics, taken, worked out again, held together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from upheld.corpus.strict_json import Keys
from upheld.measured.draft import IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.recompute import TOLERANCE
from upheld.records.units import format_number

CLAIMED_PERCENTILES = ("p50", "p90", "p95", "p99")


class SingleValues(Protocol):
    """Values behind a distribution; which percentile falls where is for each tool to say."""

    @property
    def mean(self) -> Fraction:
        """The mean."""

    @property
    def smallest(self) -> Fraction:
        """The least value."""

    @property
    def largest(self) -> Fraction:
        """The greatest value."""

    def percentile(self, percent: Fraction) -> Fraction:
        """The value below which `percent` of them lie."""

    def deviation(self, ddof: int) -> Fraction:
        """Standard deviation."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """`keys` says where each statistic stands: `{"mean": ("mean_ttft_ms",), "p99": …}`.

    There is at least one. `name` is canonical, such as `latency.ttft`, and so are the statistics:
    mean, min, max, std, p50 and so on.
    """

    name: str
    unit: str
    keys: Mapping[str, Keys]

    def report(self, draft: RowDraft, note: str | None = None) -> None:
        """Every statistic as the summary has it."""
        for statistic, keys in self.keys.items():
            draft.report(f"{self.name}.{statistic}", self.unit, *keys, note=note)

    def recompute(
        self, draft: RowDraft, values: SingleValues, scale: Fraction, note: str | None = None
    ) -> None:
        """Every statistic from single values, `scale` of which make one in the figures' unit.

        The percentiles that people claim are added where the summary has none; `note` says of
        those, and of statistics without keys, where they are from.
        """
        magnitude = values.mean * scale
        for statistic, keys in self.keys.items():
            draft.recompute(
                f"{self.name}.{statistic}",
                self.unit,
                self._statistic(values, statistic) * scale,
                *keys,
                note=None if keys else note,
                magnitude=magnitude,
            )
        for statistic in CLAIMED_PERCENTILES:
            if draft.value(f"{self.name}.{statistic}") is None:
                value = self._statistic(values, statistic) * scale
                draft.recompute(f"{self.name}.{statistic}", self.unit, value, note=note)

    def refuse_zero(self, draft: RowDraft, values: SingleValues | None = None) -> bool:
        """A finding where every value is 0: nothing takes no time, so it was not measured."""
        centre = [self.keys["mean"]] if "mean" in self.keys else []
        others = [each for statistic, each in self.keys.items() if statistic != "std"]
        keys = centre or others or list(self.keys.values())
        if values is not None:
            zero = values.largest == 0
        else:
            zero = all(draft.get(*each) == 0 for each in keys)
        if zero:
            draft.find(
                NOT_MEASURED,
                f"{_shown(keys[0])} is 0, so it was not measured",
                "there is no figure for it; requests that fail, that return one token or that are "
                "not streamed leave none",
                *keys[0],
                severity="warning",
            )
        return zero

    def refuse_impossible(self, draft: RowDraft, longest: Fraction | None = None) -> None:
        """Findings on statistics that no values can have, or that are beyond `longest`."""
        if "mean" in self.keys:
            draft.refuse_far_median(self.name, *self.keys["mean"])
        ordered = sorted(
            (_share(statistic), value, keys)
            for statistic, keys in self.keys.items()
            if statistic not in ("mean", "std")
            and (value := draft.value(f"{self.name}.{statistic}")) is not None
        )
        for (_, low, low_keys), (_, high, high_keys) in pairwise(ordered):
            if low > high * (1 + TOLERANCE):
                draft.find(
                    IMPOSSIBLE,
                    f"{_shown(low_keys)} is greater than {_shown(high_keys)}",
                    UNTOUCHED,
                    *high_keys,
                )
        if not ordered:
            return
        (_, least, least_keys), (_, most, most_keys) = ordered[0], ordered[-1]
        deviation = draft.figure(f"{self.name}.std")
        exact = deviation is not None and not deviation.rounding
        if deviation is not None and exact and deviation.value == 0 and least != most:
            draft.find(
                IMPOSSIBLE,
                f"{_shown(self.keys['std'])} is 0, but {_shown(least_keys)} and "
                f"{_shown(most_keys)} differ",
                UNTOUCHED,
                *self.keys["std"],
            )
        if longest and most > longest * (1 + TOLERANCE):
            draft.find(
                IMPOSSIBLE,
                f"{_shown(most_keys)} is longer than the whole run of "
                f"{format_number(longest)} {self.unit}",
                UNTOUCHED,
                *most_keys,
            )

    def _statistic(self, values: SingleValues, statistic: str) -> Fraction:
        match statistic:
            case "mean":
                return values.mean
            case "std":
                return values.deviation(ddof=0)
            case "min":
                return values.smallest
            case "max":
                return values.largest
        return values.percentile(_share(statistic))


def _share(statistic: str) -> Fraction:
    return Fraction({"min": "0", "max": "100"}.get(statistic, statistic.removeprefix("p")))


def _shown(keys: Keys) -> str:
    return ".".join(map(str, keys))
