"""Where each page and each downloadable file of the site is kept."""

from __future__ import annotations

from pathlib import PurePosixPath

DECISIONS = "decisions/index.md"
EVIDENCE = "evidence/index.md"
UNTESTED = "untested.md"
CLAIMS = "claims.md"

FOLDERS: dict[str, str] = {
    "adr": "decisions",
    "model": "evidence/models",
    "device": "evidence/devices",
    "deployment": "evidence/deployments",
    "run": "evidence/runs",
    "policy": "evidence/policies",
    "source": "evidence/sources",
    "assumption": "evidence/assumptions",
    "snapshot": "evidence/snapshots",
}

# Names that generators take for the page of a whole folder. An id can't begin with "_".
_FOLDER_PAGES = frozenset({"index", "readme"})

# What a browser shows as text or saves; anything else gets ".txt", so that no raw file runs.
_PASSIVE = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".log"})


def page_path(kind: str, id_: str) -> str:
    """The page of a record. Ids differ in more than letter case, so the paths do too."""
    name = id_.lower()
    return f"{FOLDERS[kind]}/{'_' if name in _FOLDER_PAGES else ''}{name}.md"


def download_path(raw: str) -> str:
    """The copy of a raw file that readers can download."""
    passive = PurePosixPath(raw).suffix.lower() in _PASSIVE
    return f"raw/{raw if passive else f'{raw}.txt'}"
