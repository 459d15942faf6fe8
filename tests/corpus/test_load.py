from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpus.corpus_of import assumption, corpus_of, decision, said, write
from records.record_texts import TEXTS
from upheld.corpus.config import ConfigError
from upheld.corpus.load import CorpusError, load, load_texts
from upheld.records.adr import Adr
from upheld.records.assumption import Assumption


class TestNothingToJudge:
    def test_no_such_directory(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=r"^there is no .*/nowhere$"):
            load(tmp_path / "nowhere")

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")
        with pytest.raises(CorpusError, match=r"/a is not a directory$"):
            load(tmp_path / "a")
        with pytest.raises(CorpusError, match=r"/a/b can't be read: Not a directory$"):
            load(tmp_path / "a" / "b")

    def test_a_name_that_no_directory_can_have(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=r"can't be read: File name too long$"):
            load(tmp_path / ("a" * 300))

    def test_no_folder_for_records(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=r"has no folder for records: adrs or evidence$"):
            load(tmp_path)

    def test_folders_without_a_record(self, tmp_path: Path) -> None:
        write(tmp_path, {"adrs/README.md": "x", "evidence/runs/raw/a.yaml": "x"})
        with pytest.raises(CorpusError, match=r"^there is no record in adrs or evidence of "):
            load(tmp_path)

    def test_a_configuration_that_can_not_be_used(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError):
            corpus_of(tmp_path, {"adrs/a.yaml": decision("ADR-001"), "upheld.toml": "x"})


class TestRecords:
    def test_are_found_by_id_and_by_kind(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "adrs/b.yaml": decision("ADR-002"),
            "adrs/z/a.yaml": decision("ADR-001"),
            "evidence/real.yml": assumption("real"),
        })  # fmt: skip
        assert corpus.findings == []
        assert [record.id for record in corpus.of(Adr)] == ["ADR-001", "ADR-002"]
        assert [record.id for record in corpus.of(Assumption)] == ["real"]
        assert corpus.get("real") is corpus.entries["real"].record
        assert corpus.get("nothing") is None
        assert corpus.entries["real"].kind == "assumption"

    def test_digest_is_over_the_bytes_as_they_lie(self, tmp_path: Path) -> None:
        text = assumption("real").encode()
        corpus = corpus_of(tmp_path, {
            "evidence/a.yaml": text,
            "evidence/b.yaml": b"\xef\xbb\xbf" + text.replace(b"id: real", b"id: other"),
        })  # fmt: skip
        assert corpus.entries["real"].sha256 != corpus.entries["other"].sha256
        again = load_texts(tmp_path, {"evidence/a.yaml": text.decode()})
        assert again.entries["real"].sha256 == corpus.entries["real"].sha256

    def test_from_other_folders(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "upheld.toml": 'records = ["docs/decisions"]',
            "docs/decisions/a.yaml": decision("ADR-001"),
            "adrs/b.yaml": "not a record",
        })  # fmt: skip
        assert list(corpus.entries) == ["ADR-001"]
        assert corpus.findings == []


class TestIds:
    def test_twice(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "evidence/a.yaml": assumption("real"), "evidence/b.yaml": assumption("real"),
        })  # fmt: skip
        assert said(corpus) == [
            ("UPH201", "evidence/b.yaml:2:1", "the id 'real' is taken; see evidence/a.yaml:2:1"),
        ]  # fmt: skip
        assert corpus.entries["real"].document.path == "evidence/a.yaml"

    def test_that_differ_in_case_alone(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "evidence/a.yaml": assumption("Real"),
            "evidence/b.yaml": assumption("real"),
            "evidence/c.yaml": assumption("REAL"),
        })  # fmt: skip
        assert said(corpus) == [
            ("UPH201", f"evidence/{file}.yaml:2:1",
             f"the id {id_!r} differs from 'Real' in letter case alone; see evidence/a.yaml:2:1")
            for file, id_ in (("b", "real"), ("c", "REAL"))
        ]  # fmt: skip


class TestDamage:
    def test_to_one_file_does_not_hide_the_others(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "evidence/a.yaml": "a: [",
            "evidence/b.yaml": b"\xff",
            "evidence/c.yaml": "- a list",
            "evidence/d.yaml": "kind: assumptoin\nid: d\n",
            "evidence/e.yaml": assumption("e").replace("owner: O\n", ""),
            "evidence/f.yaml": "x" * (1024 * 1024 + 1),
            "evidence/good.yaml": assumption("good"),
        })  # fmt: skip
        os.mkfifo(tmp_path / "evidence" / "g.yaml")
        corpus = load(tmp_path)
        assert list(corpus.entries) == ["good"]
        assert corpus.rejected == 7
        assert [(rule, place) for rule, place, _ in said(corpus)] == [
            ("UPH101", "evidence/a.yaml:2:1"),
            ("UPH101", "evidence/b.yaml:1:1"),
            ("UPH106", "evidence/c.yaml:1:1"),
            ("UPH106", "evidence/d.yaml:1:1"),
            ("UPH108", "evidence/e.yaml:1:1"),
            ("UPH110", "evidence/f.yaml:1:1"),
            ("UPH110", "evidence/g.yaml:1:1"),
        ]

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("any", assumption("wanted", "colour: red")),
            ("any", assumption("wanted", "notes: [", "more: x")),
            ("any", assumption("wanted", "id: again")),
            ("any", '{"kind": "assumption"}\n"id": "wanted"\n'),
            ("any", '{"id": "wanted", "kind": "assumption"}\n'),
            ("wanted", b"\xff"),
            ("wanted", "- a list"),
            ("wanted", b"#" * (1024 * 1024 + 1)),
        ],
    )
    def test_to_a_record_does_not_break_the_links_to_it(
        self, tmp_path: Path, file: str, text: str | bytes
    ) -> None:
        corpus = corpus_of(tmp_path, {
            f"evidence/{file}.yaml": text,
            "adrs/a.yaml": decision("ADR-001", "assumes: [wanted]"),
        })  # fmt: skip
        assert corpus.findings
        assert not [each for each in corpus.findings if each.rule.startswith("UPH2")]

    def test_by_a_name_is_one_finding(self, tmp_path: Path) -> None:
        corpus = corpus_of(tmp_path, {
            "evidence/a.yaml": assumption("a"),
            "evidence/CON.yaml": assumption("c"),
            os.fsdecode(b"evidence/\xff.yaml"): assumption("d"),
            "evidence/x\n::error::y.yaml": assumption("e"),
        })  # fmt: skip
        assert list(corpus.entries) == ["a"]
        assert [each.rule for each in corpus.findings] == ["UPH110"] * 3
        assert all(each.message.isprintable() for each in corpus.findings)

    def test_by_a_link_is_one_finding(self, tmp_path: Path) -> None:
        write(tmp_path, {"evidence/a.yaml": assumption("a")})
        (tmp_path / "evidence" / "b.yaml").symlink_to("/etc/passwd")
        (tmp_path / "adrs").symlink_to("nowhere")
        assert said(load(tmp_path)) == [
            ("UPH110", "adrs:1:1", "adrs is a symbolic link"),
            ("UPH110", "evidence/b.yaml:1:1", "evidence/b.yaml is a symbolic link"),
        ]


def test_a_decision_and_all_that_it_links_to(tmp_path: Path) -> None:
    folder = {"adr": "adrs"}
    corpus = corpus_of(tmp_path, {
        f"{folder.get(kind, 'evidence')}/{kind}.yaml": text for kind, text in TEXTS.items()
    })  # fmt: skip
    assert corpus.findings == []
    assert len(corpus.entries) == len(TEXTS)
