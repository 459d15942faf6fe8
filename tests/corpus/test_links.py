from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.corpus_of import assumption, corpus_of, decision, said
from records.record_texts import TEXTS, record_in
from upheld.corpus import links
from upheld.corpus.links import links_of
from upheld.corpus.load import load_texts


def decisions(**supersedes: str) -> dict[str, str | bytes]:
    """ADR-001="002, 003" and so on, as files."""
    return {
        f"adrs/{id_}.yaml": decision(
            id_.replace("_", "-"),
            f"supersedes: [{', '.join(f'ADR-{each}' for each in targets.split())}]",
        )
        for id_, targets in supersedes.items()
    }


class TestLinks:
    def test_of_a_record_are_found_however_deep(self) -> None:
        text = (
            TEXTS["policy"]
            + """\
assumes: [a, b]
claims:
  - id: c
    says: S
    basis: untested
    why: W
    metric: latency.ttft
    within: {deployment: replica, policy: gate}
    evidence: [{run: r}]
    sources: [{source: s, at: page 1}]
"""
        )
        found = {(link.at, link.target, link.kinds) for link in links_of(record_in(text))}
        assert found == {
            (("deployment",), "replica", ("deployment",)),
            (("assumes", 0), "a", ("assumption",)),
            (("assumes", 1), "b", ("assumption",)),
            (("claims", 0, "within", "deployment"), "replica", ("deployment",)),
            (("claims", 0, "within", "policy"), "gate", ("policy",)),
            (("claims", 0, "evidence", 0, "run"), "r", ("run",)),
            (("claims", 0, "sources", 0, "source"), "s", ("source",)),
        }

    def test_of_single_fields_have_the_field_in_their_path(self) -> None:
        found = links_of(record_in(TEXTS["device"] + "origins: {memory: other}\n"))
        assert [(link.at, link.target) for link in found] == [
            (("origin",), "taken"), (("origins", "memory"), "other"),
        ]  # fmt: skip

    def test_to_nothing(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "assumes:", "  - real", "  - reel", "  - zzz"),
            "evidence/real.yaml": assumption("real"),
        })  # fmt: skip
        assert [(str(f.place), f.rule, f.message, f.help) for f in corpus.findings] == [
            ("adrs/a.yaml:11:5", "UPH202", "no record has the id 'reel'", "did you mean 'real'?"),
            ("adrs/a.yaml:12:5", "UPH202", "no record has the id 'zzz'",
             "add that record, or name another"),
        ]  # fmt: skip

    def test_to_another_kind(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "assumes: [page]"),
            "evidence/page.yaml": TEXTS["source"],
            "evidence/card.yaml": TEXTS["device"].replace("taken", "ADR-001"),
        })  # fmt: skip
        assert [(str(f.place), f.rule, f.message, f.help) for f in corpus.findings] == [
            ("adrs/a.yaml:9:11", "UPH203", "page is a record of kind source",
             "name a record of kind assumption"),
            ("evidence/card.yaml:6:1", "UPH203", "ADR-001 is a record of kind adr",
             "name a record of kind source or assumption or run"),
        ]  # fmt: skip

    def test_to_anything_where_the_field_says_so(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "related: [page, ADR-001]"),
            "evidence/page.yaml": TEXTS["source"],
        })  # fmt: skip
        assert corpus.findings == []

    def test_back(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "status: superseded", "assumes: [real]"),
            "adrs/b.yaml": decision("ADR-002", "supersedes: [ADR-001]", "assumes: [real, real]"),
            "evidence/real.yaml": assumption("real"),
        })  # fmt: skip
        assert corpus.findings == []
        assert [(link.source, link.at) for link in corpus.back_links["real"]] == [
            ("ADR-001", ("assumes", 0)), ("ADR-002", ("assumes", 0)), ("ADR-002", ("assumes", 1)),
        ]  # fmt: skip
        assert corpus.superseded_by("ADR-001") == ["ADR-002"]
        assert corpus.superseded_by("ADR-002") == []

    def test_that_lead_nowhere_in_great_number_are_told_in_time(self, tmp_path: Path) -> None:
        texts = {
            f"adrs/{n}.yaml": decision(
                f"ADR-{n:05}", "assumes: [" + ", ".join(f"no-{n}-{k}" for k in range(20)) + "]"
            )
            for n in range(300)
        }
        assert len(load_texts(tmp_path, texts).findings) == 6_000

    def test_that_lead_nowhere_get_a_suggestion_while_that_is_cheap(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(links, "MAX_COMPARISONS", 2)
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "assumes: [reel, raal, reel]"),
            "evidence/real.yaml": assumption("real"),
        })  # fmt: skip
        assert [finding.help for finding in corpus.findings] == [
            "did you mean 'real'?", "add that record, or name another", "did you mean 'real'?",
        ]  # fmt: skip


