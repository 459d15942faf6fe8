"""What a key's name says of the number under it, in the words that benchmark scripts use.

A name is a hint and no definition: what it leaves open is told, and no figure is made of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TIME_UNITS = {
    "ms": "ms", "msec": "ms", "msecs": "ms", "millis": "ms", "milliseconds": "ms",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "us": "us", "usec": "us", "microseconds": "us", "ns": "ns", "nanoseconds": "ns",
}  # fmt: skip
_SECOND = {"s", "sec", "secs", "second", "seconds"}
_STATISTICS = {
    "mean": "mean", "avg": "mean", "average": "mean", "median": "p50", "min": "min", "max": "max",
    "std": "std", "stddev": "std", "stdev": "std",
}  # fmt: skip
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)")
_LATENCIES = (
    ({"ttft"}, "latency.ttft", ""),
    ({"first", "token"}, "latency.ttft", ""),
    ({"tpot"}, "latency.tpot", ""),
    ({"per", "output", "token"}, "latency.tpot", ""),
    ({"itl"}, "latency.itl", ""),
    ({"inter", "token"}, "latency.itl", ""),
    ({"e2e"}, "latency.e2e", ""),
    ({"e2el"}, "latency.e2e", ""),
    ({"latency"}, "latency.e2e", "taken as the time of a whole request"),
    ({"response", "time"}, "latency.e2e", "taken as the time of a whole request"),
)
_WHOLE_TIME = ({"duration"}, {"elapsed"}, {"wall"}, {"total", "time"}, {"total", "s"})
_TOKENS = {"token", "tokens", "tok", "toks"}
_OUTPUT = {"output", "out", "completion", "generated", "generation", "gen", "new", "decode"}
_INPUT = {"input", "in", "prompt", "prefill"}
_COMPLETED = {
    "completed", "completed_requests", "successful_requests", "successful", "num_completed",
    "succeeded", "n_ok", "num_ok", "success_count", "successes",
}  # fmt: skip
_FAILED = {
    "failed", "failed_requests", "failures", "num_failed", "errors", "error_count", "num_errors",
    "n_failed", "n_errors",
}  # fmt: skip
_ATTEMPTED = {
    "total_requests", "num_requests", "n_requests", "n_req", "num_prompts", "requests",
    "request_count", "requests_sent",
}  # fmt: skip
AXES_NAMES = {
    "model": "model", "model_id": "model", "model_name": "model",
    "model_revision": "model_revision", "engine": "engine", "engine_name": "engine",
    "engine_version": "engine_version",
    "kv_cache_dtype": "kv_cache_dtype", "gpu": "device", "gpu_name": "device",
    "gpu_model": "device", "gpu_type": "device", "gpu_count": "device_count",
    "num_gpus": "device_count", "n_gpus": "device_count", "total_gpus": "device_count",
    "tp": "tensor_parallel", "tp_size": "tensor_parallel",
    "tensor_parallel_size": "tensor_parallel", "tensor_parallel": "tensor_parallel",
    "max_model_len": "max_model_len", "isl": "input_tokens", "input_len": "input_tokens",
    "osl": "output_tokens", "output_len": "output_tokens", "concurrency": "concurrency",
    "max_concurrency": "concurrency", "num_concurrent": "concurrency",
    "request_rate": "request_rate", "qps_target": "request_rate", "target_qps": "request_rate",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name says: a metric with its unit; `guess` tells what was taken for granted."""

    metric: str
    unit: str
    guess: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A name that looks like a figure's and leaves open which."""

    why: str


def words_of(keys: tuple[str, ...]) -> list[str]:
    """The words of a path of keys: `latency.p99Ms` has latency, p99 and ms."""
    apart = (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key) for key in keys)
    return [word.lower() for key in apart for word in re.split(r"[^A-Za-z0-9.]+", key) if word]


def axis_of(key: str) -> str | None:
    """The axis of the envelope that a key names."""
    return AXES_NAMES.get("_".join(words_of((key,))))


def count_of(key: str) -> str | None:
    """Which count of requests a key names."""
    name = "_".join(words_of((key,)))
    if name in _COMPLETED:
        return "completed"
    if name in _FAILED:
        return "failed"
    return "attempted" if name in _ATTEMPTED else None


