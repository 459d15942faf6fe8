"""What judging a claim needs to know: the corpus, the day, the ledgers, the runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.ledger import Ledger, ledger
from upheld.corpus.links import links_of
from upheld.corpus.load import Corpus
from upheld.judge.evidence import RunEvidence, read_runs
from upheld.judge.names import Names
from upheld.records.deployment import Deployment
from upheld.records.device import Device
from upheld.records.model import Model

GROUNDS = ("assumption", "source", "run")


@dataclass(slots=True)
class Context:
    """One corpus on one day. Ledgers are worked out when first asked for."""

    corpus: Corpus
    as_of: date
    names: Names
    runs: dict[str, RunEvidence]
    _ledgers: dict[str, Ledger | ShapeError | None] = field(default_factory=dict)
    _grounds: dict[str, frozenset[str]] = field(default_factory=dict)
    _measuring: dict[str, list[RunEvidence]] | None = None

    def ledger(self, deployment: Deployment) -> Ledger | None:
        """The memory ledger of a deployment; None where its model or device is no valid record.

        Raises:
            ShapeError: the shape can't be computed.
        """
        if deployment.id not in self._ledgers:
            self._ledgers[deployment.id] = self._work_out(deployment)
        found = self._ledgers[deployment.id]
        if isinstance(found, ShapeError):
            raise found
        return found

    def _work_out(self, deployment: Deployment) -> Ledger | ShapeError | None:
        model = self.corpus.get(deployment.model)
        device = self.corpus.get(deployment.device)
        if not (isinstance(model, Model) and isinstance(device, Device)):
            return None
        try:
            return ledger(deployment, model, device)
        except ShapeError as error:
            return error

    def ledgers(self) -> dict[str, Ledger]:
        """Every ledger that was worked out."""
        return {id_: found for id_, found in self._ledgers.items() if isinstance(found, Ledger)}

    def measuring(self, metric: str) -> list[RunEvidence]:
        """The sound runs that have a figure of the metric, so that no claim looks at the others."""
        if self._measuring is None:
            self._measuring = {}
            for evidence in self.runs.values():
                figures = (figure for row in evidence.rows for figure in row.row.figures)
                for name in dict.fromkeys(figure.name for figure in figures if evidence.sound):
                    self._measuring.setdefault(name, []).append(evidence)
        return self._measuring.get(metric, [])

    def grounds(self, ids: Iterable[str]) -> frozenset[str]:
        """Every assumption, source and run that is reached from these records, however deep.

        A record's own claims are not among its grounds: they rest on it.
        """
        return frozenset().union(*(self._grounds_of(str(id_)) for id_ in ids))

    def _grounds_of(self, start: str) -> frozenset[str]:
        if start not in self._grounds:
            pending = [start]
            seen: set[str] = set()
            while pending:
                id_ = pending.pop()
                entry = self.corpus.entries.get(id_)
                if entry is None or id_ in seen:
                    continue
                seen.add(id_)
                links = links_of(entry.record)
                pending.extend(link.target for link in links if link.at[0] != "claims")
            self._grounds[start] = frozenset(
                id_ for id_ in seen if self.corpus.entries[id_].kind in GROUNDS
            )
        return self._grounds[start]


def context_of(corpus: Corpus, as_of: date) -> Context:
    """Read the corpus's runs and names, ready to judge."""
    names = Names(corpus)
    return Context(corpus, as_of, names, read_runs(corpus, names))
