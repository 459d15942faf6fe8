"""What is noted of the host: its system, processors and memory, and how busy it is.

Its name, its addresses and its users are not noted.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ENVIRONMENT = (
    "CUDA_DEVICE_ORDER",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "MKL_NUM_THREADS",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "ROCR_VISIBLE_DEVICES",
    "VLLM_ATTENTION_BACKEND",
    "VLLM_USE_V1",
)
"""The variables that are noted. All others stay out: any of them may hold a secret."""

_LONGEST_VALUE = 200
_PROCESSOR = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def host_facts() -> dict[str, Any]:
    """The host, under the names of `capture.json`; None where the system does not say."""
    return {
        "operating_system": platform.system() or None,
        "system_release": platform.release() or None,
        "machine": platform.machine() or None,
        "processor": _processor(),
        "processor_count": os.cpu_count(),
        "processors_usable": _usable(),
        "memory_bytes": _memory(),
    }


def noted_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of ENVIRONMENT that are set, printable and not long."""
    return {
        name: value
        for name in ENVIRONMENT
        if (value := environment.get(name)) is not None
        and value.isprintable()
        and len(value) <= _LONGEST_VALUE
    }


def load_average() -> list[float] | None:
    """Processes that ran or waited, on average over 1, 5 and 15 minutes."""
    try:
        return [round(each, 2) for each in os.getloadavg()]
    except OSError:
        return None


def busy_seconds() -> float | None:
    """Processor time since the host started, of all processes together, in seconds; Linux only."""
    try:
        line = Path("/proc/stat").read_text("ascii").partition("\n")[0]
        user, nice, system, _, _, irq, softirq, *_ = map(int, line.split()[1:])
    except (OSError, ValueError):
        return None
    return float(user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _processor() -> str | None:
    try:
        found = _PROCESSOR.search(Path("/proc/cpuinfo").read_text("utf-8", "replace"))
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or None


def _usable() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None
