"""A deployment: what was chosen, what one device then holds, and how much that serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from upheld.arithmetic.ledger import Ledger
from upheld.arithmetic.terms import Term
from upheld.judge.judgement import Judged
from upheld.records.deployment import Deployment
from upheld.records.device import Device
from upheld.records.units import format_bytes, format_number
from upheld.site.links import Links
from upheld.site.pages.memory_bar import bar_of
from upheld.site.pages.page import Page
from upheld.site.pages.record import Fact, record_page
from upheld.site.pages.view import plain

_SHOWN_ELSEWHERE = frozenset(
    {"kind", "id", "title", "runtime_memory", "weight_memory", "assumes", "claims", "notes"}
)
_LINKS = frozenset({"model", "device"})
_IN_BYTES = frozenset({"memory", "runtime_memory"})


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One term of the ledger. `stated` says that nobody worked it out."""

    depth: int
    name: str
    bytes: int
    formula: str
    stated: bool


@dataclass(frozen=True, slots=True)
class LedgerInput:
    """One value that went into the terms named by `into`."""

    name: str
    value: int | str | Fraction
    origin: str
    into: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The value, with its unit where it is not a count."""
        if self.name in _IN_BYTES and isinstance(self.value, int):
            return f"{format_bytes(self.value)} ({self.value:,} B)"
        return plain(self.value)


def pages(judged: Judged, links: Links) -> Iterator[Page]:
    """One page for each deployment."""
    for deployment in judged.corpus.of(Deployment):
        ledger = judged.ledgers.get(deployment.id)
        device = judged.corpus.get(deployment.device)
        memory = int(device.memory.base) if isinstance(device, Device) else 0
        yield record_page(
            judged,
            links,
            deployment,
            "deployment.html",
            search_boost=1.5,
            facts=list(_facts(deployment)),
            ledger=ledger,
            rows=list(_rows(ledger)) if ledger else [],
            inputs=_inputs(ledger) if ledger else [],
            capacity=list(_capacity(ledger)) if ledger else [],
            bar=bar_of(ledger, memory) if ledger else None,
            device_memory=memory,
        )


def _facts(deployment: Deployment) -> Iterator[Fact]:
    for name in Deployment.model_fields:
        value = getattr(deployment, name)
        if name not in _SHOWN_ELSEWHERE and value is not None:
            yield Fact(name, plain(value), str(value) if name in _LINKS else None)


def _rows(ledger: Ledger) -> Iterator[LedgerRow]:
    for term in ledger.terms:
        for depth, part in term.walk():
            yield LedgerRow(depth, part.name, part.bytes, part.formula, part.stated)


def _inputs(ledger: Ledger) -> list[LedgerInput]:
    into: dict[tuple[str, int | str | Fraction, str], list[str]] = {}
    for term in (*ledger.terms, ledger.budget):
        for item in _all_inputs(term):
            names = into.setdefault((item[0], item[1], item[2]), [])
            if term.name not in names:
                names.append(term.name)
    return [LedgerInput(*key, tuple(names)) for key, names in into.items()]


def _all_inputs(term: Term) -> Iterator[tuple[str, int | str | Fraction, str]]:
    for _, part in term.walk():
        for item in part.inputs:
            yield item.name, item.value, item.origin


def _capacity(ledger: Ledger) -> Iterator[tuple[str, str]]:
    yield "KV cache of one token", f"{ledger.kv_bytes_per_token:,} B"
    yield "Left for the KV cache", format_bytes(ledger.available_kv)
    yield "Blocks", f"{ledger.blocks:,} of {ledger.block_size:,} tokens"
    yield "Tokens", f"{ledger.tokens:,}"
    if ledger.parallelism.data > 1:
        yield "Tokens of all data-parallel groups", f"{ledger.replica_tokens:,}"
    yield (
        "Sequences of full length",
        f"{ledger.sequences:,} of {ledger.max_model_len:,} tokens each; "
        f"the deployment allows {ledger.max_num_seqs:,}",
    )
    yield (
        "Blocks divided by those of a sequence of full length",
        format_number(ledger.max_concurrency, 4),
    )
    yield (
        "Devices that one replica needs",
        ledger.devices_problem or f"{ledger.devices:,}",
    )
