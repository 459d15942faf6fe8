"""What templates see of the corpus from one page: records as links, values as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from upheld.corpus.links import Link
from upheld.judge.judgement import Judged, Judgement
from upheld.records.claim import Axes, Claim, Within
from upheld.records.envelope import AXES
from upheld.records.expectation import Expectation
from upheld.records.finding import Finding
from upheld.records.metrics import Basis, Metric, resolve
from upheld.records.types import Part, Record
from upheld.records.units import UNITS, Quantity, format_number
from upheld.site.links import Links
from upheld.site.paths import FOLDERS
from upheld.site.words import FIELDS

# What a figure rests on when a record of this kind is given as its origin.
BASIS_OF_ORIGIN: dict[str, Basis] = {
    "source": "cited",
    "assumption": "assumed",
    "run": "measured",
}

_SIGNS = {"<=": "≤", ">=": "≥", "~": "≈", "us": "µs"}
_PARTS = ("ms", "us", "ns")
_WHOLE = re.compile(r"^[1-9]\d{3,}(?![\d,])")
_ACRONYMS = {"kv": "KV", "gpu": "GPU", "qkv": "QKV", "qk": "QK"}


@dataclass(frozen=True, slots=True)
class Mention:
    """That one record names another, in which field; `claim` where it does so in a claim."""

    source: str
    field: str
    claim: str | None


@dataclass(frozen=True, slots=True)
class View:
    """The judged corpus as seen from the page at `path`."""

    judged: Judged
    links: Links
    path: str

    def to(self, page: str, anchor: str = "") -> str:
        """The address of another generated page."""
        return self.links.page(self.path, page, anchor)

    def home(self) -> str:
        """The address of the ledger."""
        return self.to(self.links.home)

    def record_href(self, id_: str, anchor: str = "") -> str | None:
        """The address of a record's page, if there is one."""
        entry = self.judged.corpus.entries.get(id_)
        if entry is None or entry.kind not in FOLDERS:
            return None
        return self.links.record(self.path, entry.kind, id_, anchor)

    def title(self, id_: str) -> str:
        """A record's title, or its id where there is no such record."""
        record = self.judged.corpus.get(id_)
        return record.title if record else id_

    def kind(self, id_: str) -> str | None:
        """A record's kind."""
        entry = self.judged.corpus.entries.get(id_)
        return entry.kind if entry else None

    def record(self, id_: str, label: str | None = None) -> Markup:
        """A record as a link; one that is not there is only named."""
        href = self.record_href(id_)
        if href is None:
            return Markup("<code>{}</code>").format(label or id_)
        return Markup('<a href="{}">{}</a>').format(href, label or self.title(id_))

    def claim_href(self, judgement: Judgement) -> str | None:
        """The address of a claim's block on the page of its holder."""
        return self.record_href(judgement.holder.id, f"claim-{judgement.claim.id}")

    def download_href(self, raw: str) -> str:
        """The address of a raw file's copy."""
        return self.links.download(self.path, raw)

    def rule_href(self, code: str) -> str | None:
        """The address of a rule's page, if there is one."""
        return self.links.rule(self.path, code)

    def origin_basis(self, origin: str) -> Basis | None:
        """The basis that a figure of this origin has; None for a choice of ours."""
        return BASIS_OF_ORIGIN.get(self.kind(origin) or "")

    def resting_on(self, id_: str) -> list[Judgement]:
        """The claims whose verdict reaches this record."""
        return [each for each in self.judged.judgements if id_ in each.outcome.rests_on]

    def blocked_here(self, holder: str) -> list[Judgement]:
        """The blocked claims of one record."""
        return [judgement for judgement in self.judged.of(holder) if judgement.blocks]

    def findings_on(self, record: Record) -> list[Finding]:
        """What is wrong with a record, apart from its claims, which say so themselves."""
        path = self.judged.corpus.entries[record.id].document.path
        return [
            finding
            for finding in self.judged.findings
            if finding.place.path == path and finding.claim is None
        ]

    def mentions(self, id_: str) -> list[Mention]:
        """Where other records name this one."""
        back = self.judged.corpus.back_links.get(id_, [])
        found = dict.fromkeys(self._mention(link) for link in back if link.source != id_)
        return sorted(found, key=lambda each: each.source)

    def _mention(self, link: Link) -> Mention:
        record = self.judged.corpus.get(link.source)
        claim: str | None = None
        if link.at[0] == "claims" and isinstance(link.at[1], int):
            claims: list[Claim] = getattr(record, "claims", [])
            claim = claims[link.at[1]].id
        return Mention(link.source, label(str(link.at[0])), claim)


def axes_of(within: Within) -> Iterator[tuple[str, str]]:
    """The axes that a claim's envelope states itself, with their titles."""
    for name in Axes.model_fields:
        value = getattr(within, name)
        if value is not None:
            yield AXES[name].title, plain(value)


def metric_of(claim: Claim) -> Metric:
    """The metric that a claim is about."""
    return resolve(claim.metric)[0]


def expected(expectation: Expectation) -> str:
    """`≤ 76 GiB`."""
    operator = expectation.operator
    return f"{_SIGNS.get(operator, operator)} {_grouped(expectation.quantity)}"


def label(name: str) -> str:
    """A field's name in words: `num_key_value_heads` is `KV heads`."""
    if name in FIELDS:
        return FIELDS[name]
    text = " ".join(_ACRONYMS.get(word, word) for word in name.split("_"))
    return text[:1].upper() + text[1:]


def plain(value: Any) -> str:
    """A field's value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Fraction):
        return format_number(Fraction(value))
    if isinstance(value, Quantity):
        return _grouped(value)
    if isinstance(value, list):
        separator = "; " if any(isinstance(item, Part) for item in value) else ", "
        return separator.join(plain(item) for item in value)
    if isinstance(value, Part):
        stated = value.model_dump(exclude_none=True)
        return ", ".join(f"{name.replace('_', ' ')} {plain(each)}" for name, each in stated.items())
    return str(value)


def day(value: date) -> str:
    """`2 November 2026`."""
    return f"{value.day} {value:%B} {value.year}"


def in_unit(value: Fraction, unit: str) -> str:
    """A figure with its unit; of a second's parts the largest that the figure fills: `34.9 ms`."""
    if unit == "s" and 0 < abs(value) < 1:
        unit = next((part for part in _PARTS if abs(value) >= UNITS[part].factor), _PARTS[-1])
        return f"{format_number(value / UNITS[unit].factor)} {_SIGNS.get(unit, unit)}"
    return f"{format_number(value)} {unit}"


def _grouped(quantity: Quantity) -> str:
    """A quantity as it was written, with its thousands apart."""
    return _WHOLE.sub(lambda digits: f"{int(digits.group()):,}", str(quantity), count=1)


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 claim`, `2 claims`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
