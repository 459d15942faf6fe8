"""Claims that a named test of an implementation carries."""

from __future__ import annotations

from upheld.judge.context import Context
from upheld.judge.evidence import RunEvidence
from upheld.judge.figures import plain
from upheld.judge.judgement import Holder, Outcome, Piece
from upheld.measured.envelope import compare
from upheld.measured.reading import TestOutcome
from upheld.records.claim import Claim, Evidence
from upheld.records.envelope import AXES
from upheld.records.verdicts import Verdict

_WORST_FIRST: tuple[Verdict, ...] = (
    "contradicted", "unsupported", "out-of-envelope", "insufficient", "stale", "upheld",
)  # fmt: skip


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Upheld where every named test passed, at the commit that the claim asks for."""
    if not claim.evidence:
        return Outcome("unsupported", "No run with a report of tests is named as evidence.")
    outcomes = [_named(claim, each, context) for each in claim.evidence]
    worst = min((outcome.verdict for outcome in outcomes), key=_WORST_FIRST.index)
    speaking = [outcome for outcome in outcomes if outcome.verdict == worst]
    return Outcome(
        worst,
        " ".join(dict.fromkeys(outcome.because for outcome in speaking)),
        rests_on=frozenset().union(*(outcome.rests_on for outcome in outcomes)),
        pieces=tuple(piece for outcome in outcomes for piece in outcome.pieces),
    )


def _named(claim: Claim, named: Evidence, context: Context) -> Outcome:
    evidence = context.runs.get(str(named.run))
    if evidence is None:
        return Outcome("unsupported", f"The run {named.run} is no valid record.")
    run = evidence.run
    rests_on = frozenset({run.id})

    def says(verdict: Verdict, why: str) -> Outcome:
        pieces = (Piece(run.id, named.test, verdict in ("upheld", "contradicted"), why),)
        return Outcome(verdict, f"{run.id}: {why}.", rests_on, pieces=pieces)

    if named.test is None:
        return says("unsupported", "the claim does not say which test of it")
    broken = next((each for each in evidence.findings if each.severity == "error"), None)
    if broken is not None:
        return says("unsupported", f"it can't be used: {broken.message}")
    found = _outcomes(evidence, named.test)
    if not found:
        return says("unsupported", f"no report has a test named {named.test}")
    if len(found) > 1:
        return says("insufficient", f"{len(found)} tests are named {named.test}")
    (outcome,) = found.values()
    differences = compare(claim.within.stated(), run.states.stated(), context.names.normal)
    elsewhere = [_other_commit(evidence, named)]
    elsewhere += [
        f"the {AXES[each.axis].title} is {plain(each.found)}, not {plain(each.claimed)}"
        for each in differences
        if each.found is not None
    ]
    if any(elsewhere):
        return says("out-of-envelope", "; ".join(each for each in elsewhere if each))
    if outcome in ("failed", "error"):
        return says("contradicted", f"{named.test} did not pass ({outcome})")
    if run.date > context.as_of:
        return says("insufficient", f"it is dated {run.date}, after {context.as_of}")
    if outcome == "skipped":
        return says("insufficient", f"{named.test} was skipped")
    if run.outcome != "completed":
        return says("unsupported", f"the run {run.outcome}, so it can't be used")
    if differences:
        titles = ", ".join(AXES[each.axis].title for each in differences)
        return says("insufficient", f"nobody stated the {titles} of what was tested")
    commit = _commit_of(evidence)
    if named.commit is not None and commit is None:
        return says("insufficient", "nobody stated which commit was tested")
    age = (context.as_of - evidence.measured).days
    at = f" at {commit}" if commit else ", at a commit that nobody stated"
    if claim.max_age is not None and age > claim.max_age.base / 86400:
        return says("stale", f"{named.test} passed{at}, {age:,} days ago")
    return says("upheld", f"{named.test} passed{at}")


def _outcomes(evidence: RunEvidence, wanted: str) -> dict[str, TestOutcome]:
    """The tests of that full name, or whose last part it is where none has it in full."""
    tests: dict[str, TestOutcome] = {}
    for row in evidence.rows:
        for name, outcome in row.row.tests.items():
            plain = _plain(name)
            if tests.get(plain) not in ("failed", "error"):
                tests[plain] = outcome
    name = _plain(wanted)
    if name in tests:
        return {name: tests[name]}
    return {each: outcome for each, outcome in tests.items() if each.endswith(f".{name}")}


def _plain(name: str) -> str:
    """`tests.test_x.test_a` of `tests/test_x.py::test_a`; what stands in brackets stays."""
    path, bracket, rest = name.partition("[")
    path = path.replace(".py::", ".").replace("::", ".").replace("/", ".")
    return path + bracket + rest


def _commit_of(evidence: RunEvidence) -> str | None:
    """The commit that was tested, by the report itself or else by the record of the run."""
    stated = (row.row.stated.get("commit") for row in evidence.rows if row.row.tests)
    return next((each for each in stated if each), evidence.run.commit)


def _other_commit(evidence: RunEvidence, named: Evidence) -> str | None:
    commit = _commit_of(evidence)
    if named.commit is None or commit is None:
        return None
    length = min(len(named.commit), len(commit))
    if named.commit[:length] == commit.casefold()[:length]:
        return None
    return f"the commit is {commit}, not {named.commit}"
