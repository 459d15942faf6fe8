"""The index of all that claims rest on, by kind of record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from upheld.judge.judgement import Judged
from upheld.records.assumption import Assumption
from upheld.records.deployment import Deployment
from upheld.records.device import Device
from upheld.records.model import Model
from upheld.records.policy import Policy
from upheld.records.run import Run
from upheld.records.snapshot import Snapshot
from upheld.records.source import Source
from upheld.records.types import Record
from upheld.site.links import Links
from upheld.site.pages.page import Page
from upheld.site.pages.template import render
from upheld.site.pages.view import View
from upheld.site.paths import EVIDENCE


@dataclass(frozen=True, slots=True)
class IndexedKind:
    """A kind of record in the index, with a few words on what it is."""

    title: str
    means: str
    rows: list[tuple[Record, str]]


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page."""
    view = View(judged, links, EVIDENCE)

    def kind(
        title: str, means: str, model: type[Record], note: Callable[..., str] = lambda _: ""
    ) -> IndexedKind:
        return IndexedKind(title, means, [(each, note(each)) for each in judged.corpus.of(model)])

    kinds = [
        kind("Runs", "What a tool measured, with its files.", Run, _dated_run),
        kind("Deployments", "How a model is served, with its memory worked out.", Deployment),
        kind("Policies", "What a gateway declares.", Policy),
        kind("Models", "Shapes of models.", Model),
        kind("Devices", "Kinds of accelerator.", Device),
        kind("Sources", "What others published.", Source, _checked),
        kind("Assumptions", "What is taken as given.", Assumption, _owned),
        kind("Snapshots", "Decisions as they once stood.", Snapshot, _frozen),
    ]
    body = render("evidence.html", view, trail=[("Home", view.home())], kinds=kinds)
    yield Page(EVIDENCE, "Evidence", body)


def _dated_run(run: Run) -> str:
    return f"{run.date}, {run.outcome}"


def _checked(source: Source) -> str:
    return f"checked {source.checked}"


def _owned(assumption: Assumption) -> str:
    review = f", review by {assumption.review}" if assumption.review else ""
    return f"{assumption.owner}{review}"


def _frozen(snapshot: Snapshot) -> str:
    return f"{snapshot.adr}, frozen {snapshot.frozen}"
