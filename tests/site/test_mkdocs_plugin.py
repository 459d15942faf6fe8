"""The plug-in: what it adds to a build, and how it says that it can't."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort

from small_corpus import RAW, SmallCorpus


def config_of(
    root: Path, *, options: str = "", theme: str = "mkdocs", more: str = ""
) -> MkDocsConfig:
    (root / "docs").mkdir(exist_ok=True)
    (root / "mkdocs.yml").write_text(
        f"site_name: Test\ntheme: {theme}\nplugins:\n  - upheld: {{{options}}}\n{more}"
    )
    return load_config(str(root / "mkdocs.yml"), site_dir=str(root / "built"))


def built(root: Path, **how: str) -> Path:
    build(config_of(root, **how))
    return root / "built"


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.startswith("sitemap")
    }


def test_a_build_holds_pages_raw_files_and_style(full: SmallCorpus) -> None:
    site = built(full.root)
    assert "Every claim, upheld or blocked" in (site / "index.html").read_text()
    assert (site / "decisions/adr-001/index.html").is_file()
    assert (site / "raw" / RAW).read_bytes() == (full.root / RAW).read_bytes()
    assert (site / "assets/upheld/upheld.css").is_file()


def test_nothing_is_written_into_the_documentation(full: SmallCorpus) -> None:
    built(full.root)
    assert list((full.root / "docs").iterdir()) == []


def test_a_home_page_of_ones_own_is_kept(full: SmallCorpus) -> None:
    (full.root / "docs").mkdir()
    (full.root / "docs/index.md").write_text("# Mine\n")
    site = built(full.root)
    assert "Mine" in (site / "index.html").read_text()
    assert "Every claim, upheld or blocked" in (site / "ledger/index.html").read_text()
    assert '<a href="../../ledger/">Home</a>' in (site / "decisions/adr-001/index.html").read_text()


def test_pages_may_be_kept_in_a_folder(full: SmallCorpus) -> None:
    site = built(full.root, options="base_path: decided")
    assert (site / "decided/decisions/adr-001/index.html").is_file()
    assert (site / "decided/raw" / RAW).is_file()


def test_two_builds_are_the_same(full: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796083200")
    first = files_of(built(full.root, options="as_of: 2026-12-01"))
    again = files_of(built(full.root, options="as_of: 2026-12-01"))
    assert again == first


def test_as_of_is_the_day_of_judging(full: SmallCorpus) -> None:
    site = built(full.root, options="as_of: 2026-11-15")
    assert "as of 15 November 2026" in (site / "index.html").read_text()


def test_records_stay_outside_the_navigation(full: SmallCorpus) -> None:
    index = (built(full.root) / "untested/index.html").read_text()
    navigation = index[: index.index("uph-header")]
    assert "decisions/" in navigation
    assert "adr-001" not in navigation


def test_errors_of_the_corpus_are_one_warning(
    blocked: SmallCorpus, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        built(blocked.root)
    [message] = [message for message in caplog.messages if message.startswith("upheld:")]
    assert "1 error in the corpus" in message
    assert "UPH601" in message


def test_no_corpus_is_one_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Abort):
        built(tmp_path)
    assert "has no folder for records: adrs or evidence" in caplog.messages[-1]


def test_a_bad_date_is_one_message(full: SmallCorpus, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Abort):
        built(full.root, options="as_of: soon")
    assert "as_of wants a date as YYYY-MM-DD, not 'soon'" in caplog.messages[-1]


def test_records_and_configuration_are_watched(full: SmallCorpus) -> None:
    (full.root / "upheld.toml").write_text("")
    watched: list[str] = []

    class Server:
        def watch(self, path: str) -> None:
            watched.append(path)

    config = config_of(full.root)
    plugin = config.plugins["upheld"]
    plugin.on_serve(Server(), config=config, builder=lambda: None)  # type: ignore[attr-defined]
    assert [Path(path).name for path in watched] == ["adrs", "evidence", "upheld.toml"]
