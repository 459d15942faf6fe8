"""A proposed mapping: as YAML to paste into a run record, and as plain values for JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from upheld.measured.mapping.suggest import Suggestion
from upheld.report.escape import printable
from upheld.report.json_text import VERSION

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|\$\.[A-Za-z0-9_.]+")
_NOT_TEXT = {"true", "false", "null", "yes", "no", "on", "off"}
_MOST_LEFT_OUT = 20
_FROM_NAMES = (
    "# Proposed from the names of keys alone. Hold each line against the script that wrote the",
    "# file: does the key mean this metric, in this unit, over these requests?",
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed for a file; `known` are the formats that recognise it already."""

    path: str
    sha256: str
    known: list[str]
    suggestion: Suggestion | None
    refusal: str | None

    @property
    def yaml(self) -> str | None:
        """The `files` of a run record, None where nothing can be proposed."""
        if self.suggestion is None or not self.suggestion.mapping:
            return None
        return "\n".join(_yaml(self, self.suggestion)) + "\n"

    @property
    def why_not(self) -> str:
        """Why there is no mapping."""
        if self.known:
            return f"it is {' and '.join(self.known)}, which is read without a mapping"
        if self.refusal is not None:
            return self.refusal
        if self.suggestion is None:
            return "it is no JSON, no JSON lines and no CSV"
        return "no key of it names a metric together with its unit"


def proposals_text(proposals: Sequence[Proposal]) -> str:
    """YAML with comments; what is no proposal is a comment as well."""
    texts = []
    for proposal in proposals:
        text = proposal.yaml
        if text is None:
            lines = [f"# {printable(proposal.path)}: {printable(proposal.why_not)}."]
            lines += _left_out(proposal.suggestion, "")
            text = "\n".join(lines) + "\n"
        texts.append(text)
    return "\n".join(texts)


def proposals_object(proposals: Sequence[Proposal]) -> dict[str, Any]:
    """The documented shape, version 1."""
    return {
        "version": VERSION,
        "files": [
            {
                "path": each.path,
                "sha256": each.sha256,
                "format": each.known[0] if each.known else each.suggestion.form
                if each.suggestion is not None else "unknown",
                "mapping": each.suggestion.mapping if each.yaml and each.suggestion else None,
                "guesses": _pairs(each.suggestion.guesses) if each.suggestion else [],
                "left_out": _pairs(each.suggestion.left_out) if each.suggestion else [],
                "yaml": each.yaml,
                "why_not": None if each.yaml else each.why_not,
            }
            for each in proposals
        ],
    }  # fmt: skip


def _pairs(by_expression: dict[str, str]) -> list[dict[str, str]]:
    return [{"at": at, "why": why} for at, why in by_expression.items()]


def _yaml(proposal: Proposal, suggestion: Suggestion) -> Iterator[str]:
    mapping = suggestion.mapping or {}
    yield from _FROM_NAMES
    yield "files:"
    yield f"  - path: {_scalar(_path(proposal.path))}"
    yield f"    sha256: {proposal.sha256}"
    yield f"    format: {suggestion.form}"
    yield "    mapping:"
    for key in ("rows", "case", "figures", "samples", "requests", "envelope"):
        value = mapping.get(key)
        if not value:
            continue
        if isinstance(value, str):
            yield f"      {key}: {_scalar(value)}"
        elif key == "case":
            yield f"      {key}: [{', '.join(map(_scalar, value))}]"
        elif key == "figures":
            yield "      figures:"
            yield from (_line(each, suggestion, 8) for each in value)
        elif key == "samples":
            yield from _samples(value, suggestion)
        else:
            yield f"      {key}:"
            for name, at in value.items():
                yield f"        {name}: {_scalar(at)}{_guess(at, suggestion)}"
    yield from _left_out(suggestion, "      ")


def _samples(samples: dict[str, Any], suggestion: Suggestion) -> Iterator[str]:
    yield "      samples:"
    if "each" in samples:
        yield f"        each: {_scalar(samples['each'])}"
    for key, wanted in samples.get("completed", {}).items():
        yield f"        completed: {{{_scalar(key)}: {wanted}}}"
    if "failed" in samples:
        yield f"        failed: {_scalar(samples['failed'])}"
    if "completed" not in samples and "failed" not in samples:
        yield "        # No key tells which requests failed; if one does, name it here."
    yield "        values:"
    yield from (_line(each, suggestion, 10) for each in samples["values"])


def _line(line: dict[str, str], suggestion: Suggestion, indent: int) -> str:
    text = f"- {{metric: {line['metric']}, unit: {line['unit']}, at: {_scalar(line['at'])}}}"
    return " " * indent + text + _guess(line["at"], suggestion)


def _guess(at: str, suggestion: Suggestion) -> str:
    guess = suggestion.guesses.get(at)
    return f"  # a guess: {guess}" if guess else ""


def _left_out(suggestion: Suggestion | None, indent: str) -> Iterator[str]:
    if suggestion is None or not suggestion.left_out:
        return
    yield f"{indent}# Left out, for you to decide:"
    told = list(suggestion.left_out.items())
    for at, why in told[:_MOST_LEFT_OUT]:
        yield f"{indent}#   {printable(at)}: {printable(why)}"
    if len(told) > _MOST_LEFT_OUT:
        yield f"{indent}#   and {len(told) - _MOST_LEFT_OUT:,} more"


def _path(path: str) -> str:
    """The path if a record could name it, else a place where raw files go."""
    name = PurePath(path).name
    return f"evidence/runs/raw/NAME/{name}" if PurePath(path).is_absolute() else path


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return "'" + text.replace("'", "''") + "'"
