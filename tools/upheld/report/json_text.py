"""What all JSON results share: their version, a finding, and how they are written."""

from __future__ import annotations

import json
import re
from typing import Any

from upheld.records.finding import Finding

VERSION = 1

_NOT_ASCII = re.compile(r"[^\n\x20-\x7e]")


def json_text(value: dict[str, Any]) -> str:
    """An object as the commands print it: readable, and safe to print.

    What a terminal might obey, and half of a character, is written as JSON's own escape.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _NOT_ASCII.sub(
        lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text
    )


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "rule": finding.rule,
        "path": finding.place.path,
        "line": finding.place.line,
        "column": finding.place.column,
        "message": finding.message,
        "help": finding.help,
        "severity": finding.severity,
        "claim": finding.claim,
    }
