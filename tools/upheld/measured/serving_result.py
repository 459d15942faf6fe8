"""One run as vLLM's `bench serve` sums it up, and as clients that descend from it do.

SGLang's `bench_serving` and several forks kept its keys but for names and units: what differs is
a `Layout`. Latencies are of successful requests only, percentiles are NumPy's `linear`, standard
deviations are of a population; throughputs divide by the wall time of the whole run. Where the
file has an entry for each request, times in it are seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from upheld.corpus.strict_json import Json, Keys, Special
from upheld.measured.distribution import Distribution
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Mean, Requests
from upheld.measured.recompute import TOLERANCE, Values
from upheld.measured.single_requests import SingleRequests
from upheld.records.units import format_number

# A rate that no client reaches: some scripts write 1e9 where they mean "all at once".
_UNLIMITED_RATE = 10**6
_MOST_STATED = 40
_LONGEST_STATED = 200

_STATISTIC = r"(?P<statistic>mean|median|std|max|p(?:100|\d{1,2}(?:\.\d{1,3})?))"
_TPOT_NOTE = (
    "the file keeps no request's whole latency, so the time per output token can't be recomputed"
)
_FROM_ARRAYS = "from the entries of the single requests"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a client writes what all of the family measure.

    `latencies` are the endings of its keys and the metric of each, such as `ttft_ms` and
    `latency.ttft`, all in `unit`.
    """

    latencies: Mapping[str, str]
    unit: Literal["ms", "s"]
    total_throughput: str

    @property
    def a_second(self) -> int:
        """How many of `unit` are a second."""
        return {"ms": 1000, "s": 1}[self.unit]

    def parse(self, key: str) -> tuple[str, str] | None:
        """The ending and the canonical statistic of a latency's key; None for another key."""
        match = re.fullmatch(f"{_STATISTIC}_(?P<ending>{'|'.join(self.latencies)})", key)
        if match is None:
            return None
        statistic = match["statistic"]
        return match["ending"], {"median": "p50", "p100": "max"}.get(statistic, statistic)

    def distributions(self, record: Mapping[str, Json]) -> dict[str, Distribution]:
        """What the record has of each latency, by the ending of its keys."""
        keys: dict[str, dict[str, Keys]] = {ending: {} for ending in self.latencies}
        for key in record:
            if (parsed := self.parse(key)) is not None:
                ending, statistic = parsed
                keys[ending][statistic] = (key,)
        return {
            ending: Distribution(self.latencies[ending], self.unit, found)
            for ending, found in keys.items()
            if found
        }


def read_figures(draft: RowDraft, layout: Layout, single: SingleRequests) -> Requests:
    """Counts, tokens, rates and latencies of a run, and what in them can't be."""
    requests = _read_requests(draft, single)
    _read_tokens(draft, single)
    _read_throughput(draft, layout)
    distributions = layout.distributions(draft.record)
    if requests.completed:
        for distribution in distributions.values():
            _read_latency(draft, distribution, single, requests.completed)
    duration = draft.value("duration")
    for distribution in distributions.values():
        distribution.refuse_impossible(draft, duration and duration * layout.a_second)
    _refuse_more_at_once_than_allowed(draft, layout)
    return requests


def read_load(draft: RowDraft, single: SingleRequests, requests: Requests) -> list[str]:
    """Concurrency, rate and lengths into the envelope; the axes of these that stay open."""
    not_stated: list[str] = []
    _read_arrivals(draft, not_stated)
    _read_lengths(draft, single, requests, not_stated)
    return not_stated


def read_other_facts(
    draft: RowDraft, layout: Layout, known: re.Pattern[str], renamed: Mapping[str, str]
) -> None:
    """Every other scalar of the record to what it states, but for keys that are `known`."""
    for key, value in draft.record.items():
        if len(draft.stated) >= _MOST_STATED:
            return
        if known.fullmatch(key) or layout.parse(key):
            continue
        if isinstance(value, bool):
            draft.stated[renamed.get(key, key)] = "yes" if value else "no"
        elif isinstance(value, int | Decimal | str) and value != "":
            draft.stated[renamed.get(key, key)] = shortened(str(value))


