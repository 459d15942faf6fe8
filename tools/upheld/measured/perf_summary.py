"""What GenAI-Perf sums up, and AIPerf, which kept its fields: an object a metric, with its unit.

Statistics of both are NumPy's: percentiles `linear`, deviations of a population (genai-perf
0.0.16, metrics/statistics.py; aiperf 0.13.0, metrics/metric_dicts.py). Latencies are of requests
that succeeded. Inter-token latency is, for each request, (latency - TTFT) / (output tokens - 1),
rounded nowhere and weighed by nothing: what other clients call time per output token.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from upheld.corpus.strict_json import Keys
from upheld.measured.distribution import Distribution
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.printed_block import PrintedDraft
from upheld.measured.reading import Mean, Reading, Requests
from upheld.measured.server_axes import SERVER_AXES
from upheld.records.units import format_number

if TYPE_CHECKING:
    from upheld.measured.perf_csv import PerfCsv


LATENCIES = {
    "time_to_first_token": ("latency.ttft",),
    "inter_token_latency": ("latency.itl", "latency.tpot"),
    "request_latency": ("latency.e2e",),
}
"""The metrics that each of the tools' latencies goes by, under the tools' own tags."""

NOTES = {"latency.tpot": "what the tool calls inter-token latency"}

DOUBTS = {
    "latency.itl": "it is (latency - TTFT) / (output tokens - 1) of each request, which "
    "latency.tpot is too, and no time between two chunks"
}
"""What the tools' figures are not, by metric."""

_SCALARS = {
    "request_count": ("requests.completed", "requests"),
    "error_request_count": ("requests.failed", "requests"),
    "completed_request_count": ("requests.attempted", "requests"),
    "benchmark_duration": ("duration", "time"),
    "total_isl": ("tokens.input.total", "tokens"),
    "total_osl": ("tokens.output.total", "tokens"),
    "request_throughput": ("throughput.requests", "request rate"),
    "input_token_throughput": ("throughput.input_tokens", "token rate"),
    "output_token_throughput": ("throughput.output_tokens", "token rate"),
    "total_token_throughput": ("throughput.total_tokens", "token rate"),
    "effective_concurrency": ("concurrency.mean", "requests"),
}
_UNITS = {
    "time": {"ns": "ns", "us": "us", "ms": "ms", "sec": "s", "s": "s"},
    "requests": {"requests": "requests", "count": "requests", "": "requests"},
    "tokens": {"tokens": "tokens"},
    "request rate": {"requests/sec": "requests/s", "per sec": "requests/s"},
    "token rate": {"tokens/sec": "tokens/s", "per sec": "tokens/s"},
}
_STATISTICS = {
    "avg": "mean", "min": "min", "max": "max", "std": "std", "p1": "p1", "p5": "p5", "p10": "p10",
    "p25": "p25", "p50": "p50", "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99",
}  # fmt: skip


