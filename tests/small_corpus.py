"""A copy of the small corpus to change: edit a file, then judge."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

from upheld.corpus.load import load
from upheld.judge.judge import judge_corpus
from upheld.judge.judgement import Judged, Judgement

SMALL = Path(__file__).parent / "corpora" / "small"
AS_OF = date(2026, 12, 1)

ADR = "adrs/ADR-001-small.yaml"
RUN = "evidence/runs/serve-16.yaml"
RAW = "evidence/runs/raw/serve-16/result.json"
POLICY = "evidence/policies/gate.yaml"
DEPLOYMENT = "evidence/deployments/one-card.yaml"
MODEL = "evidence/models/tiny.yaml"


class SmallCorpus:
    """The corpus at `root`, with edits that fail loudly when they find nothing to edit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("adrs", "evidence"):
            shutil.copytree(SMALL / folder, root / folder)

    def replace(self, path: str, old: str, new: str) -> None:
        file = self.root / path
        text = file.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        file.write_text(text.replace(old, new))

    def append(self, path: str, text: str) -> None:
        with (self.root / path).open("a") as stream:
            stream.write(text)

    def judge(self, as_of: date = AS_OF) -> Judged:
        return judge_corpus(load(self.root), as_of)

    def claim(self, local_id: str, as_of: date = AS_OF) -> Judgement:
        found = self.judge(as_of).get(f"ADR-001#{local_id}")
        assert found is not None
        return found

    def rules(self, as_of: date = AS_OF) -> list[str]:
        return [finding.rule for finding in self.judge(as_of).findings]
