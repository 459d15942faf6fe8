"""`upheld snapshot`: freeze a decision, and verify that a frozen one still holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.cli.ids import checked_id
from upheld.cli.options import as_of_option, format_option, open_corpus, open_judged, root_option
from upheld.cli.output import write_whole

if TYPE_CHECKING:
    from upheld.snapshot.verify import Verified

_FOLDER = Path("evidence", "snapshots")


@click.group("snapshot")
def command() -> None:
    """Freeze a decision with all that it rests on, and verify it offline."""


@command.command("freeze")
@click.argument("adr")
@root_option
@click.option("--id", "id_", metavar="ID", help="Id of the snapshot (default: ADR and date).")
@as_of_option
def freeze_command(adr: str, root: Path, id_: str | None, as_of: date | None) -> None:
    """Freeze the decision ADR as it stands.

    \b
    Example:
      upheld snapshot freeze ADR-009

    An existing snapshot is never overwritten.

    Exit codes: 0 frozen, 2 it can't be frozen.
    """
    from upheld.snapshot.freeze import NotFrozen, freeze

    judged = open_judged(root, as_of)
    name = checked_id(id_ or f"{adr}-{judged.as_of}", "name another with --id")
    target = root / _FOLDER / f"{name}.yaml"
    if target.exists() or name in judged.corpus.entries:
        raise CouldNotRun(f"there is a snapshot {name} already", "name another with --id")
    try:
        text = freeze(judged, adr, name)
    except NotFrozen as error:
        raise CouldNotRun(f"{adr} is not frozen: {error}", error.help) from None
    if not target.parent.is_dir():
        target.parent.mkdir(parents=True)
    write_whole(target, text)
    click.echo(f"Frozen: {target}")


@command.command("verify")
@click.argument("ids", metavar="[ID]…", nargs=-1)
@root_option
@format_option
@click.pass_context
def verify_command(ctx: click.Context, ids: tuple[str, ...], root: Path, format_: str) -> None:
    """Verify snapshots, by default all: digests, raw files, and every verdict once more.

    \b
    Examples:
      upheld snapshot verify
      upheld snapshot verify ADR-009-2026-12-01

    Exit codes: 0 every snapshot holds, 1 one does not, 2 there is none to verify.
    """
    from upheld.records.snapshot import Snapshot
    from upheld.snapshot.verify import verify

    corpus = open_corpus(root)
    snapshots = {snapshot.id: snapshot for snapshot in corpus.of(Snapshot)}
    for id_ in ids:
        if id_ not in snapshots:
            known = ", ".join(snapshots) or "none"
            raise CouldNotRun(f"there is no snapshot {id_!r}", f"snapshots here: {known}")
    if not snapshots:
        damaged = [each for each in corpus.findings if "snapshots/" in each.place.path]
        reason = f": {damaged[0].place} {damaged[0].message}" if damaged else ""
        raise CouldNotRun(
            f"there is no snapshot to verify{reason}", "make one: upheld snapshot freeze ADR-…"
        )
    verified = [verify(corpus, snapshots[id_]) for id_ in ids or snapshots]
    if format_ == "json":
        from upheld.report.json_text import VERSION, json_text

        shown = [_verified_object(each) for each in verified]
        click.echo(json_text({"version": VERSION, "snapshots": shown}))
    else:
        for each in verified:
            click.echo("\n".join(_verified_lines(each)))
    ctx.exit(FINDINGS if any(each.findings for each in verified) else CLEAN)


def _verified_object(verified: Verified) -> dict[str, Any]:
    from upheld.report.json_text import finding_object

    return {
        "id": verified.snapshot.id,
        "holds": not verified.findings,
        "changed_since": list(verified.changed_since),
        "findings": [finding_object(finding) for finding in verified.findings],
    }


def _verified_lines(verified: Verified) -> Iterator[str]:
    from upheld.records.units import count
    from upheld.report.finding_text import finding_lines

    snapshot = verified.snapshot
    for finding in verified.findings:
        yield from finding_lines(finding)
    held = "does not hold" if verified.findings else "holds"
    frozen = (
        count(len(snapshot.records), "record"),
        count(len(snapshot.files), "raw file"),
        count(len(snapshot.verdicts), "verdict"),
    )
    yield f"{snapshot.id} {held}: {', '.join(frozen)}"
    if verified.changed_since:
        yield f"  changed since: {', '.join(verified.changed_since)}"
