"""GuideLLM: the JSON report of a run, of both schemas, one row a benchmark.

Every metric is told apart by what became of the request: what is read is that of `successful`
ones. Request latency is seconds, the others say `_ms` (guidellm 0.8.1, schemas/base/
request_stats.py). Percentiles are values that occurred, none between two; deviations are of a
population. Time per output token is the whole latency over all tokens, the first included; both
it and the time between tokens weigh a request by its tokens (benchmark/schemas/metrics.py).
A rate is the mean of a distribution of rates over the run, which is about count over duration in
the second schema and not in the first. Statistics are recomputed where the report keeps all
requests: it may keep a sample, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.distribution import Distribution
from upheld.measured.draft import DISAGREES, UNTOUCHED, RowDraft
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.server_axes import SERVER_AXES
from upheld.measured.weighted import WeightedValues
from upheld.records.units import format_number

NAME = "guidellm"
TOOL = "GuideLLM"
TITLE = "GuideLLM: report of benchmarks, JSON"

_PERCENTILES = {
    "p001": "p0.1", "p01": "p1", "p05": "p5", "p10": "p10", "p25": "p25", "p50": "p50",
    "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9",
}  # fmt: skip
_STATISTICS = {"mean": "mean", "median": "p50", "std_dev": "std", "min": "min", "max": "max"}
_RATES = {
    "requests_per_second": ("throughput.requests", "requests/s"),
    "output_tokens_per_second": ("throughput.output_tokens", "tokens/s"),
    "prompt_tokens_per_second": ("throughput.input_tokens", "tokens/s"),
    "tokens_per_second": ("throughput.total_tokens", "tokens/s"),
    "request_concurrency": ("concurrency.mean", "requests"),
}
_LOAD: dict[str, int | str] = {"synchronous": 1, "concurrent": "streams"}
# A mean of rates this far from counts over the duration is of another thing.
_FAR = Fraction(1, 20)
# Events closer than 0.1 ms are merged, which shifts where the tool takes a run to end.
_MERGED = Fraction(1, 1000)
_MOST_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class _Latency:
    """A metric of the tool: `weight` says how often a request of so many tokens counts."""

    key: str
    name: str
    unit: str
    weight: int | None = None

    def weigh(self, tokens: int) -> int:
        return 1 if self.weight is None else tokens + self.weight


_LATENCIES = (
    _Latency("request_latency", "latency.e2e", "s"),
    _Latency("time_to_first_token_ms", "latency.ttft", "ms"),
    _Latency("time_per_output_token_ms", "latency.tpot", "ms", weight=0),
    _Latency("inter_token_latency_ms", "latency.itl", "ms", weight=-1),
)
DOUBTS = {
    "latency.tpot": "it is the whole latency over all output tokens, the first included",
    "latency.itl": "it is a request's mean time between tokens, as often as it has tokens, and no "
    "time between two chunks",
}
"""What the tool's figures are not, by metric."""


def recognise(content: Content) -> bool:
    """One object with benchmarks that each have rates and latencies by status."""
    if len(content.documents) != 1:
        return False
    report = content.documents[0].value
    benchmarks = report.get("benchmarks") if isinstance(report, dict) else None
    return isinstance(benchmarks, list) and bool(benchmarks) and all(map(_is_benchmark, benchmarks))


def _is_benchmark(value: Json) -> bool:
    metrics = value.get("metrics") if isinstance(value, dict) else None
    return isinstance(metrics, dict) and all(
        isinstance(metric := metrics.get(key), dict) and "successful" in metric
        for key in ("requests_per_second", "request_latency")
    )


def read(content: Content) -> Reading:
    """One row a benchmark, in the order of the report."""
    report = content.documents[0].value
    assert isinstance(report, dict), "recognise() saw an object"
    whole = RowDraft(content, 0, (), report)
    benchmarks = report["benchmarks"]
    assert isinstance(benchmarks, list), "recognise() saw a list"
    rows: list[Row] = []
    for index, benchmark in enumerate(benchmarks):
        assert isinstance(benchmark, dict), "recognise() saw objects"
        case = f"benchmark {index + 1}" if len(benchmarks) > 1 else None
        draft = RowDraft(content, 0, ("benchmarks", index), benchmark, case)
        rows.append(read_benchmark(draft, whole))
    return Reading(tuple(rows), whole.text("metadata", "guidellm_version"))


