"""Running a command once or several times in a folder of its own, with all that is noted."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upheld.corpus.files import MAX_RAW_BYTES
from upheld.measured.capture.capture_file import CAPTURE, Noted, capture_text
from upheld.measured.capture.engine import ask_engine
from upheld.measured.capture.execution import Outcome, Stops, execute
from upheld.measured.capture.gpu_sampling import SAMPLES, GpuSampler
from upheld.measured.capture.gpus import Gpus, look_for_gpus
from upheld.measured.capture.host import (
    busy_seconds,
    host_facts,
    load_average,
    noted_environment,
)
from upheld.measured.capture.kept_files import WrittenFiles
from upheld.measured.capture.repository import commit_of

KEPT_FOLDER = "files"
"""Where copies of the files that the command wrote lie, apart from what is written here."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to run and what to keep.

    Attributes:
        command: the program and its arguments; the program is known to be there.
        root: the corpus, whose commit is noted.
        keep: patterns of files below the working folder, each checked by check_pattern.
        repeats: how often to run the command, at least once.
        engine_url: where an engine answers, as check_url returns it.
    """

    command: Sequence[str]
    root: Path
    keep: Sequence[str] = ()
    repeats: int = 1
    engine_url: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of it; `problems` are sentences about what was asked for and is not there."""

    outcome: Outcome
    noted: tuple[Noted, ...]
    problems: tuple[str, ...]


def capture(wanted: Wanted, folder: Path, stops: Stops) -> Captured:
    """Run the command and leave everything in `folder`, CAPTURE included.

    The first execution that does not complete is the last.

    Raises:
        NotStarted: the command can't be started.
        OSError: a file can't be written.
    """
    surroundings = {
        "corpus": commit_of(wanted.root),
        "host": host_facts(),
        "environment": noted_environment(os.environ),
        "engine": ask_engine(wanted.engine_url) if wanted.engine_url else None,
    }
    noted: list[Noted] = []
    with look_for_gpus() as gpus:
        surroundings["gpus"] = gpus.facts()
        for number in range(1, wanted.repeats + 1):
            name = f"{number:0{len(str(wanted.repeats))}}" if wanted.repeats > 1 else ""
            noted.append(_once(wanted, folder, name, gpus, stops))
            if noted[-1].execution.outcome != "completed":
                break
    text = capture_text(wanted.command, wanted.repeats, surroundings, noted)
    (folder / CAPTURE).write_text(text, "utf-8")
    return Captured(
        outcome=noted[-1].execution.outcome,
        noted=tuple(noted),
        problems=tuple(_problems(wanted, surroundings, gpus, noted)),
    )


def _once(wanted: Wanted, folder: Path, name: str, gpus: Gpus, stops: Stops) -> Noted:
    own = folder / name
    own.mkdir(exist_ok=True)
    written = WrittenFiles(Path.cwd(), wanted.keep, beside=folder)
    load, busy, used = load_average(), busy_seconds(), _children_seconds()
    with GpuSampler(gpus, own) as sampler:
        execution = execute(wanted.command, own, stops)
    busy_after = busy_seconds()
    not_kept = [(each.path, each.reason) for each in written.copy_to(own / KEPT_FOLDER)]
    if sampler.problem is not None:
        not_kept.append((SAMPLES, sampler.problem))
    return Noted(
        folder=name,
        execution=execution,
        load=(load, load_average()),
        processor_seconds=(
            round(_children_seconds() - used, 2),
            None if busy is None or busy_after is None else round(busy_after - busy, 2),
        ),
        gpus=sampler.summaries,
        not_kept=tuple(not_kept),
    )


def _children_seconds() -> float:
    """Processor time of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _problems(
    wanted: Wanted, surroundings: Mapping[str, Any], gpus: Gpus, noted: Sequence[Noted]
) -> Iterator[str]:
    for each in noted:
        yield from (f"{path} is not kept: {reason}" for path, reason in each.not_kept)
        for stream in each.execution.cut:
            yield f"{stream} is longer than {MAX_RAW_BYTES:,} bytes, and its end is not kept"
    engine = surroundings["engine"]
    if engine is not None and engine["problem"] is not None:
        yield f"{engine['url']}{engine['problem']}"
    if gpus.unseen:
        yield f"an NVIDIA driver is here, but GPUs are not noted: {gpus.absent}"
