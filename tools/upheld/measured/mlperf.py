"""What the summary and the detail log of MLPerf LoadGen share.

Latencies are nanoseconds and cover every sample; percentile p of n samples is the
one at index n·p in ascending order, not interpolated (loadgen 6.0.17, `results.cc`,
`PerformanceSummary::ProcessLatencies`). No single latency is in either file, so
nothing can be recomputed. In the Offline scenario one query holds all samples: its latencies end
with the whole batch and say how long the run took.
"""

from __future__ import annotations

from upheld.measured.draft import NOT_MEASURED, RowDraft
from upheld.measured.reading import Requests, Row

AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
    "device", "device_count", "tensor_parallel", "max_model_len", "input_tokens",
    "output_tokens", "concurrency", "prefix_caching", "speculative_decoding",
)  # fmt: skip

OF_A_BATCH = "Offline: from the start of the one query that holds all samples; not a latency"
OF_SAMPLES = "LoadGen's samples, each one request to the system under test"


def finish(draft: RowDraft, scenario: str | None, validity: str | None, samples: int | None) -> Row:
    """The row with what scenario and validity mean for it.

    `samples` is how many were completed, None where the file does not say.
    """
    if validity is not None and validity != "VALID":
        draft.find(
            NOT_MEASURED,
            f"LoadGen says that the result is {validity}",
            "the run broke a rule of its scenario, which the file names; run it again",
        )
    if scenario is not None:
        draft.stated["scenario"] = scenario
    if validity is not None:
        draft.stated["result"] = (
            f"{validity}: the rules of the scenario were kept; accuracy is another run"
            if validity == "VALID"
            else validity
        )
    if samples is not None:
        for name in ("latency.e2e", "latency.ttft", "latency.tpot"):
            draft.samples[name] = samples
    not_stated = list(AXES)
    if "request_rate" not in draft.envelope:
        not_stated.append("request_rate")
    return draft.finish(tuple(not_stated), Requests(samples, None, samples))
