"""optimum-benchmark: the report, alone or in one object with its configuration.

Each section of the report is timed on its own, in seconds, with all its values. Percentiles are
NumPy's `linear`, deviations of a population; `stdev_` is the deviation in per cent of the mean.
Throughput is what one call processes, in samples or tokens, over the mean
(huggingface/optimum-benchmark, optimum_benchmark/trackers/latency.py, at b263af4).
"""

from __future__ import annotations

from fractions import Fraction

from upheld.corpus.strict_json import Json, Keys
from upheld.measured import optimum_benchmark, single_values
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.reading import Reading
from upheld.measured.recompute import Values
from upheld.records.metrics import METRICS
from upheld.records.units import ALIASES, UNITS, format_number

NAME = "optimum-benchmark"
TOOL = optimum_benchmark.TOOL
TITLE = "optimum-benchmark: report, with or without its configuration, JSON"

_MEASUREMENTS = {"memory", "latency", "throughput", "energy", "efficiency"}
_SECTIONS = {
    "load": "load", "load_model": "load", "forward": "forward", "prefill": "prefill",
    "decode": "decode", "per_token": "per_token", "generate": "generate", "call": "call",
}  # fmt: skip
_STATISTICS = {
    "mean": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "std": "stdev",
}  # fmt: skip
_NEAR = Fraction(1, 10**6)


def recognise(content: Content) -> bool:
    """An object whose every member has the five measurements, or one with it beside a config."""
    if len(content.documents) != 1 or not isinstance(content.documents[0].value, dict):
        return False
    value = content.documents[0].value
    if "report" in value:
        return _is_report(value["report"]) and optimum_benchmark.is_config(value.get("config"))
    return _is_report(value)


def _is_report(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(each, dict) and each.keys() >= _MEASUREMENTS for each in value.values())
    )


def read(content: Content) -> Reading:
    """One row, with the figures of all sections."""
    value = content.documents[0].value
    assert isinstance(value, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), value)
    version = None
    at: tuple[str, ...] = ()
    if "report" in value:
        version = optimum_benchmark.read_config(draft, "config")
        at = ("report",)
    report = draft.get(*at)
    for section in report if isinstance(report, dict) else ():
        _read_section(draft, section, (*at, section))
    return Reading((draft.finish(optimum_benchmark.not_stated(draft)),), version)


def _read_section(draft: RowDraft, section: str, at: Keys) -> None:
    name = _SECTIONS.get(section)
    if name is None:
        draft.stated[section] = "measured, and not read: it is no part of inference"
        return
    _read_latency(draft, f"latency.{name}", (*at, "latency"))
    _read_throughput(draft, name, (*at, "throughput"))
    memory = draft.get(*at, "memory")
    unit = draft.get(*at, "memory", "unit")
    for key in memory if isinstance(memory, dict) and isinstance(unit, str) else ():
        number = draft.get(*at, "memory", key)
        if key != "unit" and number is not None and not isinstance(number, str):
            draft.stated[f"{section}_{key}"] = f"{number} {unit}"


def _read_latency(draft: RowDraft, name: str, at: Keys) -> None:
    if draft.get(*at) is None:
        return
    values, unit = draft.get(*at, "values"), draft.text(*at, "unit")
    if unit is None or unit not in UNITS or UNITS[unit].dimension != "time":
        draft.find(NOT_MEASURED, "the times have no known unit", UNTOUCHED, *at)
        return
    entries: list[tuple[Keys, dict[str, Json]]] = [
        ((*at, "values", index), {"values": each})
        for index, each in enumerate(values if isinstance(values, list) else ())
    ]
    numbers = single_values.column(draft, entries, "values") if entries else None
    if not numbers:
        draft.find(NOT_MEASURED, "the section holds no times", UNTOUCHED, *at)
        return
    times = Values(numbers)
    draft.cross_check("the number of its values", Fraction(len(numbers)), *at, "count")
    summary = {known: (*at, stated) for known, stated in _STATISTICS.items()}
    single_values.recompute(draft, name, unit, times, 0, summary)
    draft.cross_check("the sum of its values", times.total, *at, "total")
    if times.mean:
        share = 100 * times.deviation(ddof=0) / times.mean
        draft.cross_check("the deviation in per cent of the mean", share, *at, "stdev_")


def _read_throughput(draft: RowDraft, name: str, at: Keys) -> None:
    """A throughput times the mean time is what one call processes: a whole number."""
    stated, unit = draft.number(*at, "value"), draft.text(*at, "unit")
    mean = draft.value(f"latency.{name}.mean")
    if stated is None or unit is None:
        return
    metric = METRICS.get(f"throughput.{name}")
    # Samples are requests in the table of units.
    symbol = ALIASES.get(unit, unit)
    if metric is None or symbol not in UNITS or UNITS[symbol].dimension != metric.dimension:
        draft.stated[f"{name}_throughput"] = f"{stated} {unit}"
        return
    if mean is None:
        draft.report(f"throughput.{name}", symbol, *at, "value")
        return
    volume = Fraction(stated) * mean
    whole = round(volume)
    if whole == 0 or abs(volume - whole) > _NEAR * whole:
        draft.find(
            DISAGREES,
            f"the throughput times the mean time makes {format_number(volume)} in one call, which "
            "is no whole number",
            UNTOUCHED,
            *at, "value",
        )  # fmt: skip
        return
    draft.recompute(
        f"throughput.{name}", symbol, whole / mean, *at, "value",
        note=f"{whole:,} in one call over the mean time",
    )  # fmt: skip
