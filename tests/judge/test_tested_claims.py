"""Claims with basis `tested`, beside a JUnit report as evidence."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import pytest

from small_corpus import ADR, SmallCorpus
from upheld.judge.judgement import Judgement

REPORT = """<testsuites><testsuite name="pytest" tests="4" failures="1" errors="0" skipped="1"
 timestamp="2026-11-20T08:00:00+00:00">{properties}
<testcase classname="tests.test_gateway" name="test_no_second_effect" time="0.1" />
<testcase classname="tests.test_gateway" name="test_drain[a.b/c]" time="0.1"><failure/></testcase>
<testcase classname="tests.test_gpu" name="test_on_device"><skipped/></testcase>
<testcase classname="tests.test_other" name="test_drain[x]" time="0.1" />
</testsuite></testsuites>
"""
COMMIT = "4f2a91c0d3e5b6a798877665544332211ffeeddc"


@pytest.fixture
def corpus(tmp_path: Path) -> SmallCorpus:
    corpus = SmallCorpus(tmp_path)
    _write(corpus)
    return corpus


def _write(corpus: SmallCorpus, properties: str = "", more: str = "") -> None:
    report = REPORT.format(properties=properties)
    raw = corpus.root / "evidence" / "runs" / "raw" / "tests" / "junit.xml"
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.write_text(report)
    digest = hashlib.sha256(report.encode()).hexdigest()
    (corpus.root / "evidence" / "runs" / "tests.yaml").write_text(
        "kind: run\nid: tests\ntitle: The tests of the gateway\ndate: 2026-11-20\nby: Somebody\n"
        f"outcome: completed\n{more}files:\n  - path: evidence/runs/raw/tests/junit.xml\n"
        f"    sha256: {digest}\n    format: junit-xml\n"
    )


def _claim(corpus: SmallCorpus, *evidence: str, more: str = "") -> Judgement:
    named = "".join(f"      - {each}\n" for each in evidence)
    corpus.append(
        ADR,
        "  - id: by-test\n    says: A request has one effect.\n    basis: tested\n"
        f"    metric: project.behaviour\n{more}" + (f"    evidence:\n{named}" if evidence else ""),
    )
    return corpus.claim("by-test")


@pytest.mark.parametrize(
    "name",
    [
        "tests/test_gateway.py::test_no_second_effect",
        "tests.test_gateway.test_no_second_effect",
        "tests.test_gateway::test_no_second_effect",
        "test_no_second_effect",
    ],
)
def test_a_test_that_passed_upholds(corpus: SmallCorpus, name: str) -> None:
    found = _claim(corpus, f"{{run: tests, test: '{name}'}}")
    assert found.verdict == "upheld"
    assert found.rests_on == ["tests"]
    assert found.outcome.because == f"tests: {name} passed, at a commit that nobody stated."


@pytest.mark.parametrize(
    ("evidence", "verdict", "says"),
    [
        ("{run: tests}", "unsupported", "does not say which test"),
        ("{run: tests, test: test_absent}", "unsupported", "no report has a test named"),
        ("{run: nothing, test: test_absent}", "unsupported", "no valid record"),
        (
            "{run: tests, test: 'tests/test_gateway.py::test_drain[a.b/c]'}",
            "contradicted",
            "failed",
        ),
        ("{run: tests, test: test_on_device}", "insufficient", "was skipped"),
        (
            "{run: tests, test: test_no_second_effect, commit: 4f2a91c}",
            "insufficient",
            "nobody stated which commit",
        ),
    ],
)
def test_a_test_that_does_not_carry(
    corpus: SmallCorpus, evidence: str, verdict: str, says: str
) -> None:
    found = _claim(corpus, evidence)
    assert found.verdict == verdict
    assert says in found.outcome.because


@pytest.mark.parametrize("where", ["report", "record"])
@pytest.mark.parametrize(
    ("commit", "verdict"),
    [("4f2a91c", "upheld"), (COMMIT, "upheld"), ("0000000", "out-of-envelope")],
)
def test_the_commit_that_is_asked_for(
    corpus: SmallCorpus, where: str, commit: str, verdict: str
) -> None:
    if where == "report":
        value = f'<properties><property name="commit" value="{COMMIT}"/></properties>'
        _write(corpus, properties=value)
    else:
        _write(corpus, more=f"commit: {COMMIT}\n")
    named = f"{{run: tests, test: test_no_second_effect, commit: '{commit}'}}"
    found = _claim(corpus, named)
    assert found.verdict == verdict
    assert COMMIT in found.outcome.because


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        ("states: {engine: vllm}\n", "upheld"),
        ("states: {engine: sglang}\n", "out-of-envelope"),
        ("", "insufficient"),
    ],
)
def test_an_axis_that_the_claim_states(corpus: SmallCorpus, states: str, verdict: str) -> None:
    corpus.append("evidence/runs/tests.yaml", states)
    found = _claim(
        corpus, "{run: tests, test: test_no_second_effect}", more="    within: {engine: vLLM}\n"
    )
    assert found.verdict == verdict


def test_a_failure_outweighs_what_passed(corpus: SmallCorpus) -> None:
    found = _claim(
        corpus,
        "{run: tests, test: test_no_second_effect}",
        "{run: tests, test: 'tests/test_gateway.py::test_drain[a.b/c]'}",
    )
    assert found.verdict == "contradicted"
    assert "UPH601" in corpus.rules()


def test_no_evidence_and_an_old_run(corpus: SmallCorpus) -> None:
    assert _claim(corpus).verdict == "unsupported"


def test_a_run_that_is_too_old_is_stale(corpus: SmallCorpus) -> None:
    found = _claim(
        corpus, "{run: tests, test: test_no_second_effect}", more="    max_age: 5 days\n"
    )
    assert found.verdict == "stale"


def test_a_run_of_tomorrow_is_not_enough(corpus: SmallCorpus) -> None:
    _claim(corpus, "{run: tests, test: test_no_second_effect}")
    assert corpus.claim("by-test", date(2026, 11, 1)).verdict == "insufficient"


def test_a_report_that_was_changed_carries_nothing(corpus: SmallCorpus) -> None:
    corpus.append("evidence/runs/raw/tests/junit.xml", "\n")
    found = _claim(corpus, "{run: tests, test: test_no_second_effect}")
    assert found.verdict == "unsupported"


def test_a_run_that_was_interrupted_carries_nothing(corpus: SmallCorpus) -> None:
    corpus.replace("evidence/runs/tests.yaml", "outcome: completed", "outcome: interrupted")
    found = _claim(corpus, "{run: tests, test: test_no_second_effect}")
    assert found.verdict == "unsupported"


def test_other_bases_name_no_test(corpus: SmallCorpus) -> None:
    corpus.append(
        ADR,
        "  - id: measured-by-test\n    says: It is fast.\n    basis: measured\n"
        "    metric: latency.ttft.p99\n    expect: '<= 1 s'\n"
        "    evidence:\n      - {run: tests, test: test_no_second_effect}\n",
    )
    (finding,) = [each for each in corpus.judge().findings if each.rule == "UPH109"]
    assert "names no test" in finding.message
