"""One reason why a row is not enough for a figure."""

from __future__ import annotations

from dataclasses import dataclass

from upheld.records.finding import Severity


@dataclass(frozen=True, slots=True)
class Shortcoming:
    """One reason: the rule, a sentence that says why, and how to mend it.

    `concerns` are the beginnings of the names of the figures that it is about, none where it is
    about all of them. A claim about one of these is insufficient, unless it `only_warns`. Of
    severity error, the whole run can't be used.
    """

    rule: str
    message: str
    help: str
    severity: Severity = "warning"
    concerns: tuple[str, ...] = ()
    only_warns: bool = False

    def weakens(self, name: str) -> bool:
        """Whether a claim about the figure `name` is insufficient for this reason."""
        return not self.only_warns and (not self.concerns or name.startswith(self.concerns))
