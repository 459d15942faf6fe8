"""Fingerprints: the same finding in two checks, wherever its lines have moved to."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from upheld.records.finding import Finding

_POSITION = re.compile(r":\d+:\d+\b")


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """One fingerprint for each finding, in order: 64 hexadecimal digits, no two the same.

    It is made of the rule, of the claim or else the file, and of what is wrong without any
    position. Findings alike in all of these are told apart by their order.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for finding in findings:
        subject = finding.claim or finding.place.path
        key = (finding.rule, subject, _POSITION.sub("", finding.message))
        made.append(_digest(*key, str(seen[key])))
        seen[key] += 1
    return made


def _digest(*parts: str) -> str:
    # A part can't hold the separator: NUL is refused wherever text is read.
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
