"""SGLang `bench_one_batch` and `bench_one_batch_server`: one batch, timed once, a line each.

The first runs the model alone, without server or scheduler: the prompt's pass gives the first
token of each sequence, and every later step is one token of each (sglang/benchmark/one_batch.py
of 0.5.23, `latency_test_run_once`). The second asks a server and rounds what it writes; until
2025 its output rate was over the whole time, since then over what follows the last first token
(one_batch_server.py, `run_one_case`), whose time a file with `last_gen_throughput` may leave out.
A rate of 0 or below was not read.
"""

from __future__ import annotations

from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.printed_block import PrintedDraft
from upheld.measured.reading import Reading, Row

NAME = "sglang-bench-one-batch"
TOOL = "SGLang bench_one_batch"
TITLE = "SGLang bench_one_batch: one batch timed once, JSON Lines"

_BATCH = {"run_name", "batch_size", "input_len", "output_len", "overall_throughput"}
_ALONE = _BATCH | {"prefill_latency", "prefill_throughput", "total_latency"}
_SERVER = _BATCH | {"latency", "output_throughput"}
_NOT_STATED = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def recognise(content: Content) -> bool:
    """Objects, one or several, each with the keys that one of the two tools always writes."""
    return bool(content.documents) and all(_is_result(each.value) for each in content.documents)


def _is_result(value: Json) -> bool:
    return isinstance(value, dict) and (value.keys() >= _ALONE or value.keys() >= _SERVER)


def read(content: Content) -> Reading:
    """One row a line, whose case is its batch."""
    rows: list[Row] = []
    for index, document in enumerate(content.documents):
        record = document.value
        assert isinstance(record, dict), "recognise() saw objects"
        case = _case(record)
        if record.keys() >= _ALONE:
            rows.append(_read_alone(RowDraft(content, index, (), record, case)))
        else:
            rows.append(_read_server(PrintedDraft(content, record, case, index)))
    return Reading(tuple(rows))


def _case(record: dict[str, Json]) -> str | None:
    sizes = [record[key] for key in ("batch_size", "input_len", "output_len")]
    if not all(isinstance(size, int) for size in sizes):
        return None
    return "batch {}, {} in, {} out".format(*sizes)


def _read_batch(draft: RowDraft) -> tuple[int, int, int] | None:
    """Size of the batch, tokens in and out of each sequence, if the line has all three."""
    batch, inputs, outputs = (draft.count(key) for key in ("batch_size", "input_len", "output_len"))
    for axis, value in (
        ("concurrency", batch), ("input_tokens", inputs), ("output_tokens", outputs),
    ):  # fmt: skip
        if value:
            draft.envelope[axis] = value
    if (name := draft.text("run_name")) is not None:
        draft.stated["run_name"] = name
    draft.stated["times"] = "each was taken once, of the whole batch"
    return (batch, inputs, outputs) if batch and inputs and outputs else None


def _read_alone(draft: RowDraft) -> Row:
    draft.envelope["engine"] = "SGLang"
    draft.stated["server"] = "none: the model runs alone, without a scheduler"
    sizes = _read_batch(draft)
    draft.report("latency.ttft.mean", "s", "prefill_latency", note="the pass over the prompts")
    draft.report("latency.tpot.p50", "s", "median_decode_latency", note="the median step")
    draft.report("latency.e2e.mean", "s", "total_latency")
    if sizes is not None:
        batch, inputs, outputs = sizes
        draft.samples["latency.tpot"] = outputs - 1
        for name, tokens, time, key in (
            ("throughput.prompt_tokens", batch * inputs, "latency.ttft.mean", "prefill_throughput"),
            ("throughput.generation_tokens", batch, "latency.tpot.p50", "median_decode_throughput"),
            (
                "throughput.total_tokens", batch * (inputs + outputs), "latency.e2e.mean",
                "overall_throughput",
            ),
        ):  # fmt: skip
            if seconds := draft.value(time):
                draft.recompute(name, "tokens/s", tokens / seconds, key)
    return _finish(draft)


def _read_server(draft: PrintedDraft) -> Row:
    sizes = _read_batch(draft)
    draft.report("latency.e2e.mean", "s", "latency")
    draft.report("latency.ttft.max", "s", "last_ttft")
    newer = "last_ttft" in draft.record or "last_gen_throughput" in draft.record
    output = "throughput.generation_tokens" if newer else "throughput.output_tokens"
    draft.report(output, "tokens/s", "output_throughput")
    draft.report("throughput.prompt_tokens", "tokens/s", "input_throughput")
    draft.report("throughput.total_tokens", "tokens/s", "overall_throughput")
    length = draft.get("acc_length")
    if not isinstance(length, int) or length > 0:
        draft.report("speculation.length", "tokens", "acc_length")
    whole, first = draft.bounds("latency.e2e.mean"), draft.bounds("latency.ttft.max")
    if sizes is not None and whole is not None:
        batch, inputs, asked = sizes
        generated = draft.count("total_output_tokens") or batch * asked
        draft.refuse_other_ratio(
            "throughput.total_tokens", Fraction(batch * inputs + generated), whole,
            "overall_throughput",
        )  # fmt: skip
        if not newer:
            draft.refuse_other_ratio(output, Fraction(generated), whole, "output_throughput")
        if first is not None:
            draft.refuse_other_ratio(
                "throughput.prompt_tokens", Fraction(batch * inputs), first, "input_throughput"
            )
        if generated != batch * asked:
            draft.stated["output_tokens_generated"] = f"{generated:,} of {batch * asked:,}"
    if (rate := draft.number("cache_hit_rate")) is not None:
        draft.stated["cache_hit_rate"] = str(rate)
    return _finish(draft, "engine")


def _finish(draft: RowDraft, *open_axes: str) -> Row:
    for name in (
        "latency.ttft", "latency.e2e", "throughput.prompt_tokens", "throughput.total_tokens",
        "throughput.output_tokens", "throughput.generation_tokens",
    ):  # fmt: skip
        draft.samples.setdefault(name, 1)
    axes = ("concurrency", "input_tokens", "output_tokens")
    missing = tuple(axis for axis in axes if axis not in draft.envelope)
    return draft.finish((*open_axes, *_NOT_STATED, *missing))
