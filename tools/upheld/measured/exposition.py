"""The text that Prometheus scrapes: samples with labels, and histograms out of them.

A histogram knows counts below a few bounds, so a percentile is known to lie between two of them
and is interpolated in between, as `histogram_quantile` does (prometheus.io/docs, querying).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Special
from upheld.measured.content import Content
from upheld.measured.printed import damaged, exact, lines_in
from upheld.records.finding import Finding, Place

MOST_SAMPLES = 500_000

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]{0,200})(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)"
    r"(?:\s+-?\d{1,20}(?:\.\d{1,9})?)?(?:\s+#.*)?\s*"
)
_LABEL = re.compile(r'\s*(?P<name>[a-zA-Z_]\w{0,200})\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*(?:,|$)')
_TYPE = re.compile(r"# (?:TYPE|HELP) [a-zA-Z_:]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: its name, labels, number, and where it stands."""

    name: str
    labels: Mapping[str, str]
    value: int | Decimal | Special
    place: Place

    @property
    def number(self) -> Fraction | None:
        """The value where it is finite."""
        return None if isinstance(self.value, Special) else Fraction(self.value)


def looks_like_exposition(text: str) -> bool:
    """Whether the first line that is not blank says the type or the meaning of a metric."""
    return _TYPE.match(text.lstrip()) is not None


def samples_of(content: Content) -> tuple[list[Sample], Finding | None]:
    """Every sample, or where the text stops being an exposition."""
    found: list[Sample] = []
    seen: set[tuple[str, frozenset[tuple[str, str]]]] = set()
    place = Place(content.path)
    for line in lines_in(content):
        text = line.text.strip()
        if not text or text.startswith("#"):
            continue
        place = line.place
        sample = _sample(text, line.place)
        if sample is None:
            return [], damaged(line.place, "a line that is no sample of a metric")
        key = (sample.name, frozenset(sample.labels.items()))
        if key in seen:
            return [], damaged(
                line.place, f"{sample.name} is there twice with the same labels, as in two scrapes"
            )
        seen.add(key)
        if len(found) == MOST_SAMPLES:
            return [], damaged(line.place, f"more than {MOST_SAMPLES:,} samples")
        found.append(sample)
    if not content.text.endswith("\n"):
        # The format asks for it, so that a number that was cut short is not taken for a whole one.
        return [], damaged(place, "the last line does not end, so it may be cut short")
    return found, None


def _sample(text: str, place: Place) -> Sample | None:
    found = _SAMPLE.fullmatch(text)
    if found is None:
        return None
    labels: dict[str, str] = {}
    rest = found["labels"] or ""
    at = 0
    while at < len(rest):
        label = _LABEL.match(rest, at)
        if label is None:
            return None
        labels[label["name"]] = re.sub(r"\\(.)", r"\1", label["value"])
        at = label.end()
    value = exact(found["value"])
    if not isinstance(value, int | Decimal | Special) or isinstance(value, bool):
        return None
    return Sample(found["name"], labels, value, place)


@dataclass(slots=True)
class Histogram:
    """Counts of values up to each bound, their number and their sum."""

    buckets: list[tuple[Fraction | None, Fraction]] = field(default_factory=list)
    count: Fraction | None = None
    total: Fraction | None = None
    place: Place | None = None

    @property
    def rises(self) -> bool:
        """Whether counts rise with their bounds and end at the number of values."""
        counts = [count for _, count in self._sorted()]
        ends = self.count is None or not counts or counts[-1] == self.count
        return counts == sorted(counts) and ends

    def _sorted(self) -> list[tuple[Fraction | None, Fraction]]:
        return sorted(self.buckets, key=lambda each: (each[0] is None, each[0] or 0))

    def percentile(self, percent: int) -> tuple[Fraction, Fraction, Fraction] | None:
        """The interpolated value, and the bounds of its bucket, between which the true one lies.

        None where nothing was counted or it lies beyond the last bound.
        """
        if not self.count:
            return None
        rank = self.count * percent / 100
        lower, below = Fraction(0), Fraction(0)
        for bound, count in self._sorted():
            if count >= rank:
                if bound is None:
                    return None
                share = (rank - below) / (count - below) if count > below else Fraction(1)
                value = lower + (bound - lower) * share
                return value, lower, bound
            if bound is not None:
                lower, below = bound, count
        return None


def histograms(samples: list[Sample]) -> Iterator[tuple[str, Histogram]]:
    """The histograms of one set of labels, by name."""
    found: dict[str, Histogram] = {}
    for sample in samples:
        number = sample.number
        if number is None:
            continue
        stem, _, part = sample.name.rpartition("_")
        if part == "bucket" and "le" in sample.labels:
            bound = exact(sample.labels["le"])
            limit = Fraction(bound) if isinstance(bound, int | Decimal) else None
            histogram = found.setdefault(stem, Histogram())
            histogram.buckets.append((limit, number))
            histogram.place = histogram.place or sample.place
    for sample in samples:
        stem, _, part = sample.name.rpartition("_")
        if stem in found and part == "count":
            found[stem].count = sample.number
        elif stem in found and part == "sum":
            found[stem].total = sample.number
    yield from found.items()
