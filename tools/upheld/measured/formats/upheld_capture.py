"""Upheld's own `capture.json`: what `upheld record` noted around a command.

It has no figures. Its axes hold for every file of the run that it belongs to: the host's where the
engine runs on it, devices that were at work, and what the engine said of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.reading import AxisValue, Capture, Reading
from upheld.records.units import format_number

NAME = "upheld-capture"
TOOL = "upheld record"
TITLE = "What upheld record noted around a command, JSON"

_VERSION = 1
_MARK = "upheld_capture"
_FROM_BEST = ("completed", "failed", "interrupted")
_BUILD = re.compile(r"b(?P<number>\d{1,9})-[0-9a-z]{1,40}")
_OF_A_GPU = {
    "utilisation_percent": "%", "memory_used_mib": "MiB", "power_w": "W", "sm_clock_mhz": "MHz",
    "memory_clock_mhz": "MHz", "temperature_c": "°C",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """One object that says which version of this shape it has."""
    if len(content.documents) != 1:
        return False
    whole = content.documents[0].value
    return isinstance(whole, dict) and _MARK in whole


def read(content: Content) -> Reading:
    """No rows; the capture, with the outcome of its worst execution."""
    whole = content.documents[0].value
    assert isinstance(whole, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), whole)
    capture = None
    if draft.get(_MARK) != _VERSION:
        draft.find(
            NOT_MEASURED,
            f"{_MARK} is not {_VERSION}: the shape of this capture is not known",
            "read it with the release of Upheld that wrote it",
            _MARK,
        )
    elif _count(draft, "executions") == 0:
        draft.find(NOT_MEASURED, "it notes no execution", UNTOUCHED, "executions")
    else:
        capture = _read_capture(draft)
    row = draft.finish(())
    return Reading((), draft.text("upheld_version"), row.findings, capture)


def _read_capture(draft: RowDraft) -> Capture:
    outcome = _outcome(draft)
    _read_engine(draft)
    if draft.get("engine", "here") is not False:
        _read_host(draft)
        _read_gpus(draft)
    _read_facts(draft)
    return Capture(outcome, draft.envelope, draft.stated)


def _count(draft: RowDraft, *keys: str | int) -> int:
    """How many values the list at `keys` has; none where there is no list."""
    listed = draft.get(*keys)
    return len(listed) if isinstance(listed, list) else 0


def _outcome(draft: RowDraft) -> str:
    """The worst of all executions; each has to be borne out by its own exit status."""
    found = [_outcome_of(draft, index) for index in range(_count(draft, "executions"))]
    worst = max(found, key=_FROM_BEST.index)
    if worst == "completed" and draft.count("repeats") != len(found):
        draft.find(DISAGREES, "it notes another number of executions", UNTOUCHED, "repeats")
        return "failed"
    return worst


def _outcome_of(draft: RowDraft, index: int) -> str:
    at = ("executions", index)
    said = draft.text(*at, "outcome")
    exited_well = draft.get(*at, "exit_status") == 0 and draft.get(*at, "stopped_by") is None
    if said not in _FROM_BEST or (said == "completed" and not exited_well):
        draft.find(
            DISAGREES, "the outcome does not follow from the exit status", UNTOUCHED, *at, "outcome"
        )
        return "failed"
    return said


def _read_engine(draft: RowDraft) -> None:
    axes: dict[str, AxisValue | None] = {
        "engine": draft.text("engine", "engine"),
        "max_model_len": draft.count("engine", "max_model_len") or None,
    }
    # A version says something only beside the name of what it is a version of.
    if axes["engine"] is not None:
        axes["engine_version"] = _version(draft.text("engine", "version"))
    _keep(draft, axes)
    models = draft.get("engine", "models")
    if isinstance(models, list):
        draft.stated["models_served"] = ", ".join(each for each in models if isinstance(each, str))


def _version(answered: str | None) -> str | None:
    """The version; of llama.cpp's `b11434-1a2b3c4` the number of the build, as its logs have it."""
    build = _BUILD.fullmatch(answered or "")
    return (build["number"] if int(build["number"]) else None) if build else answered


def _read_host(draft: RowDraft) -> None:
    _keep(
        draft,
        {
            "operating_system": draft.text("host", "operating_system"),
            "processor": draft.text("host", "processor"),
            "processor_count": draft.count("host", "processor_count") or None,
        },
    )


