"""vLLM `bench serve`, formerly `benchmark_serving.py`: one JSON object a run.

Several runs are several objects (`--append-result`). Forks that keep the keys and their units
(InferenceX, llm-d, the Rust client) are read as well; those that drop the `_ms` are not, since
their latencies are seconds.

How vLLM works its figures out (vllm/benchmarks/serve.py, `calculate_metrics`): latencies are of
successful requests only, percentiles are NumPy's `linear`, standard deviations are of a
population; throughputs divide by the wall time of the whole run. With `--save-detailed` the file
holds an entry for each request, in seconds, 0.0 for a failed one.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.reading import Mean, Reading, Requests, Row
from upheld.measured.recompute import TOLERANCE, Values
from upheld.records.units import format_number

NAME = "vllm-bench-serve"
TOOL = "vLLM bench serve"
TITLE = "vLLM bench serve: result of a run, JSON or JSON Lines"

_ALWAYS = {
    "model_id", "duration", "completed", "request_throughput", "total_token_throughput",
}  # fmt: skip
_SGLANG = {"total_output_tokens_retokenized", "mean_e2e_latency_ms", "server_info"}

_LATENCIES = {
    "ttft": "latency.ttft", "tpot": "latency.tpot", "itl": "latency.itl", "e2el": "latency.e2e",
}  # fmt: skip
_LATENCY_KEY = re.compile(
    r"(?P<statistic>mean|median|std|p(?:100|\d{1,2}(?:\.\d{1,3})?))_(?P<latency>ttft|tpot|itl|e2el)_ms"
)

# A rate that no client reaches: some scripts write 1e9 where they mean "all at once".
_UNLIMITED_RATE = 10**6

_NEVER_STATED = (
    "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip

_READ_ELSEWHERE = re.compile(
    r"model_id|duration|completed|failed|num_prompts|request_rate|max_concurrency|total_\w+_tokens"
    r"|(request|input|output|total_token)_throughput|spec_decode_acceptance_\w+|best_of|rtfx"
)
_RENAMED = {
    "backend": "client_backend",
    "tokenizer_id": "tokenizer",
    "max_output_tokens_per_s": "peak_output_tokens_in_one_second",
    "max_concurrent_requests": "peak_requests_in_one_second",
    "request_goodput:": "request_goodput",
}
_MOST_STATED = 40
_LONGEST_STATED = 200

_TPOT_NOTE = (
    "the file keeps no request's whole latency, so the time per output token can't be recomputed"
)
_FROM_ARRAYS = "from the entries of the single requests"
_CLAIMED_PERCENTILES = (50, 90, 95, 99)


def recognise(content: Content) -> bool:
    """Objects, one or several, each with the keys that every version of the tool writes."""
    return bool(content.documents) and all(is_result(each.value) for each in content.documents)


def is_result(value: Json) -> bool:
    """Whether a JSON value is one result of `bench serve`, latencies in milliseconds."""
    return (
        isinstance(value, dict)
        and value.keys() >= _ALWAYS
        and not value.keys() & _SGLANG
        and any(map(_LATENCY_KEY.fullmatch, value))
    )


def read(content: Content) -> Reading:
    """One row a run. `content` holds objects, or one array of them."""
    found: list[tuple[int, Keys, dict[str, Json]]] = []
    for index, document in enumerate(content.documents):
        value = document.value
        runs: list[tuple[Keys, Json]] = [((), value)]
        if isinstance(value, list):
            runs = [((at,), each) for at, each in enumerate(value)]
        found += [(index, keys, each) for keys, each in runs if isinstance(each, dict)]
    rows = [
        _read_run(RowDraft(content, index, keys, run, f"run {number}" if len(found) > 1 else None))
        for number, (index, keys, run) in enumerate(found, start=1)
    ]
    return Reading(tuple(rows))


def _read_run(draft: RowDraft) -> Row:
    single = _SingleRequests(draft)
    requests = _read_requests(draft, single)
    _read_tokens(draft, single)
    _read_throughput(draft)
    _read_latency(draft, single, requests)
    _read_speculation(draft)
    _refuse_impossible_latency(draft)
    not_stated = _read_envelope(draft, single, requests)
    _read_other_facts(draft)
    return draft.finish(not_stated, requests)


class _SingleRequests:
    """The entries of single requests that `--save-detailed` keeps: successful ones only.

    An array that is absent, or whose entries can't be told apart by success, is None.
    """

    def __init__(self, draft: RowDraft) -> None:
        self._draft = draft
        self.completed: int | None = None
        self.failed: int | None = None
        arrays = {
            name: entries
            for name in ("ttfts", "itls", "output_lens", "input_lens", "errors")
            if isinstance(entries := draft.get(name), list) and entries
        }
        self._succeeded = self._which_succeeded(arrays)
        self.ttfts = self._numbers("ttfts", arrays.get("ttfts"))
        self.output_lens = self._numbers("output_lens", arrays.get("output_lens"))
        self.input_lens = self._numbers("input_lens", arrays.get("input_lens"))
        self.itls = self._gaps(arrays.get("itls"))

    def _which_succeeded(self, arrays: dict[str, list[Json]]) -> list[bool] | None:
        lengths = {len(entries) for entries in arrays.values()}
        if not lengths:
            return None
        if len(lengths) > 1:
            self._draft.find(
                IMPOSSIBLE,
                f"the arrays of single requests differ in length: {', '.join(sorted(arrays))}",
                f"nothing is recomputed from them; {UNTOUCHED}",
                sorted(arrays)[0],
            )
            return None
        errors = arrays.get("errors")
        if errors is not None:
            succeeded = [error is None or error == "" for error in errors]
            self.completed = sum(succeeded)
            self.failed = len(succeeded) - self.completed
            return succeeded
        entries = lengths.pop()
        return [True] * entries if entries == self._draft.get("completed") else None

    def _numbers(self, name: str, entries: list[Json] | None) -> list[int | Decimal] | None:
        if entries is None or self._succeeded is None:
            return None
        kept = [entry for entry, ok in zip(entries, self._succeeded, strict=True) if ok]
        return self._all_numbers(name, kept)

    def _gaps(self, entries: list[Json] | None) -> list[int | Decimal] | None:
        if entries is None or self._succeeded is None:
            return None
        pooled: list[Json] = []
        for entry, ok in zip(entries, self._succeeded, strict=True):
            if ok:
                pooled += entry if isinstance(entry, list) else [entry]
        return self._all_numbers("itls", pooled)

    def _all_numbers(self, name: str, entries: list[Json]) -> list[int | Decimal] | None:
        numbers = [
            entry
            for entry in entries
            if isinstance(entry, int | Decimal) and not isinstance(entry, bool) and entry >= 0
        ]
        if len(numbers) == len(entries):
            return numbers
        self._draft.find(
            IMPOSSIBLE,
            f"{name} holds {len(entries) - len(numbers)} entries that are no number or negative",
            f"nothing is recomputed from it; {UNTOUCHED}",
            name,
        )
        return None


def _read_requests(draft: RowDraft, single: _SingleRequests) -> Requests:
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


def _read_tokens(draft: RowDraft, single: _SingleRequests) -> None:
    for name, key, lengths in (
        ("tokens.input.total", "total_input_tokens", single.input_lens),
        ("tokens.output.total", "total_output_tokens", single.output_lens),
    ):
        if lengths:
            draft.recompute(name, "tokens", Values(lengths).total, key, note=_FROM_ARRAYS)
        else:
            draft.report(name, "tokens", key)


def _read_throughput(draft: RowDraft) -> None:
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
            "total_token_throughput",
        )  # fmt: skip


def _read_latency(draft: RowDraft, single: _SingleRequests, requests: Requests) -> None:
    if not requests.completed:
        return
    by_latency: dict[str, list[tuple[str, str]]] = {latency: [] for latency in _LATENCIES}
    for key in draft.record:
        if match := _LATENCY_KEY.fullmatch(key):
            by_latency[match["latency"]].append((match["statistic"], key))
    for latency, statistics in by_latency.items():
        if not statistics:
            continue
        name = _LATENCIES[latency]
        entries = {"ttft": single.ttfts, "itl": single.itls}.get(latency)
        values = Values(entries) if entries else None
        if _is_zero_throughout(draft, statistics, values):
            draft.find(
                NOT_MEASURED,
                f"every {latency.upper()} is printed as 0: it was not measured",
                "there is no figure for it; requests that fail, that return one token or that are "
                "not streamed leave none",
                statistics[0][1],
                severity="warning",
            )
            continue
        _note_samples(draft, single, requests.completed, latency, values)
        for statistic, key in statistics:
            _read_statistic(draft, f"{name}.{_canonical(statistic)}", key, statistic, values)
        if values is not None:
            _add_percentiles(draft, name, values)


def _add_percentiles(draft: RowDraft, name: str, values: Values) -> None:
    """The percentiles that people claim, where the file has the requests but not the figure."""
    for percent in _CLAIMED_PERCENTILES:
        if draft.value(f"{name}.p{percent}") is None:
            value = values.percentile(Fraction(percent)) * 1000
            draft.recompute(f"{name}.p{percent}", "ms", value, note=_FROM_ARRAYS)


def _is_zero_throughout(
    draft: RowDraft, statistics: list[tuple[str, str]], values: Values | None
) -> bool:
    if values is not None:
        return values.largest == 0
    centre = [key for statistic, key in statistics if statistic == "mean"]
    keys = centre or [key for statistic, key in statistics if statistic != "std"]
    return bool(keys) and all(draft.get(key) == 0 for key in keys)


def _canonical(statistic: str) -> str:
    return {"median": "p50", "p100": "max"}.get(statistic, statistic)


def _read_statistic(
    draft: RowDraft, name: str, key: str, statistic: str, values: Values | None
) -> None:
    if values is None:
        note = _TPOT_NOTE if name.startswith("latency.tpot") else None
        draft.report(name, "ms", key, note=note)
        return
    if statistic == "mean":
        value = values.mean
    elif statistic == "std":
        value = values.deviation(ddof=0)
    else:
        percent = 50 if statistic == "median" else Fraction(statistic[1:])
        value = values.percentile(Fraction(percent))
    draft.recompute(name, "ms", value * 1000, key, magnitude=values.mean * 1000)


def _note_samples(
    draft: RowDraft, single: _SingleRequests, completed: int, latency: str, values: Values | None
) -> None:
    name = _LATENCIES[latency]
    if values is not None:
        draft.samples[name] = len(values)
    elif latency == "tpot" and single.output_lens is not None:
        draft.samples[name] = sum(length > 1 for length in single.output_lens)
    elif latency != "itl":
        draft.samples[name] = completed
    if latency == "itl" and values is not None and single.output_lens is not None:
        expected = sum(length - 1 for length in single.output_lens if length > 0)
        if len(values) < expected:
            draft.stated["itl"] = (
                f"between chunks: {len(values):,} gaps for {int(expected):,} tokens after the first"
            )


def _read_speculation(draft: RowDraft) -> None:
    drafts = draft.count("spec_decode_num_drafts")
    drafted = draft.count("spec_decode_draft_tokens")
    accepted = draft.count("spec_decode_accepted_tokens")
    if accepted is not None and drafted:
        draft.recompute(
            "speculation.acceptance", "%", Fraction(100 * accepted, drafted),
            "spec_decode_acceptance_rate",
        )  # fmt: skip
    else:
        draft.report("speculation.acceptance", "%", "spec_decode_acceptance_rate")
    if accepted is not None and drafts:
        draft.recompute(
            "speculation.length", "tokens", 1 + Fraction(accepted, drafts),
            "spec_decode_acceptance_length",
        )  # fmt: skip
    else:
        draft.report("speculation.length", "tokens", "spec_decode_acceptance_length")


def _refuse_impossible_latency(draft: RowDraft) -> None:
    duration = draft.value("duration")
    for latency, name in _LATENCIES.items():
        draft.refuse_far_median(name, f"mean_{latency}_ms")
        percentiles = sorted(
            (Fraction(_canonical(match["statistic"])[1:]), value, key)
            for key in draft.record
            if (match := _LATENCY_KEY.fullmatch(key))
            and match["latency"] == latency
            and match["statistic"] not in ("mean", "std", "p100")
            and (value := draft.value(f"{name}.{_canonical(match['statistic'])}")) is not None
        )
        for (_, low, low_key), (_, high, high_key) in pairwise(percentiles):
            if low > high * (1 + TOLERANCE):
                draft.find(IMPOSSIBLE, f"{low_key} is greater than {high_key}", UNTOUCHED, high_key)
        if (
            percentiles
            and draft.value(f"{name}.std") == 0
            and percentiles[0][1] != percentiles[-1][1]
        ):
            draft.find(
                IMPOSSIBLE,
                f"std_{latency}_ms is 0, but {percentiles[0][2]} and {percentiles[-1][2]} differ",
                UNTOUCHED,
                f"std_{latency}_ms",
            )
        if duration and percentiles and percentiles[-1][1] > 1000 * duration * (1 + TOLERANCE):
            draft.find(
                IMPOSSIBLE,
                f"{percentiles[-1][2]} is longer than the whole run of {format_number(duration)} s",
                UNTOUCHED,
                percentiles[-1][2],
            )
    _refuse_more_at_once_than_allowed(draft, duration)


def _refuse_more_at_once_than_allowed(draft: RowDraft, duration: Fraction | None) -> None:
    """Little's law: time that requests spent open, over the run's, is how many were open."""
    limit = draft.number("max_concurrency")
    completed = draft.value("requests.completed")
    whole = draft.value("latency.e2e.mean")
    if not limit or not duration or completed is None or whole is None:
        return
    at_once = completed * whole / 1000 / duration
    if at_once > Fraction(limit) * (1 + TOLERANCE):
        draft.find(
            IMPOSSIBLE,
            f"mean_e2el_ms and duration need {format_number(at_once)} requests open at once, "
            f"but max_concurrency is {limit}",
            UNTOUCHED,
            "mean_e2el_ms",
        )


def _read_envelope(draft: RowDraft, single: _SingleRequests, requests: Requests) -> tuple[str, ...]:
    not_stated = list(_NEVER_STATED)
    model = draft.text("model_id")
    if model is not None:
        draft.envelope["model"] = model
    else:
        not_stated.insert(0, "model")
    _read_load(draft, not_stated)
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
    return tuple(not_stated)


def _read_load(draft: RowDraft, not_stated: list[str]) -> None:
    limit = draft.count("max_concurrency")
    if limit:
        draft.envelope["concurrency"] = limit
    elif "max_concurrency" in draft.record:
        draft.stated["concurrency"] = "no limit was set"
    else:
        not_stated.append("concurrency")
    if draft.get("request_rate") in ("inf", "Infinity"):
        draft.stated["request_rate"] = "unlimited: the client never waits before it sends"
        return
    rate = draft.number("request_rate")
    if rate is None or rate == 0:
        not_stated.append("request_rate")
    elif rate >= _UNLIMITED_RATE:
        draft.stated["request_rate"] = f"{format_number(Fraction(rate))}/s: as good as unlimited"
    else:
        draft.envelope["request_rate"] = Fraction(rate)


def _read_other_facts(draft: RowDraft) -> None:
    for key, value in draft.record.items():
        if len(draft.stated) >= _MOST_STATED:
            return
        if _READ_ELSEWHERE.fullmatch(key) or _LATENCY_KEY.fullmatch(key):
            continue
        if isinstance(value, bool):
            draft.stated[_RENAMED.get(key, key)] = "yes" if value else "no"
        elif isinstance(value, int | Decimal | str) and value != "":
            text = str(value)
            draft.stated[_RENAMED.get(key, key)] = (
                text if len(text) <= _LONGEST_STATED else text[: _LONGEST_STATED - 1] + "…"
            )
