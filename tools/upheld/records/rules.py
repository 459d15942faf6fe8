"""The rules: one stable code each, with a name and what it finds.

1xx records · 2xx links · 3xx arithmetic · 4xx control · 5xx measured · 6xx claims · 8xx integrity.
Each has a page in docs/rules with an example that fails and the same example mended.
"""

from __future__ import annotations

from dataclasses import dataclass

from upheld.records.finding import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A stable code, a short name, what the rule finds, and how serious that is."""

    code: str
    name: str
    finds: str
    severity: Severity = "error"


RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule("UPH101", "not-yaml", "A file that is not one YAML document in UTF-8"),
        Rule("UPH102", "duplicate-key", "A key that is written twice in one mapping"),
        Rule("UPH103", "beyond-bounds", "A document too large, too deep or aliased too often"),
        Rule("UPH104", "hidden-text", "Control, bidirectional or invisible characters"),
        Rule("UPH105", "not-plain", "A tag, a merge key, an empty value or a key that is no text"),
        Rule("UPH106", "unknown-kind", "A record of no known kind"),
        Rule("UPH107", "unknown-key", "A key that the record does not have"),
        Rule("UPH108", "missing-key", "A key that the record needs and lacks"),
        Rule("UPH109", "bad-value", "A value that its field can't take"),
        Rule("UPH110", "unreadable", "A file that can't be read safely"),
        Rule("UPH201", "duplicate-id", "Two records with one id, or two that differ in case alone"),
        Rule("UPH202", "broken-link", "An id that no record has"),
        Rule("UPH203", "wrong-kind", "A link to a record of another kind than the field wants"),
        Rule("UPH204", "supersedes-cycle", "Decisions that supersede each other in a circle"),
        Rule("UPH205", "superseded-by-nothing", "A superseded decision without one that replaces it"),
        Rule("UPH206", "name-taken", "Two models or two devices that share a name"),
        Rule("UPH301", "impossible-shape", "A shape or sharding that can't be computed"),
        Rule("UPH302", "does-not-fit", "A deployment whose memory exceeds its budget", "warning"),
        Rule("UPH303", "beyond-positions", "A context limit beyond the model's positions", "warning"),
        Rule("UPH401", "beyond-deployment", "A policy beyond what its deployment supports"),
        Rule("UPH402", "drain-cut-short", "A grace period that ends before the drain may"),
        Rule("UPH501", "unknown-format", "A raw file that no format recognises"),
        Rule("UPH502", "summary-disagrees", "A file whose summary disagrees with its own records"),
        Rule("UPH503", "damaged-raw-file", "A raw file that can't be parsed"),
        Rule("UPH504", "nothing-measured", "A raw file in which no request completed"),
        Rule("UPH505", "requests-failed", "Requests that failed, or may have", "warning"),
        Rule("UPH506", "too-few-values", "Too few values for the statistic", "warning"),
        Rule("UPH507", "impossible-statistic", "A statistic that its values can't have"),
        Rule("UPH508", "format-differs", "A raw file of another format than the run record says"),
        Rule("UPH509", "states-otherwise", "A run record that contradicts its own raw file"),
        Rule("UPH510", "rate-not-held", "A rate of requests that was asked for and not reached", "warning"),
        Rule("UPH511", "sent-at-once", "Most requests sent in one instant", "warning"),
        Rule("UPH512", "length-differs", "Lengths other than those that were asked for", "warning"),
        Rule("UPH513", "cold-start", "A slow start that the figures have in them", "warning"),
        Rule("UPH514", "drift", "Values that rise or fall over the whole run", "warning"),
        Rule("UPH515", "first-token-too-soon", "A first token sooner than its prompt allows", "warning"),
        Rule("UPH516", "identity-broken", "Figures of one run that can't hold together", "warning"),
        Rule("UPH517", "counts-differ", "Tokens that two counted differently", "warning"),
        Rule("UPH518", "impossible-date", "A date that can't be"),
        Rule("UPH519", "repeats-differ", "Repeats in one file that are far apart", "warning"),
        Rule("UPH520", "other-meaning", "A figure that its tool works out in another way", "warning"),
        Rule("UPH521", "slowed-down", "A device whose clocks were slowed down", "warning"),
        Rule("UPH522", "mapping-finds-otherwise", "A mapping that does not find in its raw file what it says"),
        Rule("UPH601", "contradicted", "A claim that its evidence contradicts"),
        Rule("UPH602", "unsupported", "A claim without the evidence that its basis needs"),
        Rule("UPH603", "insufficient", "A claim whose evidence is too little or unsound"),
        Rule("UPH604", "out-of-envelope", "A claim whose evidence comes from elsewhere"),
        Rule("UPH605", "wrong-basis", "A claim whose metric its basis can't carry"),
        Rule("UPH606", "stale", "A claim whose evidence is older than it allows", "warning"),
        Rule("UPH607", "review-lapsed", "A claim or assumption past its review date", "warning"),
        Rule("UPH608", "can-be-promoted", "An untested claim that a run now covers", "warning"),
        Rule("UPH801", "raw-file-missing", "A raw file that is not there or can't be read safely"),
        Rule("UPH802", "raw-file-changed", "A raw file whose digest is not the recorded one"),
        Rule("UPH803", "snapshot-broken", "A snapshot whose digests do not hold"),
    )
}  # fmt: skip
