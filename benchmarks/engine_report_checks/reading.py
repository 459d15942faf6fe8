"""A case as a file states it, in the one form that the engines' checks ask for.

A file by others may leave a key out, write null, or a number where another writes text. What can't
be brought into the form is left as it is: the check that needs it then says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine_report_checks.predictions import NotPredicted

# Spellings in use, in lower case and with hyphens, of the names that cases are scored under.
ENGINE_ALIASES = {
    "vllm": "vllm-v1",
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "llama-server": "llama.cpp",
    "ik-llama.cpp": "ik_llama.cpp",
    "ik-llama-cpp": "ik_llama.cpp",
    "trt-llm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "turbomind": "lmdeploy",
}
PARTS = ("arguments", "reported", "assumed")


def as_scored(report: Mapping[str, Any]) -> dict[str, Any]:
    """The case with every key that a check asks for; what is null counts as not stated.

    Raises:
        NotPredicted: it is no mapping, or one of its parts is none.
    """
    if not isinstance(report, Mapping):
        raise NotPredicted("the case is no mapping")
    found = {"engine": None, "engine_version": None, "model": None, "model_shape": None, **report}
    found["engine"] = engine_of(found["engine"])
    found["attention"] = str(found.get("attention") or "unknown")
    if found["engine_version"] is not None:
        found["engine_version"] = str(found["engine_version"])
    for part in PARTS:
        stated = found.get(part) or {}
        if not isinstance(stated, Mapping):
            raise NotPredicted(f"`{part}` is no mapping")
        found[part] = {name: value for name, value in stated.items() if value is not None}
    found["arguments"] = {name: _counted(value) for name, value in found["arguments"].items()}
    found["assumed"] = {name: _counted(value) for name, value in found["assumed"].items()}
    found["reported"] = _printed(found["reported"])
    return found


def engine_of(name: Any) -> str:
    """The name that an engine is scored under; any other name in lower case."""
    hyphened = str(name).strip().lower().replace(" ", "-").replace("_", "-")
    return ENGINE_ALIASES.get(hyphened, hyphened)


def _counted(value: Any) -> Any:
    """A count that is written as text, such as "8,192", as the number that it is."""
    if isinstance(value, str) and value.replace(",", "").isdecimal():
        return int(value.replace(",", ""))
    return value


def _printed(value: Any) -> Any:
    """Figures as text, with the digits that the file has."""
    if isinstance(value, Mapping):
        return {name: _printed(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_printed(each) for each in value]
    return value if isinstance(value, str) else str(value)
