"""Pages: one of every kind, each number with its basis, blocked claims at the top."""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction

import pytest

from small_corpus import ADR, MODEL, RAW, SmallCorpus
from upheld.records.units import parse_quantity
from upheld.site.links import Links
from upheld.site.pages import render_all
from upheld.site.pages.page import Page
from upheld.site.pages.view import in_unit, plain
from upheld.site.words import BASES, VERDICTS


def pages_of(corpus: SmallCorpus, links: Links | None = None) -> dict[str, Page]:
    return {page.path: page for page in render_all(corpus.judge(), links or Links())}


def test_there_is_a_page_for_every_record_and_section(full: SmallCorpus) -> None:
    pages = pages_of(full)
    assert set(pages) >= {
        "index.md",
        "claims.md",
        "untested.md",
        "decisions/index.md",
        "decisions/adr-001.md",
        "decisions/adr-002.md",
        "evidence/index.md",
        "evidence/assumptions/runtime-memory.md",
        "evidence/deployments/one-card.md",
        "evidence/devices/card.md",
        "evidence/models/tiny.md",
        "evidence/policies/gate.md",
        "evidence/runs/serve-16.md",
        "evidence/snapshots/small-then.md",
        "evidence/sources/paper.md",
    }
    assert len(pages) == 5 + len(full.judge().corpus.entries)


def test_pages_are_the_same_every_time(full: SmallCorpus) -> None:
    assert pages_of(full) == pages_of(full)


def test_every_block_of_a_page_is_one_line_of_html(full: SmallCorpus) -> None:
    for page in pages_of(full).values():
        for line in page.body.splitlines():
            assert line == "" or re.match(r"## [A-Z]|<div class=\"uph\">.*</div>$", line), page.path


def test_a_claim_shows_all_that_is_known_of_it(full: SmallCorpus) -> None:
    body = pages_of(full)["decisions/adr-001.md"].body
    claim = body[body.index('id="claim-fits"') :]
    claim = claim[: claim.index("</article>")]
    for text in (
        "Everything fits within 0.5 GiB of one card.",
        "uph-basis-arithmetic",
        "uph-verdict-upheld",
        "<dt>Computed</dt>",
        "≤ 0.5 GiB",
        "memory.device_total",
        "../../evidence/deployments/one-card/",
        "../../evidence/assumptions/runtime-memory/",
    ):
        assert text in claim


def test_a_run_s_rows_are_shown_as_evidence(full: SmallCorpus) -> None:
    body = pages_of(full)["decisions/adr-001.md"].body
    claim = body[body.index('id="claim-first-token"') :]
    assert "<dt>Measured</dt>" in claim[: claim.index("</article>")]
    assert "../../evidence/runs/serve-16/" in claim


def test_a_decision_shows_all_its_parts(full: SmallCorpus) -> None:
    body = pages_of(full)["decisions/adr-002.md"].body
    for text in (
        "proposed",
        "Decider",
        "The option that was taken",
        "The other option",
        "A bad consequence",
        "What crosses it",
        "A difference",
        "The answer.",
        "60 seconds",
        "unassessed",
        "by Assessor on 2026-11-04",
        "After 1 day",
        "What was left",
        "What reopens",
        "its words",
        "lapsed</strong>",
        "../adr-001/",
    ):
        assert text in body, text
    assert "Superseded by" in pages_of(full)["decisions/adr-001.md"].body


def test_a_blocked_claim_is_said_at_the_top(blocked: SmallCorpus) -> None:
    pages = pages_of(blocked)
    for path in ("index.md", "decisions/index.md", "decisions/adr-001.md"):
        body = pages[path].body
        assert "1 claim blocked." in body, path
        assert body.index("uph-banner") < (body + "## ").index("## "), path
    assert "uph-banner" not in pages["decisions/adr-002.md"].body
    assert "uph-claim-blocked" in pages["decisions/adr-001.md"].body


def test_nothing_blocked_is_said_too(full: SmallCorpus) -> None:
    assert "No claim is blocked." in pages_of(full)["index.md"].body


