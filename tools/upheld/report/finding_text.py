"""A finding for people: where, which rule, what is wrong, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from upheld.records.finding import Finding
from upheld.report.escape import one_line


def finding_lines(finding: Finding) -> Iterator[str]:
    """`path:line:column: UPH602 error: message`, and how to mend it on the next line."""
    colour = "red" if finding.severity == "error" else "yellow"
    severity = click.style(finding.severity, fg=colour, bold=True)
    yield f"{one_line(str(finding.place))}: {finding.rule} {severity}: {one_line(finding.message)}"
    yield f"  help: {one_line(finding.help)}"


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by place, errors before warnings at the same place."""
    return sorted(findings, key=lambda each: (each.place, each.severity, each.rule, each.message))
