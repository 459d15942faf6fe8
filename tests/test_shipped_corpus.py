"""The corpus that ships: it stands, and each line of its evidence is needed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from upheld.corpus.load import Corpus, load
from upheld.corpus.yaml_reader import read_yaml
from upheld.judge.judge import judge_corpus
from upheld.judge.judgement import Judged
from upheld.records.adr import Adr
from upheld.records.metrics import BASES
from upheld.records.source import Source

ROOT = Path(__file__).parents[1]
AS_OF = date(2026, 12, 1)

# Claims that are declared open or taken as given have no evidence to lose.
DECLARED = ("untested", "assumed")


def judge(root: Path) -> Judged:
    return judge_corpus(load(root), AS_OF)


@pytest.fixture(scope="module")
def shipped() -> Judged:
    return judge(ROOT)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("adrs", "evidence"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_it_stands(shipped: Judged) -> None:
    assert [str(finding) for finding in shipped.findings] == []
    assert not shipped.blocked


def test_adr_009_has_claims_of_every_basis_that_can_be_judged(shipped: Judged) -> None:
    bases = {judgement.claim.basis for judgement in shipped.of("ADR-009")}
    # No GPU has been used, and no test report can be read yet.
    assert bases == set(BASES) - {"measured", "tested"}


@pytest.mark.parametrize(
    "subject",
    ["memory", "safety", "latency", "throughput", "cost", "privacy", "tokenisation", "budget"],
)
def test_adr_009_claims_something_about(shipped: Judged, subject: str) -> None:
    assert any(each.claim.metric.startswith(f"{subject}.") for each in shipped.of("ADR-009"))


def test_nothing_about_speed_cost_or_quality_is_upheld_without_a_run(shipped: Judged) -> None:
    for judgement in shipped.judgements:
        if (
            judgement.claim.metric.startswith(
                ("latency.", "throughput.", "cost.", "quality.", "privacy.", "tokenisation.")
            )
            and not judgement.claim.evidence
        ):
            assert judgement.verdict in ("untested", "assumed"), judgement.id


def test_adr_009_is_unassessed_and_stops_where_it_says(shipped: Judged) -> None:
    adr = shipped.corpus.get("ADR-009")
    assert isinstance(adr, Adr)
    assert {gate.state for gate in adr.gates} == {"unassessed"}
    assert {gate.depth for gate in adr.gates} == {"build", "design", "explain"}
    assert [review.after_days for review in adr.reviews] == [1, 7, 21]
    assert {signal.failure for signal in adr.signals} >= {
        "queue",
        "prefill",
        "decode",
        "memory",
        "unknown-outcome",
    }
    assert len(adr.boundaries) == 5
    assert adr.stopping_point is not None
    checked = {
        id_: source.checked
        for id_ in adr.sources
        if isinstance(source := shipped.corpus.get(id_), Source)
    }
    assert list(checked.values()).count(date(2026, 11, 2)) == 4


def lines_of_evidence() -> list[Any]:
    return list(_lines_of_evidence())


def _lines_of_evidence() -> Iterator[Any]:
    """Each place where a shipped claim names what carries it."""
    for file in sorted((ROOT / "adrs").glob("*.yaml")):
        value = read_yaml(file.name, file.read_bytes()).value
        for claim in value.get("claims", []):
            if claim["basis"] in DECLARED:
                continue
            for key in ("evidence", "sources"):
                for index in range(len(claim.get(key, []))):
                    name = f"{value['id']}#{claim['id']} {key}[{index}]"
                    yield pytest.param(file.name, claim["id"], (key, index), id=name)
            for key in ("within", "versus"):
                for axis in claim.get(key, {}):
                    if axis in ("deployment", "policy"):
                        name = f"{value['id']}#{claim['id']} {key}.{axis}"
                        yield pytest.param(file.name, claim["id"], (key, axis), id=name)


@pytest.mark.parametrize(("file", "claim_id", "line"), lines_of_evidence())
def test_a_claim_falls_without_any_one_line_of_its_evidence(
    shipped: Judged, copy: Path, file: str, claim_id: str, line: tuple[str, str | int]
) -> None:
    import yaml

    path = copy / "adrs" / file
    value = read_yaml(file, path.read_bytes()).value
    judgement = shipped.get(f"{value['id']}#{claim_id}")
    assert judgement is not None
    claim = next(each for each in value["claims"] if each["id"] == claim_id)
    del claim[line[0]][line[1]]
    path.write_text(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    fallen = judge(copy)
    after = fallen.get(judgement.id)
    # The record is refused, or the claim no longer stands as it did.
    assert fallen.blocked
    assert after is None or after.verdict == "unsupported"


def records_of_evidence() -> list[Any]:
    files = sorted((ROOT / "evidence").rglob("*.yaml"))
    return [
        pytest.param(file.relative_to(ROOT), id=file.stem)
        for file in files
        if "snapshots" not in file.parts
    ]


@pytest.mark.parametrize("record", records_of_evidence())
def test_no_record_of_evidence_can_be_taken_away(copy: Path, record: Path) -> None:
    corpus = load(copy)
    linked = bool(links_to(corpus, record.as_posix()))
    (copy / record).unlink()
    assert linked, "a record that nothing links to carries nothing: use it or remove it"
    assert judge(copy).blocked


def links_to(corpus: Corpus, path: str) -> list[str]:
    return [
        link.source
        for id_, entry in corpus.entries.items()
        if entry.document.path == path
        for link in corpus.back_links.get(id_, [])
    ]


def test_raw_files_are_all_there_and_all_used(shipped: Judged) -> None:
    named = {raw.path for run in shipped.runs.values() for raw in (*run.run.files, *run.run.kept)}
    kept = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "evidence").rglob("raw/**/*")
        if file.is_file()
    }
    assert kept == named