def read_benchmark(draft: RowDraft, whole: RowDraft) -> Row:
    """One benchmark; `whole` has the metadata and the options of the run that it is part of."""
    requests = _read_requests(draft)
    draft.report("duration", "s", "duration")
    if requests.completed:
        _read_rates(draft, requests.completed)
    _refuse_other_rate(draft)
    for latency in _LATENCIES:
        if requests.completed:
            _read_latency(draft, latency, requests.completed)
    not_stated = list(SERVER_AXES)
    _read_load(draft, whole, not_stated)
    _read_lengths(draft, requests, not_stated)
    _read_other_facts(draft, whole)
    return draft.finish(tuple(not_stated), requests)


def _read_requests(draft: RowDraft) -> Requests:
    second: Keys = ("metrics", "request_totals")
    totals = second if isinstance(draft.get(*second), dict) else second[1:]
    completed, failed, incomplete, attempted = (
        draft.count(*totals, status) for status in ("successful", "errored", "incomplete", "total")
    )
    draft.report("requests.completed", "requests", *totals, "successful")
    draft.report("requests.failed", "requests", *totals, "errored")
    draft.report("requests.attempted", "requests", *totals, "total")
    parts = [completed, failed, incomplete]
    if attempted is not None and None not in parts:
        held = sum(part or 0 for part in parts)
        if held != attempted:
            draft.find(
                DISAGREES,
                f"{held} requests by status are not the {attempted} of all",
                UNTOUCHED,
                *totals, "total",
            )  # fmt: skip
    if incomplete:
        draft.stated["requests_open_at_the_end"] = (
            f"{incomplete:,} of {attempted:,}" if attempted is not None else f"{incomplete:,}"
        )
    return Requests(completed, failed, attempted)


def _read_rates(draft: RowDraft, completed: int) -> None:
    duration = draft.value("duration")
    for key, (name, unit) in _RATES.items():
        at = ("metrics", key, "successful", "mean")
        rate = draft.number(*at)
        if rate is None:
            continue
        amount = _amount(draft, name, completed)
        if amount is None or not duration:
            draft.report(name, unit, *at)
            continue
        plain = amount / duration
        whole = f"counts over the duration give {format_number(plain)}"
        draft.report(name, unit, *at, note=f"the mean of rates over the run; {whole}")
        if abs(Fraction(rate) - plain) > plain * _FAR:
            draft.doubts[name] = f"it is the mean of rates over the run, and {whole} {unit}"


def _amount(draft: RowDraft, name: str, completed: int) -> Fraction | None:
    """What a rate counts over the whole run."""
    keys = {
        "throughput.requests": (),
        "throughput.input_tokens": ("prompt_token_count",),
        "throughput.output_tokens": ("output_token_count",),
        "throughput.total_tokens": ("prompt_token_count", "output_token_count"),
    }.get(name)
    if keys is None:
        return None
    means = [draft.number("metrics", key, "successful", "mean") for key in keys]
    if None in means:
        return None
    tokens = sum((Fraction(mean) for mean in means if mean is not None), Fraction(0))
    return completed * tokens if keys else Fraction(completed)


def _refuse_other_rate(draft: RowDraft) -> None:
    """In the second schema the mean of rates is what completed over the duration, nearly."""
    rate, completed = draft.value("throughput.requests"), draft.value("requests.completed")
    duration = draft.value("duration")
    if rate is None or not completed or not duration or "scheduler_metrics" not in draft.record:
        return
    if abs(rate * duration / completed - 1) > _MERGED / duration + Fraction(1, 1000):
        draft.find(
            DISAGREES,
            f"requests_per_second says {format_number(rate)}, but {format_number(completed)} "
            f"requests in {format_number(duration)} s are {format_number(completed / duration)}",
            UNTOUCHED,
            "metrics", "requests_per_second", "successful", "mean",
        )  # fmt: skip


def _read_latency(draft: RowDraft, latency: _Latency, completed: int) -> None:
    at = ("metrics", latency.key, "successful")
    keys: dict[str, Keys] = {
        statistic: (*at, key)
        for key, statistic in _STATISTICS.items()
        if draft.get(*at, key) is not None
    }
    for key, statistic in _PERCENTILES.items():
        if draft.get(*at, "percentiles", key) is not None:
            keys.setdefault(statistic, (*at, "percentiles", key))
    if not keys:
        return
    distribution = Distribution(latency.name, latency.unit, keys)
    if distribution.refuse_zero(draft):
        return
    if latency.name in DOUBTS:
        draft.doubts[latency.name] = DOUBTS[latency.name]
    draft.samples[latency.name] = completed
    values = _single_values(draft, latency, draft.count(*at, "count"))
    if values is None:
        distribution.report(draft)
    else:
        distribution.recompute(draft, values, Fraction(1), "from the requests of the report")
    # The second schema says the median twice.
    draft.report(f"{latency.name}.p50", latency.unit, *at, "percentiles", "p50")
    duration = draft.value("duration")
    longest = duration and duration * {"s": 1, "ms": 1000}[latency.unit]
    distribution.refuse_impossible(draft, longest)