class PerfSummary:
    """The metrics of a row. `at` says under which keys the object of each tag stands."""

    def __init__(self, draft: RowDraft, at: Mapping[str, Keys]) -> None:
        self._draft = draft
        self._at = {tag: keys for tag, keys in at.items() if isinstance(draft.get(*keys), dict)}

    def read_scalars(self) -> None:
        """Counts, totals and rates, as far as they are there."""
        for tag, (name, dimension) in _SCALARS.items():
            unit = self.unit(tag, dimension)
            if unit is not None:
                self._draft.report(name, unit, *self._at[tag], "avg")

    def read_latencies(self, completed: int | None) -> None:
        """Each latency with its statistics, unless nothing completed."""
        for tag, names in LATENCIES.items():
            unit = self.unit(tag, "time")
            statistics = self._statistics(tag)
            if unit is None or not statistics or completed == 0:
                continue
            count = self._draft.count(*self._at[tag], "count") or completed
            for position, name in enumerate(names):
                distribution = Distribution(name, unit, statistics)
                if position == 0 and distribution.refuse_zero(self._draft):
                    break
                if count is not None:
                    self._draft.samples[name] = count
                distribution.report(self._draft, NOTES.get(name))
                if name in DOUBTS:
                    self._draft.doubts[name] = DOUBTS[name]
                if position == 0:
                    distribution.refuse_impossible(self._draft)

    def read_lengths(self, not_stated: list[str]) -> None:
        """Tokens of a request to the envelope where all have the same, else to the means."""
        for axis, tag in (
            ("input_tokens", "input_sequence_length"), ("output_tokens", "output_sequence_length"),
        ):  # fmt: skip
            keys = self._at.get(tag)
            mean = self._draft.number(*keys, "avg") if keys else None
            if keys is None or mean is None:
                not_stated.append(axis)
                continue
            least, most = self._draft.number(*keys, "min"), self._draft.number(*keys, "max")
            if least is not None and least == most and least == int(least):
                self._draft.envelope[axis] = int(least)
                continue
            self._draft.means[axis] = Mean(Fraction(mean), varies=True)
            if least is not None and most is not None:
                self._draft.stated[axis] = (
                    f"from {format_number(Fraction(least))} to {format_number(Fraction(most))}, "
                    f"{format_number(Fraction(mean))} on average"
                )

    def refuse_other_token_rate(self) -> None:
        """Tokens a second are the output of a request, on average, times requests a second."""
        keys = self._at.get("output_sequence_length")
        mean = self._draft.number(*keys, "avg") if keys else None
        rate, tokens = (
            self._draft.figure(name) for name in ("throughput.requests", "throughput.output_tokens")
        )
        if mean is None or rate is None or tokens is None:
            return
        slack = self._draft.rounding_of(mean)
        # Floating point, in which the tool divided twice and multiplied once.
        loose = Fraction(1, 10**9) * tokens.value
        least = (Fraction(mean) - slack) * (rate.value - rate.rounding) - tokens.rounding - loose
        most = (Fraction(mean) + slack) * (rate.value + rate.rounding) + tokens.rounding + loose
        if not least <= tokens.value <= most:
            self._draft.find(
                DISAGREES,
                f"output_token_throughput says {format_number(tokens.value)} tokens/s, but output "
                "tokens of a request and requests a second give "
                f"{format_number(Fraction(mean) * rate.value)}",
                UNTOUCHED,
                *self._at["output_token_throughput"],
                "avg",
            )

    def unit(self, tag: str, dimension: str) -> str | None:
        """The unit that the file states for a tag; None without the metric or a unit that fits."""
        keys = self._at.get(tag)
        if keys is None or self._draft.get(*keys, "avg") is None:
            return None
        stated = self._draft.get(*keys, "unit")
        unit = _UNITS[dimension].get(stated) if isinstance(stated, str) else None
        if unit is None:
            self._draft.find(
                IMPOSSIBLE,
                f"the unit of {tag} is none of {', '.join(filter(None, _UNITS[dimension]))}",
                f"there is no figure for it; {UNTOUCHED}",
                *keys,
            )
        return unit

    def _statistics(self, tag: str) -> dict[str, Keys]:
        keys = self._at.get(tag)
        if keys is None:
            return {}
        return {
            statistic: (*keys, key)
            for key, statistic in _STATISTICS.items()
            if self._draft.get(*keys, key) is not None
        }


def read_requests(draft: RowDraft) -> Requests:
    """The counts that the row has by now, held against each other."""
    completed, failed, attempted = (
        int(value) if value is not None and value.denominator == 1 else None
        for value in map(
            draft.value, ("requests.completed", "requests.failed", "requests.attempted")
        )
    )
    if completed is not None and failed is not None:
        if attempted is None:
            attempted = completed + failed
        elif attempted != completed + failed:
            draft.find(
                DISAGREES,
                f"{completed} completed and {failed} failed requests are not the {attempted} sent",
                UNTOUCHED,
                "completed_request_count",
            )
    return Requests(completed, failed, attempted)


def read_printed(printed: PerfCsv) -> Reading:
    """The run that a CSV is of; none where it was cut."""
    if printed.findings:
        return Reading((), findings=printed.findings)
    draft = PrintedDraft(printed.places, printed.record)
    metrics = PerfSummary(draft, {tag: (tag,) for tag in printed.record})
    metrics.read_scalars()
    requests = read_requests(draft)
    metrics.refuse_other_token_rate()
    metrics.read_latencies(requests.completed)
    not_stated = ["model", *SERVER_AXES, "concurrency", "request_rate"]
    metrics.read_lengths(not_stated)
    return Reading((draft.finish(tuple(not_stated), requests),))
