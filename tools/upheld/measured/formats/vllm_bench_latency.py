"""vLLM `bench latency`, formerly `benchmark_latency.py`: how long one batch takes, again and again.

`latencies` are seconds, one a repetition after a warm-up; mean and percentiles are NumPy's, the
deviation, which only newer versions write, that of a population (vllm/benchmarks/latency.py,
`main`). Model, lengths and size of the batch are options, and the file repeats none of them.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured.content import Content
from upheld.measured.distribution import Distribution
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Reading, Row
from upheld.measured.recompute import Values

NAME = "vllm-bench-latency"
TOOL = "vLLM bench latency"
TITLE = "vLLM bench latency: times of one batch, JSON"

_NAME = "latency.e2e"
_NOT_STATED = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "concurrency", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """One object with exactly the keys that some version of the tool writes."""
    if len(content.documents) != 1:
        return False
    result = content.documents[0].value
    return (
        isinstance(result, dict)
        and {"avg_latency", "latencies", "percentiles"} <= result.keys()
        and result.keys() <= {"avg_latency", "std_latency", "latencies", "percentiles"}
        and isinstance(percentiles := result["percentiles"], dict)
        and all(key.isdigit() and len(key) <= 2 for key in percentiles)
    )


def read(content: Content) -> Reading:
    """The one run that the file holds."""
    result = content.documents[0].value
    assert isinstance(result, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), result)
    draft.envelope["engine"] = "vLLM"
    draft.stated["latency"] = "of a whole batch; how many requests that is the file does not say"
    return Reading((_read(draft),))


def _read(draft: RowDraft) -> Row:
    keys: dict[str, Keys] = {"mean": ("avg_latency",)}
    if draft.get("std_latency") is not None:
        keys["std"] = ("std_latency",)
    percentiles = draft.get("percentiles")
    assert isinstance(percentiles, dict), "recognise() saw an object"
    keys |= {f"p{percent}": ("percentiles", percent) for percent in percentiles}
    values = _repetitions(draft)
    distribution = Distribution(_NAME, "s", keys)
    if not distribution.refuse_zero(draft, values):
        if values is None:
            distribution.report(draft)
        else:
            draft.samples[_NAME] = len(values)
            distribution.recompute(draft, values, Fraction(1), "from the single repetitions")
        distribution.refuse_impossible(draft)
    return draft.finish(_NOT_STATED)


def _repetitions(draft: RowDraft) -> Values | None:
    entries: Json = draft.get("latencies")
    numbers = [
        each
        for each in (entries if isinstance(entries, list) else ())
        if isinstance(each, int | Decimal) and not isinstance(each, bool) and each >= 0
    ]
    if numbers and isinstance(entries, list) and len(numbers) == len(entries):
        return Values(numbers)
    draft.find(
        IMPOSSIBLE,
        "latencies holds no number, or entries that are no number or negative",
        f"nothing is recomputed from it; {UNTOUCHED}",
        "latencies",
    )
    return None
