"""`upheld record`: run a benchmark, keep what it wrote, and write the record of the run."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.cli.ids import checked_id
from upheld.cli.options import open_corpus, root_option
from upheld.cli.output import write_whole
from upheld.report.escape import printable

if TYPE_CHECKING:
    from upheld.importers.captured_run import CapturedRun, RunNaming
    from upheld.measured.capture.captured import Captured, Wanted
    from upheld.measured.capture.place import Place

_LONGEST_LINE = 500


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command_line", nargs=-1, required=True, metavar="-- COMMAND…")
@root_option
@click.option("--id", "id_", metavar="ID", help="Id of the run (default: program and date).")
@click.option("--title", metavar="TEXT", help="Title of the record (default: program and date).")
@click.option("--by", metavar="NAME", help="Who measured (default: git's user.name in the corpus).")
@click.option(
    "--output-dir",
    metavar="DIR",
    help="Folder of the raw files, from the corpus root (default: evidence/runs/raw/ID).",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="GLOB",
    help="Also keep the files below the working folder that match and that the command wrote.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Run it N times, into one record.",
)
@click.option(
    "--engine-url",
    metavar="URL",
    help="Ask the engine there for its name and version.",
)
@click.pass_context
def command(
    ctx: click.Context,
    command_line: tuple[str, ...],
    root: Path,
    id_: str | None,
    title: str | None,
    by: str | None,
    output_dir: str | None,
    keep: tuple[str, ...],
    repeat: int,
    engine_url: str | None,
) -> None:
    """Run COMMAND, keep its output and files byte for byte, and write the record of the run.

    Beside them capture.json notes the host, its load, NVIDIA GPUs and how they were while the
    command ran (with upheld[gpu]), the engine, the commit of the corpus, start, end and exit
    status. The command line is kept as typed; of the environment only a short list is kept. A run
    that fails or is stopped is kept as well, marked, and never counts as evidence. Nothing that
    exists is overwritten.

    \b
    Examples:
      upheld record -- llama-bench -m model.gguf -p 128 -n 32 -o json
      upheld record --repeat 3 --keep 'results/*.json' \\
        --engine-url http://localhost:8000 -- ./benchmark.sh

    Exit codes: 0 the command succeeded and all is kept; 1 it failed or was stopped, or a file is
    not kept; 2 nothing was run, or nothing could be kept.
    """
    from upheld.arithmetic.configs import ConfigError
    from upheld.corpus.files import FileError
    from upheld.importers.captured_run import captured_run
    from upheld.measured.capture.captured import Wanted, capture
    from upheld.measured.capture.execution import NotStarted, Stops
    from upheld.measured.capture.place import place_of

    corpus = open_corpus(root)
    called = f"{_program(command_line[0])}-{datetime.now(UTC).date()}"
    id_ = checked_id(id_ or called, "name the run with --id")
    wanted = Wanted(command_line, root, _patterns(keep), repeat, _address(engine_url))
    people = _People(_line("--title", title or called), _line("--by", by or _committer(root)))
    folder = None
    try:
        place = place_of(corpus, id_, output_dir)
        with Stops() as stops:
            with place.filled() as folder:
                captured = capture(wanted, folder, stops)
                run = captured_run(folder, place.raw, _naming(id_, people, wanted, captured))
            write_whole(place.record_file, run.text)
    except (FileError, ConfigError) as error:
        raise CouldNotRun(str(error), _left_in(folder) or error.help) from None
    except NotStarted as error:
        reason = f"{command_line[0]!r} is not run: {error}"
        raise CouldNotRun(reason, _left_in(folder) or "name a program") from None
    except OSError as error:
        reason = f"the run can't be kept: {error.strerror}"
        raise CouldNotRun(reason, _left_in(folder) or "check the folder") from None
    for line in _told(place, captured, run):
        click.echo(printable(line), err=True)
    whole = captured.outcome == "completed" and not any(each.not_kept for each in captured.noted)
    ctx.exit(CLEAN if whole else FINDINGS)


@dataclass(frozen=True, slots=True)
class _People:
    """What only people say of a run."""

    title: str
    by: str


def _program(name: str) -> str:
    if shutil.which(name) is None:
        raise CouldNotRun(
            f"{name!r} is no program that can be run here", "check its name, or give its path"
        )
    return Path(name).name


def _patterns(keep: Sequence[str]) -> Sequence[str]:
    from upheld.measured.capture.kept_files import PatternError, check_pattern

    for pattern in keep:
        try:
            check_pattern(pattern)
        except PatternError as error:
            raise CouldNotRun(f"--keep: {error}", "name files in it: 'results/*.json'") from None
    return keep


def _address(url: str | None) -> str | None:
    from upheld.measured.capture.engine import EngineUrlError, check_url

    try:
        return None if url is None else check_url(url)
    except EngineUrlError as error:
        raise CouldNotRun(f"--engine-url: {error}", "write http://localhost:8000") from None


def _committer(root: Path) -> str:
    from upheld.measured.capture.repository import committer_of

    name = committer_of(root)
    if name is None:
        raise CouldNotRun("nobody is known to have measured", "name who did with --by")
    return name


def _line(option: str, text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > _LONGEST_LINE:
        raise CouldNotRun(
            f"{option} is not one plain line of at most {_LONGEST_LINE} characters", "shorten it"
        )
    return text


def _left_in(folder: Path | None) -> str | None:
    """Where a run that can't be kept left what there is of it; None where there is nothing."""
    there = folder is not None and folder.exists()
    return f"what there is by now is in {folder}" if there else None


def _naming(id_: str, people: _People, wanted: Wanted, captured: Captured) -> RunNaming:
    from upheld.importers.captured_run import RunNaming
    from upheld.measured.capture.capture_file import printed

    return RunNaming(
        id_=id_,
        title=people.title,
        by=people.by,
        date=captured.noted[0].execution.started.date(),
        command=shlex.join(printed(word) for word in wanted.command),
        outcome=captured.outcome,
    )


def _told(place: Place, captured: Captured, run: CapturedRun) -> Iterator[str]:
    """What was written, what it is good for, and what is left to do."""
    from upheld.records.envelope import AXES

    yield f"Written: {place.record_file}, outcome {captured.outcome}; files in {place.raw_folder}"
    if captured.outcome != "completed":
        yield "  It is kept, and never counts as evidence."
    elif run.evidence:
        yield f"  Read as evidence: {', '.join(run.evidence)}"
    else:
        yield "  No file is of a format that is read, so it carries no claim: see upheld read."
    if run.unstated:
        titles = ", ".join(AXES[axis].title for axis in run.unstated)
        yield f"  No file states: {titles}. Write under states what you know."
    for problem in captured.problems:
        yield f"  {problem}"
    for finding in run.refused:
        yield f"  {finding.place.path} is kept only: {finding.rule} {finding.message}"