def _read_gpus(draft: RowDraft) -> None:
    """The device is that of the GPUs at work; how many is known where none was busy before."""
    at_work = [_at_work(draft, index) for index in range(_count(draft, "executions"))]
    indices = set().union(*at_work)
    names = {draft.text("gpus", "devices", index, "name") for index in indices}
    if len(names) != 1 or None in names:
        return
    _keep(draft, {"device": names.pop()})
    alike = all(each == indices for each in at_work)
    if alike and not any(_busy_before(draft, index) for index in range(len(at_work))):
        draft.envelope["device_count"] = len(indices)


def _at_work(draft: RowDraft, execution: int) -> set[int]:
    at = ("executions", execution, "gpus")
    return {
        index
        for index in range(_count(draft, *at))
        if draft.number(*at, index, "utilisation_percent", "most")
    }


def _busy_before(draft: RowDraft, execution: int) -> bool:
    at = ("executions", execution, "gpus")
    return any(
        draft.number(*at, index, "utilisation_percent_before") != 0
        for index in range(_count(draft, *at))
    )


def _read_facts(draft: RowDraft) -> None:
    last = _count(draft, "executions") - 1
    facts = {
        "date": draft.text("executions", 0, "started"),
        "ended": draft.text("executions", last, "ended"),
        "executions": str(last + 1),
        "commit": draft.text("corpus", "commit"),
        "uncommitted_changes": _yes_or_no(draft.get("corpus", "uncommitted_changes")),
        "system_release": draft.text("host", "system_release"),
        "machine": draft.text("host", "machine"),
        "memory": _in_gib(draft.count("host", "memory_bytes")),
        "processors_usable": _shown(draft.count("host", "processors_usable")),
        "gpus": _gpus(draft),
        "driver": draft.text("gpus", "driver"),
    }
    draft.stated.update({name: fact for name, fact in facts.items() if fact})
    environment = draft.get("environment")
    if isinstance(environment, dict):
        draft.stated |= {name: each for name, each in environment.items() if isinstance(each, str)}
    for index in range(last + 1):
        draft.stated |= _facts_of(draft, index, f"_{index + 1}" if last else "")


def _facts_of(draft: RowDraft, index: int, numbered: str) -> dict[str, str]:
    """How busy the host and its GPUs were during one execution."""
    at = ("executions", index)
    facts: dict[str, str] = {}
    load = draft.number(*at, "load_average", "before", 0)
    if load is not None:
        facts[f"load_average_before{numbered}"] = format_number(Fraction(load))
    own = draft.number(*at, "processor_seconds", "command")
    host = draft.number(*at, "processor_seconds", "host")
    if own is not None and host is not None:
        facts[f"processor_seconds{numbered}"] = (
            f"{format_number(Fraction(own))} of the command, "
            f"{format_number(Fraction(host))} of the whole host"
        )
    for gpu in range(_count(draft, *at, "gpus")):
        if told := "; ".join(_told(draft, (*at, "gpus", gpu))):
            facts[f"gpu_{gpu}{numbered}"] = told
    return facts


def _told(draft: RowDraft, at: tuple[str | int, ...]) -> Iterator[str]:
    for name, unit in _OF_A_GPU.items():
        least, mean, most = (draft.number(*at, name, each) for each in ("least", "mean", "most"))
        if least is not None and mean is not None and most is not None:
            shown = [format_number(Fraction(each)) for each in (least, mean, most)]
            quantity = name.rpartition("_")[0].replace("_", " ")
            yield f"{quantity} {shown[0]} to {shown[2]} {unit}, {shown[1]} on average"


def _gpus(draft: RowDraft) -> str | None:
    """The GPUs by name, or why there are none."""
    at = ("gpus", "devices")
    names = [draft.text(*at, index, "name") or "unnamed" for index in range(_count(draft, *at))]
    return ", ".join(names) or draft.text("gpus", "absent")


def _keep(draft: RowDraft, axes: Mapping[str, AxisValue | None]) -> None:
    draft.envelope.update({name: value for name, value in axes.items() if value is not None})


def _yes_or_no(value: Json) -> str | None:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else None


def _in_gib(size: int | None) -> str | None:
    return None if size is None else f"{format_number(Fraction(size, 1024**3))} GiB"


def _shown(count: int | None) -> str | None:
    return None if count is None else f"{count:,}"
