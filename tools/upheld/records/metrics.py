"""The metrics that a claim may be about, and which bases may carry each.

The table is what keeps arithmetic apart from measurement: a speed, a cost or a completion rate
names no arithmetic basis, so no claim about one can ever be upheld by a formula.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from upheld.records.shorten import shorten

Basis = Literal["arithmetic", "control", "tested", "measured", "cited", "assumed", "untested"]
BASES: tuple[Basis, ...] = (
    "arithmetic", "control", "tested", "measured", "cited", "assumed", "untested",
)  # fmt: skip

# A claim may always be declared open or taken as given; what varies is what can show it.
OPEN: frozenset[Basis] = frozenset({"assumed", "untested"})

Direction = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What is claimed.

    `dimension` is that of units.py, or None for a property that holds or does not.
    `distribution` says that one run gives many values, so a claim must name a statistic.
    """

    name: str
    title: str
    dimension: str | None
    unit: str | None
    better: Direction
    shown_by: frozenset[Basis]
    distribution: bool = False

    @property
    def bases(self) -> frozenset[Basis]:
        """Every basis that a claim about this metric may name."""
        return self.shown_by | OPEN


_STATISTIC = re.compile(r"(mean|min|max|std|p[0-9]{1,2}(?:\.[0-9]{1,3})?)")


