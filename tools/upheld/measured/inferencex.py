"""InferenceX: one operating point, whichever of its forms it stands in, by the keys of the JSON.

Throughputs are per device: all tokens, input and output, over all devices of the deployment.
Latencies are those of a fork of vLLM's `benchmark_serving.py`, without the requests that failed
and without their count. Interactivity is worked out from the statistics of the time per output
token, one over each: so its "p99" is the slow tail, which 99 % of requests exceed, and its "std"
is one over a deviation, which is no deviation and no figure here
(SemiAnalysisAI/InferenceX, utils/process_result.py, at 843c625).
"""

from __future__ import annotations

import re
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import AxisValue, Requests, Row
from upheld.records.units import format_number

ALWAYS = frozenset({"hw", "conc", "framework", "tput_per_gpu", "mean_ttft", "mean_tpot"})

_LATENCIES = {
    "ttft": "latency.ttft", "tpot": "latency.tpot", "itl": "latency.itl", "e2el": "latency.e2e",
}  # fmt: skip
_KEY = re.compile(
    r"(?P<statistic>mean|median|std|p\d{1,2}(?:\.\d{1,3})?)_(?P<latency>ttft|tpot|itl|e2el)"
)
_INTERACTIVITY = re.compile(r"(?P<statistic>mean|median|p\d{1,2}(?:\.\d{1,3})?)_intvty")
_IMAGE_VERSION = re.compile(r":(?P<version>v?\d+\.\d+(?:\.\d+)?[\w.+-]{0,40})$")
_STATED = (
    "image", "ep", "dp_attention", "disagg", "is_multinode", "num_prefill_gpu", "num_decode_gpu",
    "date", "isl", "osl",
)  # fmt: skip
_AXES = (
    "model", "model_revision", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "input_tokens", "output_tokens",
    "request_rate", "prefix_caching", "speculative_decoding",
)  # fmt: skip
_MEAN_NOTE = "one over the mean time per output token"


def is_point(value: Json) -> bool:
    """Whether a JSON value is one operating point."""
    return isinstance(value, dict) and value.keys() >= ALWAYS


def read_point(draft: RowDraft) -> Row:
    """The row of one operating point; `draft.record` has the keys of the JSON form."""
    unit = _unit_of_latency(draft)
    _read_throughput(draft)
    for key in draft.record:
        if unit is not None and (found := _KEY.fullmatch(key)):
            name = f"{_LATENCIES[found['latency']]}.{_canonical(found['statistic'])}"
            draft.report(name, unit, key)
    if unit is not None:
        _read_interactivity(draft, unit)
    for name in _LATENCIES.values():
        draft.refuse_far_median(name, f"mean_{_short(name)}")
    _read_envelope(draft)
    not_stated = tuple(axis for axis in _AXES if axis not in draft.envelope)
    return draft.finish(not_stated, Requests(None, None, None))


def _short(name: str) -> str:
    return next(key for key, known in _LATENCIES.items() if known == name)


def _canonical(statistic: str) -> str:
    return {"median": "p50"}.get(statistic, statistic)


def _unit_of_latency(draft: RowDraft) -> str | None:
    """Seconds or milliseconds, as interactivity times time per token tells; None where neither."""
    each, speed = draft.number("mean_tpot"), draft.number("mean_intvty")
    if not each or not speed:
        return "s"
    product = Fraction(each) * Fraction(speed)
    for unit, scale in (("s", 1), ("ms", 1000)):
        if abs(product - scale) < Fraction(scale, 1000):
            return unit
    draft.find(
        IMPOSSIBLE,
        f"mean_intvty times mean_tpot is {format_number(product)}; it is 1 where times are seconds "
        "and 1,000 where they are milliseconds, so their unit is open",
        f"no latency is taken; {UNTOUCHED}",
        "mean_tpot",
    )
    return None


def _read_throughput(draft: RowDraft) -> None:
    unit = "tokens/s/device"
    for kind, key in (("input", "input_tput_per_gpu"), ("output", "output_tput_per_gpu")):
        draft.report(f"throughput.{kind}_tokens_per_gpu", unit, key)
    parts = [draft.value(f"throughput.{kind}_tokens_per_gpu") for kind in ("input", "output")]
    total = "throughput.total_tokens_per_gpu"
    # Of several nodes input and output are over the devices that do either.
    if parts[0] is None or parts[1] is None or _says(draft, "is_multinode"):
        draft.report(total, unit, "tput_per_gpu")
    else:
        draft.recompute(total, unit, parts[0] + parts[1], "tput_per_gpu")


def _read_interactivity(draft: RowDraft, unit: str) -> None:
    scale = 1 if unit == "s" else 1000
    for key in draft.record:
        found = _INTERACTIVITY.fullmatch(key)
        each = draft.value(f"latency.tpot.{_canonical(found['statistic'])}") if found else None
        if found is None or not each:
            continue
        statistic = _canonical(found["statistic"])
        note = f"printed as {key}"
        if statistic == "mean":
            note = _MEAN_NOTE
        else:
            statistic = f"p{format_number(100 - Fraction(statistic[1:]))}"
        draft.recompute(f"interactivity.{statistic}", "tokens/s/user", scale / each, key, note=note)


def _read_envelope(draft: RowDraft) -> None:
    image = draft.text("image") or ""
    version = _IMAGE_VERSION.search(image)
    axes: dict[str, AxisValue | None] = {
        "model": draft.text("model"),
        "engine": draft.text("framework"),
        "engine_version": version["version"] if version else None,
        "weight_dtype": draft.text("precision"),
        "device": draft.text("hw"),
        "device_count": _devices(draft),
        "tensor_parallel": draft.count("tp") or None,
        "concurrency": draft.count("conc") or None,
        "speculative_decoding": draft.text("spec_decoding"),
    }
    draft.envelope.update({axis: value for axis, value in axes.items() if value is not None})
    for key in _STATED:
        value = draft.get(key)
        if isinstance(value, bool):
            draft.stated[key] = "yes" if value else "no"
        elif isinstance(value, int | str) and value != "":
            draft.stated[key] = str(value)
    for key in ("isl", "osl"):
        if key in draft.stated:
            draft.stated[key] += " tokens at most were asked for; requests may have fewer"


def _devices(draft: RowDraft) -> int | None:
    tensor = draft.count("tp")
    if not tensor or _says(draft, "is_multinode"):
        return None
    return tensor * (draft.count("pp") or 1) * (draft.count("pcp_size") or 1)


def _says(draft: RowDraft, key: str) -> bool:
    return str(draft.get(key)).casefold() == "true"