def test_the_ledger_counts_lead_to_their_lists(full: SmallCorpus) -> None:
    pages = pages_of(full)
    targets = re.findall(r'href="claims/#([a-z-]+)"', pages["index.md"].body)
    assert "list-arithmetic-upheld" in targets
    for target in targets:
        assert f'id="{target}"' in pages["claims.md"].body


def test_no_claim_is_named_by_another_kind_of_result(full: SmallCorpus) -> None:
    for page in pages_of(full).values():
        for article in re.findall(r"<article.*?</article>", page.body):
            if "uph-basis-measured" not in article:
                assert "<dt>Measured</dt>" not in article
            if "<dt>Computed</dt>" in article:
                assert "uph-basis-measured" not in article


def test_a_basis_without_its_evidence_is_only_claimed(full: SmallCorpus) -> None:
    full.replace(ADR, "    evidence: [{run: serve-16}]\n", "")
    body = pages_of(full)["decisions/adr-001.md"].body
    claim = body[body.index('id="claim-first-token"') :]
    claim = claim[: claim.index("</article>")]
    assert "uph-verdict-unsupported" in claim
    assert re.search(r'claimed as</span> <span class="uph-basis uph-basis-measured"', claim)
    fits = body[body.index('id="claim-fits"') : body.index('id="claim-first-token"')]
    assert "claimed as" not in fits


def test_the_ledger_of_a_deployment_keeps_computed_and_stated_apart(full: SmallCorpus) -> None:
    body = pages_of(full)["evidence/deployments/one-card.md"].body
    assert "<svg" in body
    header = re.search(r"uph-ledger.*?</thead>", body)
    assert header
    assert "Computed" in header.group()
    assert "Stated" in header.group()
    runtime = re.search(r'<th scope="row">Runtime <.*?</tr>', body) or re.search(
        r'<th scope="row">Runtime</th>.*?</tr>', body
    )
    assert runtime
    computed, stated = re.findall(r'<td class="uph-number">(.*?)</td>', runtime.group())
    assert computed == ""
    assert "256.00 MiB" in stated
    assert "268,435,456 B" in stated


def test_listed_layers_and_stated_weights_are_told_in_words(full: SmallCorpus) -> None:
    full.replace(
        MODEL,
        "attention: full\n",
        "attention: listed\ncached_layers:\n"
        "  - {kind: full, layers: 2, kv_heads: 2, k_dim: 64, v_dim: 64}\n"
        "  - {kind: sliding, layers: 2, kv_heads: 2, k_dim: 64, v_dim: 64, window: 128}\n",
    )
    for name in ("one-card", "one-card-fp8-kv"):
        full.append(
            f"evidence/deployments/{name}.yaml",
            "weight_memory: {size: 96 MiB, origin: runtime-memory}\n",
        )
    pages = pages_of(full)
    assert (
        "kind full, layers 2, kv heads 2, k dim 64, v dim 64; "
        "kind sliding, layers 2, kv heads 2, k dim 64, v dim 64, window 128"
    ) in pages["evidence/models/tiny.md"].body
    deployment = pages["evidence/deployments/one-card.md"].body
    assert "96.00 MiB" in deployment
    for page in pages.values():
        assert "Quantity(" not in page.body, page.path


def test_a_run_says_who_stated_what(full: SmallCorpus) -> None:
    full.replace("evidence/runs/serve-16.yaml", "  prefix_caching: false\n", "")
    body = pages_of(full)["evidence/runs/serve-16.md"].body
    assert "nobody said" in body
    assert f"../../../raw/{RAW}" in body
    assert "latency.ttft.p95" in body
    assert "uph-basis-arithmetic" not in body[: body.index("What rests on it")]


