"""A corpus judged: every claim held against the evidence that its basis needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from upheld.arithmetic.errors import ShapeError
from upheld.control.budgets import conflicts
from upheld.corpus.load import Corpus
from upheld.judge import derived, gate
from upheld.judge.bases import BASES
from upheld.judge.bases.measured import contradicted
from upheld.judge.context import Context, context_of
from upheld.judge.judgement import Holder, Judged, Judgement, Outcome
from upheld.records.adr import Adr
from upheld.records.assumption import Assumption
from upheld.records.claim import Claim
from upheld.records.deployment import Deployment
from upheld.records.finding import Finding
from upheld.records.metrics import resolve
from upheld.records.model import Model
from upheld.records.policy import Policy
from upheld.records.units import format_bytes


def judge_corpus(corpus: Corpus, as_of: date | None = None) -> Judged:
    """Judge every claim of the corpus as of a day, by default today."""
    day = as_of or date.today()
    context = context_of(corpus, day)
    judgements = [
        _judge(claim, index, holder, context)
        for holder in _holders(corpus)
        for index, claim in enumerate(holder.claims)
    ]
    findings = [*corpus.findings, *context.names.findings, *_lapsed(corpus, day)]
    findings.extend(_deployments(context))
    findings.extend(_policies(corpus))
    for run in context.runs.values():
        findings.extend(run.findings)
    for judgement in judgements:
        findings.extend(gate.findings(judgement, day))
    return Judged(corpus, day, judgements, findings, context.ledgers(), context.runs)


def _holders(corpus: Corpus) -> list[Holder]:
    return [*corpus.of(Adr), *corpus.of(Deployment), *corpus.of(Policy)]


def _judge(claim: Claim, index: int, holder: Holder, context: Context) -> Judgement:
    outcome = _outcome(claim, holder, context)
    place = context.corpus.entries[holder.id].document.place(("claims", index))
    return Judgement(
        f"{holder.id}#{claim.id}",
        claim,
        holder,
        place,
        outcome,
        gate.blocks(context.corpus.config, holder, outcome.verdict),
    )


def _outcome(
    claim: Claim, holder: Holder, context: Context, deriving: frozenset[str] = frozenset()
) -> Outcome:
    """What its basis has to say; `deriving` are the claims that wait for this one."""
    metric, _ = resolve(claim.metric)
    if claim.basis not in metric.bases:
        *others, last = sorted(metric.shown_by)
        able = f"{', '.join(others)} or {last}" if others else last
        return Outcome(
            "wrong-basis",
            f"{metric.name} can't be carried by {claim.basis}; a basis that can: {able}.",
        )
    if claim.derived is None:
        outcome = contradicted(claim, holder, context) or BASES[claim.basis](claim, holder, context)
    else:
        waiting = deriving | {claim.id}
        outcome = derived.judge(claim, context, lambda id_: _input(id_, holder, context, waiting))
    stated = [*claim.assumes, *(citation.source for citation in claim.sources)]
    outcome = replace(outcome, rests_on=context.grounds([*outcome.rests_on, *stated]))
    unsound = sorted(id_ for id_ in outcome.rests_on if _is_unsound_run(id_, context))
    if outcome.verdict == "upheld" and unsound:
        because = f"It rests on {', '.join(unsound)}, which can't be used."
        return replace(outcome, verdict="unsupported", because=because)
    return outcome


def _input(id_: str, holder: Holder, context: Context, waiting: frozenset[str]) -> Outcome | None:
    """The outcome of a claim that another of the same record is derived from."""
    claim = next((each for each in holder.claims if each.id == id_), None)
    if claim is None or id_ in waiting:
        return None
    return _outcome(claim, holder, context, waiting)


def _is_unsound_run(id_: str, context: Context) -> bool:
    run = context.runs.get(id_)
    return run is not None and not run.sound


def _lapsed(corpus: Corpus, day: date) -> Iterator[Finding]:
    for assumption in corpus.of(Assumption):
        if assumption.review is not None and assumption.review < day:
            yield Finding(
                "UPH607",
                corpus.entries[assumption.id].document.place(("review",)),
                f"{assumption.id} was to be reviewed by {assumption.review}",
                "look at it again, and write the next review date",
                "warning",
            )


def _deployments(context: Context) -> Iterator[Finding]:
    for deployment in context.corpus.of(Deployment):
        place = context.corpus.entries[deployment.id].document.place
        try:
            ledger = context.ledger(deployment)
        except ShapeError as error:
            yield Finding(
                "UPH301",
                place(("model",)),
                f"the memory of {deployment.id} can't be computed: {error}",
                "correct the model's shape or how it is sharded",
            )
            continue
        if ledger is not None and not ledger.fits:
            yield Finding(
                "UPH302",
                place(),
                f"{deployment.id} needs {format_bytes(ledger.device_total)} a device, "
                f"{format_bytes(ledger.excess)} more than its budget of "
                f"{format_bytes(ledger.budget.bytes)}",
                "lower max_num_seqs or max_model_len, or shard over more devices",
                "warning",
            )
        yield from _positions(deployment, context)


def _positions(deployment: Deployment, context: Context) -> Iterator[Finding]:
    """A context limit beyond the model's positions, which an engine refuses or extends."""
    model = context.corpus.get(deployment.model)
    positions = model.max_position_embeddings if isinstance(model, Model) else None
    if positions is not None and deployment.max_model_len.base > positions.base:
        yield Finding(
            "UPH303",
            context.corpus.entries[deployment.id].document.place(("max_model_len",)),
            f"{deployment.id} allows {deployment.max_model_len}, and {deployment.model} has "
            f"{positions} of positions",
            "lower max_model_len, or state the positions that the model is extended to",
            "warning",
        )


def _policies(corpus: Corpus) -> Iterator[Finding]:
    for policy in corpus.of(Policy):
        deployment = corpus.get(policy.deployment)
        if not isinstance(deployment, Deployment):
            continue
        for conflict in conflicts(policy, deployment):
            yield Finding(
                conflict.rule,
                corpus.entries[policy.id].document.place(conflict.field),
                f"{policy.id}: {conflict.message}",
                conflict.help,
            )