def shortened(text: str) -> str:
    """A stated fact, cut where it is longer than anyone reads."""
    return text if len(text) <= _LONGEST_STATED else text[: _LONGEST_STATED - 1] + "…"


def _read_requests(draft: RowDraft, single: SingleRequests) -> Requests:
    completed = draft.count("completed")
    failed = draft.count("failed")
    attempted = draft.count("num_prompts")
    if single.completed is not None and single.failed is not None:
        draft.recompute(
            "requests.completed", "requests", Fraction(single.completed), "completed",
            note=_FROM_ARRAYS,
        )  # fmt: skip
        draft.recompute(
            "requests.failed", "requests", Fraction(single.failed), "failed", note=_FROM_ARRAYS
        )
        completed, failed = single.completed, single.failed
        attempted = completed + failed if attempted is None else attempted
    else:
        draft.report("requests.completed", "requests", "completed")
        draft.report("requests.failed", "requests", "failed")
    draft.report("requests.attempted", "requests", "num_prompts")
    draft.report("concurrency.limit", "requests", "max_concurrency")
    if completed is not None and attempted is not None:
        if completed > attempted:
            draft.find(
                IMPOSSIBLE,
                f"{completed} requests completed of {attempted} that were sent",
                UNTOUCHED,
                "completed",
            )
        elif failed is None:
            failed = attempted - completed
            draft.recompute(
                "requests.failed", "requests", Fraction(failed),
                note="derived: sent less completed; the file states no count of failures",
            )  # fmt: skip
        elif completed + failed != attempted:
            draft.find(
                DISAGREES,
                f"{completed} completed and {failed} failed requests are not the {attempted} sent",
                UNTOUCHED,
                "failed" if draft.get("failed") is not None else "completed",
            )
    return Requests(completed, failed, attempted)


def _read_tokens(draft: RowDraft, single: SingleRequests) -> None:
    for name, key, lengths in (
        ("tokens.input.total", "total_input_tokens", single.input_lens),
        ("tokens.output.total", "total_output_tokens", single.output_lens),
    ):
        if lengths:
            draft.recompute(name, "tokens", Values(lengths).total, key, note=_FROM_ARRAYS)
        else:
            draft.report(name, "tokens", key)


def _read_throughput(draft: RowDraft, layout: Layout) -> None:
    draft.report("duration", "s", "duration")
    duration = draft.value("duration")
    if duration is None:
        return
    if duration == 0:
        draft.find(IMPOSSIBLE, "duration is 0, so nothing has a rate", UNTOUCHED, "duration")
        return
    completed = draft.value("requests.completed")
    tokens_in = draft.value("tokens.input.total")
    tokens_out = draft.value("tokens.output.total")
    if completed is not None:
        draft.recompute(
            "throughput.requests", "requests/s", completed / duration, "request_throughput"
        )
    if tokens_out is not None:
        draft.recompute(
            "throughput.output_tokens", "tokens/s", tokens_out / duration, "output_throughput"
        )
    if tokens_in is not None:
        draft.recompute(
            "throughput.input_tokens", "tokens/s", tokens_in / duration, "input_throughput",
            note="over the whole run: not the speed of prefill",
        )  # fmt: skip
    if tokens_in is not None and tokens_out is not None:
        draft.recompute(
            "throughput.total_tokens", "tokens/s", (tokens_in + tokens_out) / duration,
            layout.total_throughput,
        )  # fmt: skip


def _read_latency(
    draft: RowDraft, distribution: Distribution, single: SingleRequests, completed: int
) -> None:
    name = distribution.name
    entries = {"latency.ttft": single.ttfts, "latency.itl": single.itls}.get(name)
    values = Values(entries) if entries else None
    if distribution.refuse_zero(draft, values):
        return
    _note_samples(draft, single, completed, name, values)
    if values is None:
        distribution.report(draft, _TPOT_NOTE if name == "latency.tpot" else None)
    else:
        scale = Fraction({"ms": 1000, "s": 1}[distribution.unit])
        distribution.recompute(draft, values, scale, _FROM_ARRAYS)
    if name == "latency.ttft" and entries:
        opening = draft.count("max_concurrency") or 1
        draft.note_course(name, entries, opening, scale)