def test_a_captured_run_shows_what_was_noted_and_what_is_only_kept(full: SmallCorpus) -> None:
    noted = (
        '{"upheld_capture": 1, "repeats": 1, "host": {"processor": "Example CPU"},'
        ' "executions": [{"outcome": "completed", "exit_status": 0, "stopped_by": null,'
        ' "load_average": {"before": [0.25, 0, 0]}}]}'
    )
    folder = "evidence/runs/raw/serve-16"
    digests = {}
    for name, text in (("capture.json", noted), ("stdout.txt", "<b>done</b>\n")):
        (full.root / folder / name).write_text(text)
        digests[name] = hashlib.sha256(text.encode()).hexdigest()
    full.replace(
        "evidence/runs/serve-16.yaml",
        "states:\n",
        f"  - path: {folder}/capture.json\n    sha256: {digests['capture.json']}\n"
        f"    format: upheld-capture\n"
        f"kept:\n  - path: {folder}/stdout.txt\n    sha256: {digests['stdout.txt']}\nstates:\n",
    )
    body = pages_of(full)["evidence/runs/serve-16.md"].body
    assert "Noted while it ran" in body
    assert "<dt>load average before</dt><dd>0.25</dd>" in body
    assert re.search(r"Processor</th> <td>Example CPU</td>", body)
    assert f"<code>{folder}/stdout.txt</code>" in body
    assert "<b>done" not in body


def test_a_mean_is_not_shown_as_what_every_request_had(full: SmallCorpus) -> None:
    body = pages_of(full)["evidence/runs/serve-16.md"].body
    assert re.search(r"Input tokens per request</th> <td>[\d.]+ on average, requests differ", body)


def test_a_changed_raw_file_is_not_offered(full: SmallCorpus) -> None:
    (full.root / RAW).write_text("{}")
    body = pages_of(full)["evidence/runs/serve-16.md"].body
    assert "missing or changed; it counts for nothing" in body
    assert "download" not in body
    assert "No file gave any figure." in body


def test_what_a_policy_leaves_out_is_not_guaranteed(full: SmallCorpus) -> None:
    body = pages_of(full)["evidence/policies/gate.md"].body
    queue = re.search(r'<tr><th scope="row">Queue</th>.*?</tr>', body)
    assert queue
    assert "not guaranteed" in queue.group()
    assert "termination_grace_period" in body


def test_a_source_says_its_age_and_what_rests_on_it(full: SmallCorpus) -> None:
    body = pages_of(full)["evidence/sources/paper.md"].body
    assert "29 days before 1 December 2026" in body
    assert 'href="https://example.org/paging" rel="noopener noreferrer"' in body
    assert "The engine keeps the cache in blocks." in body


def test_a_snapshot_shows_the_verdicts_of_then_beside_those_of_now(blocked: SmallCorpus) -> None:
    body = pages_of(blocked)["evidence/snapshots/small-then.md"].body
    row = re.search(r"ADR-001#fits.*?</tr>", body)
    assert row
    assert row.group().index("uph-verdict-upheld") < row.group().index("uph-verdict-contradicted")
    assert "no such claim" in body
    assert "3" * 64 in body


def test_open_claims_are_listed_soonest_review_first(full: SmallCorpus) -> None:
    body = pages_of(full)["untested.md"].body
    assert body.index("A later claim.") < body.index("It gives 1,000 output tokens")
    assert "An hour costs 2 USD." in body
    assert "Everything fits" not in body


def test_rules_are_linked_where_they_have_a_page(blocked: SmallCorpus) -> None:
    links = Links(rules={"UPH601": "rules/UPH601.md"})
    assert '<a href="rules/UPH601/">UPH601</a>' in pages_of(blocked, links)["index.md"].body
    assert "UPH601" in pages_of(blocked)["index.md"].body


@pytest.mark.parametrize("words", [BASES, VERDICTS])
def test_no_two_words_look_alike(words: dict[str, object]) -> None:
    assert len({repr(word) for word in words.values()}) == len(words)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ("0", "0 s"),
        ("1.62", "1.62 s"),
        ("0.0348701", "34.8701 ms"),
        ("0.0000832", "83.2 µs"),
        ("0.0000000001", "0.1 ns"),
    ],
)
def test_a_time_is_shown_in_a_unit_that_it_fills(seconds: str, shown: str) -> None:
    assert in_unit(Fraction(seconds), "s") == shown


def test_thousands_of_a_quantity_are_set_apart() -> None:
    assert plain(parse_quantity("131072 B")) == "131,072 B"
    assert plain(parse_quantity("8192.5 MiB")) == "8,192.5 MiB"
    assert plain(parse_quantity("80 GiB")) == "80 GiB"
