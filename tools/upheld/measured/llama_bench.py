"""llama-bench: one test of llama.cpp, whichever of its output formats it stands in.

A test processes a prompt (`pp512`), generates (`tg128`) or does both (`pp512+tg128`), with one
sequence, on a context of `d` tokens that is there already. Neither tokenising nor sampling is
timed, so a server is slower. Throughput is the mean of each repetition's rate, not the rate of
the mean time; deviations are of a sample; whole nanoseconds are cut off, and the tool's
`stddev_ns` is worked out in whole numbers, so it is not held against the samples
(llama.cpp, tools/llama-bench/llama-bench.cpp, `test`, `avg`, `stdev`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.engine_log import whole
from upheld.measured.reading import Reading, Row
from upheld.measured.recompute import Values
from upheld.records.units import format_number

TOOL = "llama-bench"
ALWAYS = frozenset({"build_commit", "model_filename", "n_prompt", "n_gen", "avg_ns", "avg_ts"})

TOO_FEW = "UPH506"
ENGINE = "llama.cpp"

# A mean over a handful of repetitions that vary more than this is no point estimate.
_STEADY = Fraction(1, 20)
_WIDE = Context(prec=40)
_LAST_DIGIT = Fraction(1, 2 * 10**6)
_WHOLE_NANOSECOND = Fraction(1)

_TEST = re.compile(
    r"(?:pp ?(?P<prompt>\d{1,9}))?\+?(?:tg ?(?P<generated>\d{1,9}))?(?: @ d(?P<depth>\d{1,9}))?"
)
_TYPE = re.compile(r"\S+ \S+ (?:mostly )?(?P<stored>.+)")
_DTYPES = {"F16": "fp16", "f16": "fp16", "BF16": "bf16", "bf16": "bf16", "all F32": "fp32"}
_VARIANTS = {" - Small": "_S", " - Medium": "_M", " - Large": "_L"}

_STATED = (
    "build_commit", "backends", "model_type", "n_depth", "n_batch", "n_ubatch", "n_threads",
    "n_gpu_layers", "split_mode", "flash_attn", "type_k", "type_v", "no_kv_offload", "use_mmap",
    "tensor_split", "tensor_buft_overrides", "n_cpu_moe", "test_time",
)  # fmt: skip
_AXES = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "processor", "operating_system", "prefix_caching", "speculative_decoding",
)  # fmt: skip


def is_test(value: Json) -> bool:
    """Whether a JSON value is one test as llama-bench writes it."""
    return isinstance(value, dict) and value.keys() >= ALWAYS


def read_documents(content: Content) -> Reading:
    """One row a test. `content` holds objects, or one array of them."""
    rows: list[Row] = []
    for index, document in enumerate(content.documents):
        tests = document.value if isinstance(document.value, list) else [document.value]
        for at, test in enumerate(tests):
            keys = (at,) if isinstance(document.value, list) else ()
            if isinstance(test, dict):
                rows.append(read_test(RowDraft(content, index, keys, test)))
    return Reading(tuple(rows), one_version(rows))


def read_test(draft: RowDraft) -> Row:
    """The row of one test, recomputed where it keeps its samples."""
    prompt, generated = draft.count("n_prompt") or 0, draft.count("n_gen") or 0
    depth = draft.count("n_depth") or 0
    draft.case = name_of_test(prompt, generated, depth)
    samples = _samples(draft)
    kind = kind_of_test(prompt, generated)
    if prompt + generated == 0:
        draft.find(IMPOSSIBLE, "the test has neither prompt nor generated tokens", UNTOUCHED)
    elif samples is None:
        _report(draft, kind, prompt + generated)
    else:
        _recompute(draft, kind, prompt + generated, samples)
    read_lengths(draft, prompt, generated)
    _read_envelope(draft)
    return draft.finish(not_stated(draft))


def name_of_test(prompt: int, generated: int, depth: int) -> str:
    """`pp512`, `tg128 @ d4096`, `pp512+tg128`: as llama-bench prints it."""
    parts = [f"pp{prompt}"] * bool(prompt) + [f"tg{generated}"] * bool(generated)
    return "+".join(parts) + (f" @ d{depth}" if depth else "")


def parts_of_test(name: str) -> tuple[int, int, int] | None:
    """Prompt tokens, generated tokens and depth of a printed test, or None where it is none."""
    found = _TEST.fullmatch(name)
    if found is None or not (found["prompt"] or found["generated"]):
        return None
    return int(found["prompt"] or 0), int(found["generated"] or 0), int(found["depth"] or 0)


def kind_of_test(prompt: int, generated: int) -> str | None:
    """The throughput that such a test measures; None where it does both in one."""
    if prompt and generated:
        return None
    return "throughput.prompt_tokens" if prompt else "throughput.generation_tokens"


def read_lengths(draft: RowDraft, prompt: int, generated: int) -> None:
    """What each test has by its nature: its lengths, and one sequence at a time."""
    draft.envelope["engine"] = ENGINE
    draft.envelope["concurrency"] = 1
    if prompt:
        draft.envelope["input_tokens"] = prompt
    if generated:
        draft.envelope["output_tokens"] = generated


def not_stated(draft: RowDraft) -> tuple[str, ...]:
    """The axes that matter and that the row leaves open."""
    return tuple(axis for axis in _AXES if axis not in draft.envelope)


def weight_dtype(model_type: str) -> str | None:
    """`Q4_K_M` of `llama 8B Q4_K - Medium`, None where the text does not say it."""
    found = _TYPE.fullmatch(model_type)
    if found is None:
        return None
    stored = found["stored"].removesuffix(" MoE")
    for ending, short in _VARIANTS.items():
        stored = stored.replace(ending, short)
    return _DTYPES.get(stored, stored)


def kv_cache_dtype(k: str, v: str) -> str | None:
    """The one dtype of both halves of the cache, None where they differ."""
    return _DTYPES.get(k, k) if k == v else None


def read_devices(
    draft: RowDraft, names: Sequence[str], split_mode: Json = None, main: Json = None
) -> None:
    """The accelerators that the tool found, or the main one where the model is not split."""
    if names:
        draft.stated["devices_found"] = ", ".join(names)
    if split_mode == "none":
        at = whole(str(main)) or 0
        names = names[at : at + 1]
    if names:
        draft.envelope["device_count"] = len(names)
    if len(set(names)) == 1:
        draft.envelope["device"] = names[0]


def one_version(rows: Sequence[Row]) -> str | None:
    """The build that all rows are of, None where they differ or none is stated."""
    versions = {row.envelope.get("engine_version") for row in rows}
    version = versions.pop() if len(versions) == 1 else None
    return version if isinstance(version, str) else None


def doubt_spread(draft: RowDraft, mean: Fraction, deviation: Fraction, *keys: str) -> None:
    """A finding where the repetitions vary too much for so few of them to have a mean."""
    if mean and deviation > _STEADY * mean:
        draft.find(
            TOO_FEW,
            f"the repetitions vary by {format_number(100 * deviation / mean, 2)} % of their mean, "
            "so a few of them say little",
            "repeat the test more often (-r), after a warm-up and on a machine that is cool",
            *keys,
            severity="warning",
        )


def _samples(draft: RowDraft) -> list[int | Decimal] | None:
    """The nanoseconds of each repetition, None where the row has none that can be used."""
    listed = draft.get("samples_ns")
    if not isinstance(listed, list) or not listed:
        return None
    numbers = [
        each
        for each in listed
        if isinstance(each, int | Decimal) and not isinstance(each, bool) and each > 0
    ]
    if len(numbers) == len(listed):
        return numbers
    draft.find(
        IMPOSSIBLE,
        f"samples_ns holds {len(listed) - len(numbers)} entries that are no time",
        f"nothing is recomputed from it; {UNTOUCHED}",
        "samples_ns",
    )
    return None


def _recompute(
    draft: RowDraft, kind: str | None, tokens: int, samples: Sequence[int | Decimal]
) -> None:
    times = Values(samples)
    rates = Values([_WIDE.divide(Decimal(tokens * 10**9), Decimal(each)) for each in samples])
    name = kind or "throughput"
    draft.samples[name] = len(samples)
    draft.recompute(name, "tokens/s", rates.mean, "avg_ts", rounding=_LAST_DIGIT)
    draft.samples["time"] = len(samples)
    draft.recompute("time.mean", "ns", times.mean, "avg_ns", rounding=_WHOLE_NANOSECOND)
    if len(samples) == 1:
        draft.find(
            TOO_FEW,
            "the test ran once, so nothing says how much it varies",
            "repeat it (-r 5)",
            "samples_ns",
            severity="warning",
        )
        return
    deviation = rates.deviation(ddof=1)
    draft.recompute(
        "stddev", "tokens/s", deviation, "stddev_ts",
        magnitude=rates.mean, rounding=_LAST_DIGIT,
    )  # fmt: skip
    draft.recompute("time.std", "ns", times.deviation(ddof=1))
    doubt_spread(draft, rates.mean, deviation, "samples_ns")
    _doubt_decline(draft, samples)


def _doubt_decline(draft: RowDraft, samples: Sequence[int | Decimal]) -> None:
    """A finding where each repetition is slower than the one before, as on a device that heats."""
    slower = all(before < after for before, after in pairwise(samples))
    if len(samples) > 2 and slower and Fraction(samples[-1]) > (1 + _STEADY) * Fraction(samples[0]):
        draft.find(
            TOO_FEW,
            "each repetition is slower than the one before: the device may throttle",
            "let it cool, log its clocks, and repeat the test until it is steady",
            "samples_ns",
            severity="warning",
        )


def _report(draft: RowDraft, kind: str | None, tokens: int) -> None:
    """The summary alone, held together: the mean rate is close to the rate of the mean time."""
    name = kind or "throughput"
    draft.report(name, "tokens/s", "avg_ts")
    draft.report("stddev", "tokens/s", "stddev_ts")
    draft.report("time.mean", "ns", "avg_ns")
    rate, time = draft.value(name), draft.value("time.mean")
    if rate == 0 or time == 0:
        draft.find(NOT_MEASURED, "the mean is 0: nothing was measured", UNTOUCHED, "avg_ts")
    if not rate or not time:
        return
    varies = (draft.value("stddev") or Fraction(0)) / rate
    doubt_spread(draft, rate, varies * rate, "stddev_ts")
    by_time = tokens * 10**9 / time
    if abs(rate / by_time - 1) > 4 * varies**2 + Fraction(1, 10**6):
        draft.find(
            DISAGREES,
            f"avg_ts says {format_number(rate)} tokens/s, but {tokens:,} tokens in avg_ns are "
            f"{format_number(by_time)} tokens/s",
            UNTOUCHED,
            "avg_ts",
        )


def _read_envelope(draft: RowDraft) -> None:
    build = draft.count("build_number")
    if build:
        draft.envelope["engine_version"] = f"b{build}"
    file = draft.text("model_filename")
    if file is not None:
        draft.envelope["model"] = re.split(r"[/\\]", file)[-1]
    dtype = weight_dtype(draft.text("model_type") or "")
    if dtype is not None:
        draft.envelope["weight_dtype"] = dtype
    k, v = draft.text("type_k"), draft.text("type_v")
    if k is not None and v is not None and (cache := kv_cache_dtype(k, v)) is not None:
        draft.envelope["kv_cache_dtype"] = cache
    processor, accelerators = draft.text("cpu_info"), draft.text("gpu_info")
    if processor is not None:
        draft.envelope["processor"] = processor
    if accelerators is not None and str(draft.get("n_gpu_layers")) != "0":
        names = accelerators.split(", ")
        read_devices(draft, names, draft.get("split_mode"), draft.get("main_gpu"))
    for key in _STATED:
        value = draft.get(key)
        if isinstance(value, bool):
            draft.stated[key] = "yes" if value else "no"
        elif isinstance(value, int | Decimal | str) and value != "":
            draft.stated[key] = str(value)
