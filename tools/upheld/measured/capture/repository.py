"""The commit at which a corpus stands."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SECONDS = 20


def commit_of(root: Path) -> dict[str, str | bool | None]:
    """`commit` and `uncommitted_changes` of the corpus; None where git does not say."""
    changed = _git(root, "status", "--porcelain")
    return {
        "commit": _git(root, "rev-parse", "--verify", "HEAD"),
        "uncommitted_changes": None if changed is None else bool(changed),
    }


def committer_of(root: Path) -> str | None:
    """The name under which somebody commits to the corpus."""
    return _git(root, "config", "user.name") or None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        found = subprocess.run(  # noqa: S603  # arguments of ours alone
            ["git", "-C", str(root), *arguments],  # noqa: S607  # the user's own git
            capture_output=True, timeout=_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.decode("utf-8", "replace").strip()