def of_single_request(keys: tuple[str, ...]) -> Meaning | Unclear | None:
    """What a key of the record of one request says."""
    words = words_of(keys)
    if _statistic(words) is not None or _rate(words) is not None:
        return None
    there = set(words)
    if there & _TOKENS and not there & {"per", "time", "first", "inter", "reasoning", "answer"}:
        if there & _OUTPUT:
            return Meaning("tokens.output.total", "tokens")
        return Meaning("tokens.input.total", "tokens") if there & _INPUT else None
    return _latency(words, "") or _whole_time(words, "latency.e2e")


def of_row(keys: tuple[str, ...]) -> Meaning | Unclear | None:
    """What a key of a summary says."""
    words = words_of(keys)
    there = set(words)
    rate = _rate(words)
    if rate is not None:
        return rate
    if "throughput" in there or "bandwidth" in there:
        return Unclear("its name says no unit")
    if "total" in there and there & _TOKENS and not there & {"reasoning", "per"}:
        if there & _OUTPUT:
            return Meaning("tokens.output.total", "tokens")
        if there & _INPUT:
            return Meaning("tokens.input.total", "tokens")
    statistic = _statistic(words)
    latency = _latency(words, statistic or "")
    if isinstance(latency, Meaning) and statistic is None:
        return Unclear("its name says no statistic, such as mean or p99")
    return latency or (None if statistic else _whole_time(words, "duration"))


def _statistic(words: list[str]) -> str | None:
    for word in words:
        if _PERCENTILE.fullmatch(word):
            return word
    return next((_STATISTICS[word] for word in words if word in _STATISTICS), None)


def _unit(words: list[str]) -> str | None:
    return next((_TIME_UNITS[word] for word in reversed(words) if word in _TIME_UNITS), None)


def _latency(words: list[str], statistic: str) -> Meaning | Unclear | None:
    there = set(words)
    found = next((each for each in _LATENCIES if each[0] <= there), None)
    if found is None:
        return None
    _, metric, guess = found
    if there & {"spread", "answer", "network"} or (metric == "latency.e2e" and "per" in there):
        return Unclear("which time it is stays open")
    unit = _unit(words)
    if unit is None:
        return Unclear("its name says no unit: ms or s")
    return Meaning(f"{metric}.{statistic}" if statistic else metric, unit, guess)


def _whole_time(words: list[str], metric: str) -> Meaning | Unclear | None:
    if not any(wanted <= set(words) for wanted in _WHOLE_TIME):
        return None
    unit = _unit(words)
    if unit is None:
        return Unclear("its name says no unit: ms or s")
    what = "of a whole request" if metric == "latency.e2e" else "of the whole run"
    return Meaning(metric, unit, f"taken as the time {what}")


def _rate(words: list[str]) -> Meaning | Unclear | None:
    there = set(words)
    if there & {"time", "first", "latency"}:
        return None
    tokens = there & _TOKENS or there & {"tps"}
    requests = there & {"req", "requests", "request", "qps", "rps"}
    each_second = there & {"tps", "qps", "rps"} or ("per" in there and there & _SECOND)
    if words[-2:-1] and words[-2] in {*_TOKENS, "req", "requests"} and words[-1] in _SECOND:
        each_second = {words[-1]}
    if there & {"qpm", "rpm"} or ("per" in there and there & {"minute", "min"}):
        return Unclear("it is a minute's; rates are of a second")
    if not each_second or not (tokens or requests):
        return None
    if there & {"target", "limit"}:
        return None
    if there & {"user", "stream", "gpu"} or (tokens and there & {"request", "requests", "req"}):
        return Unclear("a rate of one request or device is none of the whole run")
    if _statistic(words):
        return Unclear("a statistic of rates is no rate of the whole run")
    if not tokens:
        return Meaning("throughput.requests", "requests/s")
    if "total" in there:
        return Meaning("throughput.total_tokens", "tokens/s")
    if there & _INPUT:
        return Meaning("throughput.input_tokens", "tokens/s")
    guess = "" if there & _OUTPUT else "taken as output tokens of the whole run"
    return Meaning("throughput.output_tokens", "tokens/s", guess)