def _single_values(draft: RowDraft, latency: _Latency, count: int | None) -> WeightedValues | None:
    """The values of the kept requests, if these weigh as much as the summary rests on."""
    kept = draft.get("requests", "successful")
    pairs: list[tuple[int | Decimal, int]] = []
    for index in range(len(kept) if isinstance(kept, list) else 0):
        at = ("requests", "successful", index)
        value, tokens = draft.number(*at, latency.key), draft.count(*at, "output_tokens")
        if value is None or tokens is None:
            return None
        pairs.append((value, latency.weigh(tokens)))
    if not pairs or sum(weight for _, weight in pairs) != count:
        return None
    return WeightedValues(pairs)


def _read_load(draft: RowDraft, whole: RowDraft, not_stated: list[str]) -> None:
    """Model and load: in `config` of the second schema, in `args` and `worker` of the first."""
    model = (
        draft.text("config", "backend", "model")
        or whole.text("config", "spec", "backend", "model")
        or draft.text("worker", "backend_model")
    )
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    at: Keys = ("config", "strategy") if "config" in draft.record else ("args", "strategy")
    kind = draft.text(*at, "type_")
    if kind is not None:
        draft.stated["strategy"] = kind
    load = _LOAD.get(kind or "")
    concurrency = draft.count(*at, load) if isinstance(load, str) else load
    if concurrency:
        draft.envelope["concurrency"] = concurrency
    else:
        not_stated.append("concurrency")
    rate = draft.number(*at, "rate") if kind in ("constant", "poisson", "async") else None
    if kind in ("concurrent", "synchronous"):
        draft.unlimited.add("request_rate")
    if rate:
        draft.envelope["request_rate"] = Fraction(rate)
    else:
        not_stated.append("request_rate")


def _read_lengths(draft: RowDraft, requests: Requests, not_stated: list[str]) -> None:
    for axis, key in (
        ("input_tokens", "prompt_token_count"), ("output_tokens", "output_token_count"),
    ):  # fmt: skip
        at = ("metrics", key, "successful")
        mean = draft.number(*at, "mean") if requests.completed else None
        least, most = draft.number(*at, "min"), draft.number(*at, "max")
        if mean is None or least is None or most is None:
            not_stated.append(axis)
        elif least == most and least == int(least):
            draft.envelope[axis] = int(least)
        else:
            draft.means[axis] = Mean(Fraction(mean), varies=True)
            shown = [format_number(Fraction(each)) for each in (least, most, mean)]
            draft.stated[axis] = f"from {shown[0]} to {shown[1]}, {shown[2]} on average"


def _read_other_facts(draft: RowDraft, whole: RowDraft) -> None:
    kept = draft.get("requests", "successful")
    completed = draft.value("requests.completed")
    if isinstance(kept, list) and completed and len(kept) < completed:
        draft.stated["requests_kept"] = (
            f"{len(kept):,} of {format_number(completed)}, so nothing is recomputed from them"
        )
    data = whole.get("config", "spec", "data")
    for axis, key in (("input", "prompt_tokens"), ("output", "output_tokens")):
        if isinstance(data, list) and len(data) == 1:
            asked = whole.get("config", "spec", "data", 0, key)
            if isinstance(asked, int) and not isinstance(asked, bool):
                draft.stated[f"{axis}_tokens_asked_for"] = f"{asked:,}"
    for name, text in (
        ("dataset", draft.text("request_loader", "data")),
        ("platform_of_the_client", whole.text("metadata", "platform")),
    ):
        if text is not None:
            draft.stated[name] = text[:200]
    warnings = draft.get("warnings")
    for number in range(min(len(warnings) if isinstance(warnings, list) else 0, _MOST_WARNINGS)):
        if (message := draft.text("warnings", number, "message")) is not None:
            draft.stated[f"the_tool_warns_{number + 1}"] = message[:300]