class TestSupersedes:
    @pytest.mark.parametrize(
        ("links", "told"),
        [
            ({"ADR_001": "001"}, {"ADR-001 → ADR-001"}),
            ({"ADR_001": "002", "ADR_002": "001"}, {"ADR-001 → ADR-002 → ADR-001"}),
            ({"ADR_003": "001", "ADR_001": "002", "ADR_002": "003"},
             {"ADR-001 → ADR-002 → ADR-003 → ADR-001"}),
            ({"ADR_001": "002", "ADR_002": "003", "ADR_003": "002"},
             {"ADR-002 → ADR-003 → ADR-002"}),
            ({"ADR_001": "002", "ADR_002": "001", "ADR_003": "003"},
             {"ADR-001 → ADR-002 → ADR-001", "ADR-003 → ADR-003"}),
            ({"ADR_001": "002", "ADR_002": "001 004", "ADR_004": "001"},
             {"ADR-001 → ADR-002 → ADR-001"}),
            ({"ADR_001": "002 003", "ADR_002": "003", "ADR_003": ""}, set()),
            ({"ADR_001": "", "ADR_002": "001 001"}, set()),
        ],
    )  # fmt: skip
    def test_in_a_circle(self, tmp_path: Path, links: dict[str, str], told: set[str]) -> None:
        corpus = corpus_of(tmp_path, decisions(**links))
        start = "decisions supersede each other in a circle: "
        assert {f.message.removeprefix(start) for f in corpus.findings} == told
        assert {f.rule for f in corpus.findings} <= {"UPH204"}
        for finding in corpus.findings:
            first = finding.message.removeprefix(start).split()[0]
            assert str(finding.place) == f"adrs/{first.replace('-', '_')}.yaml:9:1"

    @given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=14))
    def test_a_circle_is_told_where_there_is_one_and_only_there(
        self, pairs: list[tuple[int, int]]
    ) -> None:
        links = {n: {target for source, target in pairs if source == n} for n in range(1, 7)}
        texts = {
            f"adrs/{n}.yaml": decision(
                f"ADR-00{n}",
                f"supersedes: [{', '.join(f'ADR-00{each}' for each in sorted(targets))}]",
            )
            for n, targets in links.items()
        }
        told = [f.message for f in load_texts(Path(), texts).findings if f.rule == "UPH204"]
        assert bool(told) is _has_circle(links)
        for message in told:
            circle = [int(each[-3:]) for each in message.split(": ")[1].split(" → ")]
            assert circle[0] == circle[-1] == min(circle)
            assert all(b in links[a] for a, b in pairwise(circle))

    def test_a_long_chain_and_a_long_circle_are_followed_in_time(self, tmp_path: Path) -> None:
        chain = {
            f"adrs/{n}.yaml": decision(f"ADR-{n:05}", f"supersedes: [ADR-{n + 1:05}]")
            for n in range(1_500)
        }
        last = {"adrs/last.yaml": decision("ADR-01500")}
        assert load_texts(tmp_path, chain | last).findings == []
        closed = {"adrs/last.yaml": decision("ADR-01500", "supersedes: [ADR-00000]")}
        (finding,) = load_texts(tmp_path, chain | closed).findings
        assert finding.rule == "UPH204"
        assert len(finding.message) < 400

    def test_a_link_is_followed_once_however_many_ways_lead_to_it(self, tmp_path: Path) -> None:
        # There are more ways through these than could ever be walked.
        diamonds = {
            f"adrs/{n}.yaml": decision(
                f"ADR-{n:03}", f"supersedes: [ADR-{n + 1:03}, ADR-{n + 2:03}]"
            )
            for n in range(90)
        }
        ends = {f"adrs/{n}.yaml": decision(f"ADR-{n:03}") for n in (90, 91)}
        assert load_texts(tmp_path, diamonds | ends).findings == []

    @pytest.mark.parametrize("status", ["proposed", "rejected"])
    def test_what_was_not_decided_supersedes_nothing(self, tmp_path: Path, status: str) -> None:
        corpus = corpus_of(
            tmp_path,
            {
                "adrs/a.yaml": decision("ADR-001", "status: superseded"),
                "adrs/b.yaml": decision("ADR-002", f"status: {status}", "supersedes: [ADR-001]"),
            },
        )
        assert [finding.rule for finding in corpus.findings] == ["UPH205"]

    def test_superseded_by_nothing(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {"adrs/a.yaml": decision("ADR-001", "status: superseded")})
        (finding,) = corpus.findings
        assert (finding.rule, str(finding.place), finding.help) == (
            "UPH205", "adrs/a.yaml:8:1",
            "write supersedes: [ADR-001] in the decision that replaces it",
        )  # fmt: skip


def _has_circle(links: dict[int, set[int]]) -> bool:
    left = dict(links)
    while True:
        free = [n for n, targets in left.items() if not targets & set(left)]
        if not free:
            return bool(left)
        for n in free:
            del left[n]


class TestLocalIds:
    def test_twice_in_one_list(self, tmp_path: Path) -> None:
        claim = "  - {id: %s, says: S, basis: untested, why: W, metric: latency.ttft}"
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision("ADR-001", "claims:", claim % "C-1", claim % "c-1"),
        })  # fmt: skip
        assert said(corpus) == [
            ("UPH201", "adrs/a.yaml:11:6", "claims holds the id 'c-1' twice"),
        ]  # fmt: skip

    def test_once_in_each_of_two_lists(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/a.yaml": decision(
                "ADR-001",
                "claims: [{id: o, says: S, basis: untested, why: W, metric: latency.ttft}]",
            ),
        })  # fmt: skip
        assert corpus.findings == []

    def test_twice_deep_down(self, tmp_path: Path) -> None:
        provider = "    - {id: %s, data: [d], regions: [r], behaviour: [b]}"
        policy = "\n".join([
            TEXTS["policy"] + "fallback:", "  when: [failed_known]", "  after_output: never",
            "  max_hops: 1", "  providers:", provider % "b", provider % "B", "",
        ])  # fmt: skip
        corpus = corpus_of(tmp_path, {"evidence/gate.yaml": policy})
        assert said(corpus) == [
            ("UPH201", "evidence/gate.yaml:11:8", "fallback.providers holds the id 'B' twice"),
            ("UPH202", "evidence/gate.yaml:4:1", "no record has the id 'replica'"),
        ]  # fmt: skip
