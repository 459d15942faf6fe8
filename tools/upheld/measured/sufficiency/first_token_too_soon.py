"""UPH515: a first token that came sooner than the prompt can have been worked through."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.measured.reading import Row
from upheld.measured.sufficiency.lengths import mean_length
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.records.units import format_number

_LONG_PROMPT = 1000


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where a prompt of 1,000 tokens took less time than any later token, by the medians.

    Every step of a model reads all weights, and the step that gives the first token has the
    prompt to work through besides. Silent where the envelope states that prefix caching is on,
    since that is then part of what was measured, and where the lengths or medians are not known.
    """
    first = row.value("latency.ttft.p50", "ms")
    later = row.value("latency.tpot.p50", "ms")
    prompt = mean_length(row, "input_tokens")
    if first is None or later is None or prompt is None:
        return
    if prompt < _LONG_PROMPT or first >= later or row.envelope.get("prefix_caching") is True:
        return
    yield Shortcoming(
        "UPH515",
        f"the median first token came after {format_number(first, 4)} ms, though a prompt of "
        f"{format_number(prompt, 4)} tokens comes before it and each later token took "
        f"{format_number(later, 4)} ms: the prompt was in a cache, or the first chunk is no token",
        "send prompts that were not sent before and empty the cache between runs, or state "
        "prefix_caching: true",
        concerns=("latency.ttft", "latency.e2e", "throughput."),
    )
