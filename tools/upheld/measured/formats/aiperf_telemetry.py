"""AIPerf: what DCGM said of each GPU while a run went on, one JSON object a reading.

One row a GPU as one endpoint sees it. Statistics are those that the tool's summary has: the
deviation is of a sample (aiperf 0.13.0, metrics/metric_dicts.py), the mean over all readings,
those before and after the load too. Units are AIPerf's (gpu_telemetry/constants.py): watts,
per cent, and memory in GB of 10^9 bytes.
"""

from __future__ import annotations

from decimal import Decimal

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.reading import Reading, Row
from upheld.measured.recompute import Values

NAME = "aiperf-telemetry"
TOOL = "AIPerf"
TITLE = "AIPerf: readings of GPUs during a run, JSON Lines"

_METRICS = {
    "gpu_power_usage": ("device.power", "W"),
    "power_management_limit": ("device.power_limit", "W"),
    "gpu_utilization": ("device.utilisation", "%"),
    "gpu_memory_used": ("device.memory_used", "GB"),
    "gpu_memory_total": ("device.memory_total", "GB"),
}
_ALL = "over all readings, idle ones too"
_MOST_GPUS = 1000
_MOST_DOUBTFUL = 20


def recognise(content: Content) -> bool:
    """Objects, one or several, each a reading of one GPU with the endpoint that it is from."""
    return bool(content.documents) and all(_is_reading(each.value) for each in content.documents)


def _is_reading(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= {"timestamp_ns", "dcgm_url", "gpu_index", "gpu_uuid"}
        and isinstance(value.get("telemetry_data"), dict)
    )


def read(content: Content) -> Reading:
    """One row a GPU and endpoint, in the order of the file."""
    by_gpu: dict[tuple[str, str], list[RowDraft]] = {}
    for index, document in enumerate(content.documents):
        value = document.value
        assert isinstance(value, dict), "recognise() saw objects"
        gpu = (str(value["dcgm_url"]), str(value["gpu_index"]))
        if gpu in by_gpu or len(by_gpu) < _MOST_GPUS:
            case = f"GPU {gpu[1]} at {gpu[0]}"
            by_gpu.setdefault(gpu, []).append(RowDraft(content, index, (), value, case))
    return Reading(tuple(map(_row, by_gpu.values())))


def _row(readings: list[RowDraft]) -> Row:
    draft = readings[0]
    doubtful = 0
    values: dict[str, list[int | Decimal]] = {key: [] for key in _METRICS}
    for reading in readings:
        for key in _METRICS:
            value = reading.number("telemetry_data", key)
            if value is not None:
                values[key].append(value)
        if reading is not draft and doubtful < _MOST_DOUBTFUL:
            doubtful += draft.adopt(reading)
    for key, (metric, unit) in _METRICS.items():
        if values[key]:
            _read(draft, metric, unit, Values(values[key]))
    used, total = draft.value("device.memory_used.max"), draft.value("device.memory_total.max")
    if used is not None and total is not None and used > total:
        draft.find(
            IMPOSSIBLE, "more memory is in use than the GPU has", UNTOUCHED, "telemetry_data"
        )
    name = draft.text("gpu_model_name")
    if name is not None:
        draft.envelope["device"] = name
    for key in ("gpu_uuid", "hostname"):
        if (text := draft.text(key)) is not None:
            draft.stated[key] = text
    return draft.finish(() if name is not None else ("device",))


def _read(draft: RowDraft, metric: str, unit: str, values: Values) -> None:
    draft.samples[metric] = len(values)
    statistics = {"mean": values.mean, "min": values.smallest, "max": values.largest}
    if len(values) > 1:
        statistics["std"] = values.deviation(ddof=1)
    for statistic, value in statistics.items():
        draft.recompute(f"{metric}.{statistic}", unit, value, note=_ALL)
