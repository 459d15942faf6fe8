"""The figures of a mapped row: what the file states, and what its single requests give again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, apart
from upheld.measured.mapping.requests import Summary
from upheld.measured.mapping.taking import Number
from upheld.measured.reading import Figure, distribution_of
from upheld.measured.recompute import TOLERANCE, agrees, rounding_of
from upheld.records.finding import Finding, Place
from upheld.records.mapping import SUMMED, Mapping
from upheld.records.metrics import resolve
from upheld.records.units import find_unit

FROM_REQUESTS = "from the records of the single requests"
CLAIMED_PERCENTILES = tuple(map(Fraction, (50, 90, 95, 99)))


@dataclass(frozen=True, slots=True)
class Stated:
    """A number that the file states for a figure, in its unit, and where the mapping takes it."""

    number: Number
    unit: str
    at: str
    place: Place


def percentiles_of(metric: str, mapping: Mapping) -> list[Fraction]:
    """The percentiles that people claim of a metric, and those that the mapping has figures of."""
    stated = [
        Fraction(statistic[1:])
        for figure in mapping.figures
        for base, statistic in [resolve(figure.metric)]
        if base.name == metric and statistic is not None and statistic.startswith("p")
    ]
    return list(dict.fromkeys([*CLAIMED_PERCENTILES, *stated]))


class Figures:
    """Collects the figures of one row. `row` is how messages call it where there are several."""

    def __init__(self, row: str) -> None:
        self._row = row
        self._stated: dict[str, Stated] = {}
        self._figures: dict[str, Figure] = {}
        self.findings: list[Finding] = []

    def state(self, name: str, stated: Stated) -> None:
        """A figure that the file states, with nothing yet that confirms it."""
        self._stated[name] = stated
        value = Fraction(stated.number)
        self._figures[name] = Figure(name, value, stated.unit, "reported", value)

    def value(self, name: str) -> Fraction | None:
        """A figure's value in base units."""
        figure = self._figures.get(name)
        return None if figure is None else figure.value * find_unit(figure.unit).factor

    def recomputed(self, name: str) -> bool:
        """Whether the row has the figure, worked out from single requests."""
        figure = self._figures.get(name)
        return figure is not None and figure.origin == "recomputed"

    def recompute(
        self, name: str, unit: str, *values: Fraction, size: Fraction = Fraction(0)
    ) -> None:
        """A figure from single requests, in `unit`, held against what the file states.

        Several values are as many definitions in use; the one that the file has is taken, or the
        first. `size`: see `magnitude` of recompute.agrees.
        """
        stated = self._stated.get(name)
        if stated is None:
            shown = self._unit_of(distribution_of(name)) or unit
            value = values[0] * find_unit(unit).factor / find_unit(shown).factor
            self._figures[name] = Figure(name, value, shown, "recomputed", None, FROM_REQUESTS)
            return
        scale = find_unit(unit).factor / find_unit(stated.unit).factor
        scaled = [value * scale for value in values]
        alike = [each for each in scaled if _alike(each, stated.number, size * scale)]
        value = alike[0] if alike else scaled[0]
        if not alike:
            self._disagree(name, stated, value)
        self._figures[name] = Figure(
            name, value, stated.unit, "recomputed", Fraction(stated.number), FROM_REQUESTS
        )

    def _unit_of(self, metric: str) -> str | None:
        """The unit in which the file states a metric, which its other statistics have as well."""
        units = (
            each.unit for name, each in self._stated.items() if distribution_of(name) == metric
        )
        return next(units, None)

    def rate(self, name: str, unit: str, total: str) -> None:
        """A rate that follows from a total and the duration, as far as those are printed.

        Where the total comes from single requests the rate is recomputed; where the file states
        all three, they must agree and the rate stays what the file reports.
        """
        duration, count = self._stated.get("duration"), self.value(total)
        if duration is None or duration.number == 0 or count is None:
            return
        stated = self._stated.get(name)
        if stated is not None:
            unit = stated.unit
        per = find_unit(duration.unit).factor * find_unit(unit).factor
        length, slack = Fraction(duration.number), _printed(duration.number)
        value = count / length / per
        if stated is not None:
            said, rounding = Fraction(stated.number), _printed(stated.number)
            least, most = (
                count / (length + slack) / per,
                count / max(length - slack, length / 2) / per,
            )
            rounding = max(rounding, TOLERANCE * said)
            if not least - rounding <= said <= most + rounding:
                self._disagree(name, stated, value, f"{total} in its duration gives")
        if self.recomputed(total):
            said_too = None if stated is None else Fraction(stated.number)
            self._figures[name] = Figure(name, value, unit, "recomputed", said_too, FROM_REQUESTS)

    def summarise(
        self, metric: str, unit: str, values: Summary, percentiles: Sequence[Fraction]
    ) -> None:
        """Every statistic of a metric from the values of single requests."""
        if metric in SUMMED:
            self.recompute(metric, unit, values.total)
            return
        for statistic, value in (
            ("mean", values.mean),
            ("min", values.smallest),
            ("max", values.largest),
        ):
            self.recompute(f"{metric}.{statistic}", unit, value)
        if len(values) > 1:
            both = values.deviation(ddof=0), values.deviation(ddof=1)
            self.recompute(f"{metric}.std", unit, *both, size=values.mean)
        for percent in percentiles:
            name = f"{metric}.p{float(percent):g}"
            self.recompute(name, unit, values.percentile(percent))

    def finish(self) -> tuple[Figure, ...]:
        """The figures; statistics of one metric that no values can have become findings."""
        self.findings += self._impossible()
        return tuple(self._figures.values())

    def _impossible(self) -> Iterator[Finding]:
        ordered: dict[str, list[tuple[Decimal, str]]] = {}
        for name, figure in self._figures.items():
            metric = figure.distribution
            rank = _rank(name.removeprefix(f"{metric}."))
            if rank is not None and name in self._stated:
                ordered.setdefault(metric, []).append((rank, name))
        for ranks in ordered.values():
            ranks.sort()
            for (_, lower), (_, higher) in pairwise(ranks):
                least, most = self.value(lower), self.value(higher)
                if least is not None and most is not None and least > most * (1 + TOLERANCE):
                    yield Finding(
                        IMPOSSIBLE,
                        self._stated[higher].place,
                        f"{lower} is greater than {higher}, which no values allow{self._row}",
                        UNTOUCHED,
                    )

    def _disagree(
        self, name: str, stated: Stated, value: Fraction, how: str = "the single requests give"
    ) -> None:
        said = Fraction(stated.number)
        self.findings.append(
            Finding(
                DISAGREES,
                stated.place,
                f"{stated.at} says {apart(said, value)} {stated.unit}, but {how} "
                f"{name} = {apart(value, said)} {stated.unit}{self._row}",
                "if the script means something else by it, take it out of the mapping or map it "
                "to the metric that it is; else run the benchmark again",
            )
        )


def _printed(number: Number) -> Fraction:
    """What a script that rounds its decimals leaves open: few digits are all that many print."""
    return rounding_of(number, fewest=1) if isinstance(number, Decimal) else Fraction(0)


def _alike(value: Fraction, number: Number, size: Fraction) -> bool:
    return agrees(value, number, size) or abs(value - Fraction(number)) <= _printed(number)


def _rank(statistic: str) -> Decimal | None:
    if statistic in ("min", "max"):
        return Decimal(0 if statistic == "min" else 100)
    return Decimal(statistic[1:]) if statistic[:1] == "p" and statistic[1:2].isdigit() else None