def _note_samples(
    draft: RowDraft, single: SingleRequests, completed: int, name: str, values: Values | None
) -> None:
    if values is not None:
        draft.samples[name] = len(values)
    elif name == "latency.tpot" and single.output_lens is not None:
        draft.samples[name] = sum(length > 1 for length in single.output_lens)
    elif name != "latency.itl":
        draft.samples[name] = completed
    if name == "latency.itl" and values is not None and single.output_lens is not None:
        expected = sum(length - 1 for length in single.output_lens if length > 0)
        if len(values) < expected:
            draft.stated["itl"] = (
                f"between chunks: {len(values):,} gaps for {int(expected):,} tokens after the first"
            )


def _refuse_more_at_once_than_allowed(draft: RowDraft, layout: Layout) -> None:
    """Little's law: time that requests spent open, over the run's, is how many were open."""
    limit = draft.number("max_concurrency")
    completed = draft.value("requests.completed")
    whole, duration = draft.value("latency.e2e.mean"), draft.value("duration")
    if not limit or not duration or completed is None or whole is None:
        return
    at_once = completed * whole / layout.a_second / duration
    if at_once > Fraction(limit) * (1 + TOLERANCE):
        ending = next(key for key, name in layout.latencies.items() if name == "latency.e2e")
        draft.find(
            IMPOSSIBLE,
            f"mean_{ending} and duration need {format_number(at_once)} requests open at once, "
            f"but max_concurrency is {limit}",
            UNTOUCHED,
            f"mean_{ending}",
        )


def _read_lengths(
    draft: RowDraft, single: SingleRequests, requests: Requests, not_stated: list[str]
) -> None:
    for axis, total, lengths in (
        ("input_tokens", draft.value("tokens.input.total"), single.input_lens),
        ("output_tokens", draft.value("tokens.output.total"), single.output_lens),
    ):
        if not requests.completed or total is None:
            not_stated.append(axis)
            continue
        mean = total / requests.completed
        if lengths and min(lengths) == max(lengths):
            draft.envelope[axis] = int(lengths[0])
        elif lengths:
            draft.means[axis] = Mean(mean, varies=True)
            draft.stated[axis] = f"from {min(lengths):,} to {max(lengths):,}"
        else:
            varies = mean.denominator != 1
            draft.means[axis] = Mean(mean, varies)
            ending = "so lengths varied" if varies else "and no single length is stated"
            draft.stated[axis] = f"{format_number(mean)} is the mean, {ending}"
            if not varies:
                not_stated.append(axis)


def _read_arrivals(draft: RowDraft, not_stated: list[str]) -> None:
    limit = draft.count("max_concurrency")
    if limit:
        draft.envelope["concurrency"] = limit
    elif "max_concurrency" in draft.record:
        draft.unlimited.add("concurrency")
        draft.stated["concurrency"] = "no limit was set"
    else:
        not_stated.append("concurrency")
    stated = draft.get("request_rate")
    if stated in ("inf", "Infinity") or stated is Special.INFINITY:
        draft.unlimited.add("request_rate")
        draft.stated["request_rate"] = "unlimited: the client never waits before it sends"
        return
    if stated == "trace":
        draft.stated["request_rate"] = "that of the trace which the client replays"
        return
    rate = draft.number("request_rate")
    if rate is None or rate == 0:
        not_stated.append("request_rate")
    elif rate >= _UNLIMITED_RATE:
        draft.unlimited.add("request_rate")
        draft.stated["request_rate"] = f"{format_number(Fraction(rate))}/s: as good as unlimited"
    else:
        draft.envelope["request_rate"] = Fraction(rate)