def _table() -> dict[str, Metric]:
    computed: frozenset[Basis] = frozenset({"arithmetic", "measured", "cited"})
    by_policy: frozenset[Basis] = frozenset({"control", "tested"})
    by_hardware: frozenset[Basis] = frozenset({"measured", "cited"})
    lower: Direction = "lower"
    higher: Direction = "higher"
    neither: Direction = "neither"
    rows: list[tuple[str, str, str | None, str | None, Direction, frozenset[Basis], bool]] = [
        ("memory.weights", "Weight memory of one device", "memory", "GiB", lower, computed, False),
        ("memory.kv_cache", "KV cache memory of one device", "memory", "GiB", lower, computed, False),
        ("memory.kv_cache_per_token", "KV cache memory of one token on one device", "memory", "B", lower, computed, False),
        ("memory.runtime", "Runtime memory of one device: activations, graphs, context", "memory", "GiB", lower, by_hardware, False),
        ("memory.device_total", "All memory used on one device", "memory", "GiB", lower, computed, False),
        ("capacity.tokens", "Tokens that the KV cache holds", "tokens", "tokens", higher, computed, False),
        ("capacity.sequences", "Sequences of full context that the KV cache holds", "sequences", "sequences", higher, computed, False),
        ("capacity.devices", "Devices that one replica needs", "devices", "devices", lower, computed, False),
        ("budget.kv_tokens", "Tokens that the policy admits at once, as a share of the KV tokens", "ratio", "ratio", lower, frozenset({"control"}), False),
        ("budget.slots", "Requests that the policy admits at once on one replica", "requests", "requests", lower, frozenset({"control"}), False),
        ("budget.drain_window", "Seconds that are left to finish a request once a replica drains", "time", "s", higher, frozenset({"control"}), False),
        ("safety.ready_before_routing", "Only a ready, approved model and engine receives requests", None, None, neither, by_policy, False),
        ("safety.no_work_while_draining", "A draining replica receives no new request", None, None, neither, by_policy, False),
        ("safety.no_duplicate_effect", "One request never has two effects", None, None, neither, by_policy, False),
        ("safety.approved_fallback", "Another provider is used only for approved data and behaviour", None, None, neither, by_policy, False),
        ("safety.no_erased_outcome", "An unknown outcome stays until it is reconciled", None, None, neither, by_policy, False),
        ("safety.no_replay_after_output", "Nothing is replayed once output was shown", None, None, neither, by_policy, False),
        ("safety.bounded_queue", "The queue is bounded", None, None, neither, by_policy, False),
        ("safety.bounded_request", "Context and output of a request are bounded", None, None, neither, by_policy, False),
        ("safety.bounded_attempts", "Attempts and provider hops are bounded", None, None, neither, by_policy, False),
        ("safety.budget_reserved", "Tokens are reserved before a request is admitted", None, None, neither, by_policy, False),
        ("privacy.network", "Where prompts and answers travel on the network", None, None, neither, frozenset({"measured", "tested", "cited"}), False),
        ("tokenisation.count", "Tokens that the gateway counts against those that the engine counts", "ratio", "ratio", neither, frozenset({"measured", "tested"}), False),
        ("bandwidth.bus.avg", "Bus bandwidth of a collective, the mean over sizes", "bandwidth", "GB/s", higher, by_hardware, False),
        ("bandwidth.bus.max", "Bus bandwidth of a collective at its best size", "bandwidth", "GB/s", higher, by_hardware, False),
        ("bandwidth.sum", "Bandwidth of copies, the sum over pairs of devices", "bandwidth", "GB/s", higher, by_hardware, False),
        ("device.memory_used", "Memory in use on a device, whoever uses it", "memory", "MiB", lower, frozenset({"measured"}), True),
        ("device.memory_total", "Memory that a device has", "memory", "MiB", higher, by_hardware, True),
        ("device.utilisation", "Share of time in which a device ran any kernel", "ratio", "%", neither, frozenset({"measured"}), True),
        ("device.power", "Power that a device draws", "power", "W", lower, frozenset({"measured"}), True),
        ("device.power_limit", "Power that a device may draw", "power", "W", neither, by_hardware, True),
        ("device.temperature", "Temperature of a device", "temperature", "°C", lower, frozenset({"measured"}), True),
        ("device.clock", "Clock of the multiprocessors of a device", "frequency", "MHz", higher, frozenset({"measured"}), True),
        ("latency", "Time of whatever a load tool counts as a request", "time", "ms", lower, by_hardware, True),
        ("latency.ttft", "Time to first token", "time", "ms", lower, by_hardware, True),
        ("latency.tpot", "Time per output token after the first", "time", "ms", lower, by_hardware, True),
        ("latency.itl", "Time between two chunks of output", "time", "ms", lower, by_hardware, True),
        ("latency.e2e", "Time from request to last token", "time", "ms", lower, by_hardware, True),
        ("latency.call", "Time of one call of a model that does not generate", "time", "s", lower, by_hardware, True),
        ("latency.decode", "Time to decode all tokens after the first", "time", "s", lower, by_hardware, True),
        ("latency.forward", "Time of one forward pass", "time", "s", lower, by_hardware, True),
        ("latency.generate", "Time to generate a whole answer", "time", "s", lower, by_hardware, True),
        ("latency.load", "Time to load the model", "time", "s", lower, by_hardware, True),
        ("latency.per_token", "Time of one step of decoding, the first token's among them", "time", "s", lower, by_hardware, True),
        ("latency.prefill", "Time to process the prompt", "time", "s", lower, by_hardware, True),
        ("interactivity", "Output tokens in a second that one user sees", "token rate per user", "tokens/s/user", higher, by_hardware, True),
        ("throughput", "Tokens in a second of a test, whatever it processes", "token rate", "tokens/s", higher, by_hardware, False),
        ("stddev", "Standard deviation of a test's throughput over its repetitions", "token rate", "tokens/s", lower, by_hardware, False),
        ("throughput.requests", "Requests completed in a second", "request rate", "requests/s", higher, by_hardware, False),
        ("throughput.output_tokens", "Output tokens in a second", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.input_tokens", "Input tokens in a second", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.total_tokens", "Input and output tokens in a second", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.requests_per_min", "Requests completed in a minute", "request rate", "requests/min", higher, by_hardware, False),
        ("throughput.prompt_tokens", "Prompt tokens processed in a second, nothing generated", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.generation_tokens", "Tokens generated in a second, no prompt processed", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.output_tokens_per_gpu", "Output tokens in a second for each device", "token rate per device", "tokens/s/device", higher, by_hardware, False),
        ("throughput.input_tokens_per_gpu", "Input tokens in a second for each device", "token rate per device", "tokens/s/device", higher, by_hardware, False),
        ("throughput.total_tokens_per_gpu", "Input and output tokens in a second for each device", "token rate per device", "tokens/s/device", higher, by_hardware, False),
        ("throughput.decode", "Tokens in a second of decoding", "token rate", "tokens/s", higher, by_hardware, False),
        ("throughput.forward", "Samples in a second of forward passes", "request rate", "requests/s", higher, by_hardware, False),
        ("throughput.prefill", "Samples in a second of prefill", "request rate", "requests/s", higher, by_hardware, False),
        ("requests.completed", "Requests that completed", "requests", "requests", higher, frozenset({"measured"}), False),
        ("requests.failed", "Requests that failed", "requests", "requests", lower, frozenset({"measured"}), False),
        ("requests.failed_ratio", "Share of requests that failed", "ratio", "ratio", lower, frozenset({"measured"}), False),
        ("requests", "Events that a load tool counts as requests", "count", "count", neither, frozenset({"measured"}), False),
        ("requests.attempted", "Requests that were sent", "requests", "requests", neither, frozenset({"measured"}), False),
        ("requests.recorded", "Requests that the file has an entry for", "requests", "requests", neither, frozenset({"measured"}), False),
        ("concurrency.limit", "Most requests that the client has open at once", "requests", "requests", neither, frozenset({"measured"}), False),
        ("concurrency.mean", "Requests that were open at once, on average", "requests", "requests", neither, frozenset({"measured"}), False),
        ("duration", "Wall time of a run", "time", "s", neither, frozenset({"measured"}), False),
        ("tokens.input.total", "Input tokens of a run", "tokens", "tokens", neither, frozenset({"measured"}), False),
        ("tokens.output.total", "Output tokens of a run", "tokens", "tokens", neither, frozenset({"measured"}), False),
        ("tokens.input", "Input tokens of one request", "tokens", "tokens", neither, frozenset({"measured"}), True),
        ("tokens.output", "Output tokens of one request", "tokens", "tokens", neither, frozenset({"measured"}), True),
        ("speculation.acceptance", "Drafted tokens that were accepted", "ratio", "%", higher, by_hardware, False),
        ("speculation.length", "Tokens accepted for each draft", "tokens", "tokens", higher, by_hardware, False),
        ("tests.total", "Tests of a report", "count", "count", neither, frozenset({"measured"}), False),
        ("tests.passed", "Tests that passed", "count", "count", higher, frozenset({"measured"}), False),
        ("tests.failed", "Tests that failed", "count", "count", lower, frozenset({"measured"}), False),
        ("tests.errors", "Tests that ended in an error", "count", "count", lower, frozenset({"measured"}), False),
        ("tests.skipped", "Tests that were skipped", "count", "count", lower, frozenset({"measured"}), False),
        ("time", "Time that a program or function takes", "time", "s", lower, frozenset({"measured"}), True),
        ("cost.per_million_tokens", "Cost of a million tokens", "money per tokens", "USD/1M tokens", lower, by_hardware, False),
        ("cost.per_hour", "Cost of an hour", "money per time", "USD/h", lower, by_hardware, False),
        ("quality.answers", "Quality of the model's answers", "ratio", "ratio", higher, by_hardware, False),
        ("quality.perplexity", "How far a model is from foreseeing a text", "ratio", "ratio", lower, by_hardware, False),
        ("deployment.works", "The deployment runs as it is described", None, None, neither, frozenset({"measured", "tested"}), False),
        ("project.behaviour", "What a piece of software does", None, None, neither, frozenset({"tested", "cited"}), False),
    ]  # fmt: skip
    return {row[0]: Metric(*row) for row in rows}


METRICS = _table()


class MetricError(ValueError):
    """The metric is not in the table, or it has no such statistic."""


def resolve(name: str) -> tuple[Metric, str | None]:
    """Split `latency.ttft.p99` into its metric and its statistic; `memory.weights` has none.

    Raises:
        MetricError: no such metric or statistic, with the nearest ones named.
    """
    metric = METRICS.get(name)
    if metric is not None:
        return metric, None
    stem, _, statistic = name.rpartition(".")
    # A percentile may hold a point of its own: latency.ttft.p99.9
    if statistic.isdigit() and "." in stem:
        stem, _, whole = stem.rpartition(".")
        statistic = f"{whole}.{statistic}"
    metric = METRICS.get(stem)
    mistyped = not _STATISTIC.fullmatch(statistic) and any(
        known.startswith(f"{stem}.") for known in METRICS
    )
    if metric is None or mistyped:
        from difflib import get_close_matches

        near = get_close_matches(name, METRICS, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise MetricError(f"unknown metric {shorten(name)!r}{hint}")
    if not metric.distribution or not _STATISTIC.fullmatch(statistic):
        known = "mean, min, max, std, p50 … p99.9" if metric.distribution else "none"
        raise MetricError(f"{stem} has no statistic {shorten(statistic)!r}; it has: {known}")
    return metric, statistic
