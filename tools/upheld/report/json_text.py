"""What all JSON results share: their version, a finding, and how they are written."""

from __future__ import annotations

import json
from typing import Any

from upheld.records.finding import Finding

VERSION = 1


def json_text(value: dict[str, Any]) -> str:
    """An object as the commands print it: readable, and not escaped beyond what JSON needs."""
    return json.dumps(value, ensure_ascii=False, indent=2)


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
