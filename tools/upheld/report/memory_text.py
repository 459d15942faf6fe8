"""The ledger as text for a person: what there is, what is left, and where each value came from."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from upheld.arithmetic.cache import name_of
from upheld.arithmetic.ledger import Ledger
from upheld.arithmetic.solve import LONGEST, least_share, longest_context
from upheld.arithmetic.terms import Input
from upheld.records.units import count, format_bytes, format_number
from upheld.report.escape import printable
from upheld.report.table import aligned

HEADING = "Arithmetic, not a measurement"
WITHOUT_RUNTIME = "Runtime memory is not stated, and left out of every total."

_LONGEST_ALIGNED = 32


def ledger_as_text(title: str, found: Ledger, notes: Iterable[str] = ()) -> str:
    """The whole ledger, aligned, with control characters escaped."""
    sections = [
        [HEADING, f"{title}, {found.parallelism}"],
        *([["Each pipeline stage", *_indent(_stages(found))]] if found.stages else []),
        [_device_heading(found), *_indent(_tree(found))],
        [_capacity_heading(found), *_indent(_capacity(found))],
        ["What else would fit", *_indent(_limits(found))],
        ["Result", *_indent([*_result(found), f"Given: {', '.join(found.given)}."])],
        ["Inputs, and where they came from", *_indent(_inputs(found))],
    ]
    if notes := list(notes):
        sections.append(["Notes", *_indent(notes)])
    return "\n\n".join("\n".join(map(printable, section)) for section in sections)


def _stages(found: Ledger) -> list[str]:
    rows = [["", "cached layers", "weights", "kv_cache", "total", "left for KV", "tokens"]]
    for stage, each in enumerate(found.stages, start=1):
        sizes = (
            each.weights.bytes,
            each.kv_cache.bytes,
            each.device_total,
            each.available_kv,
        )
        layers = ", ".join(f"{kind.layers} {name_of(kind)}" for kind in each.layers)
        rows.append([f"stage {stage}", layers, *map(format_bytes, sizes), f"{each.tokens:,}"])
    return aligned(rows, right=range(2, 7))


def _device_heading(found: Ledger) -> str:
    if not found.stages:
        return "Memory of one device"
    stage = next(at for at, each in enumerate(found.stages, 1) if each.terms == found.terms)
    return f"Memory of one device of stage {stage}, which has the least room"


def _tree(found: Ledger) -> list[str]:
    rows = [
        ["  " * depth + term.name, *_bytes(term.bytes), term.formula]
        for top in found.terms
        for depth, term in top.walk()
    ]
    if found.runtime is None:
        rows.append(["runtime", "", "", "not stated, and left out of the total"])
    rows.append(["total", *_bytes(found.device_total), "sum of the above"])
    rows.append(["budget", *_bytes(found.budget.bytes), found.budget.formula])
    return aligned(rows, right=(1, 2))


def _capacity_heading(found: Ledger) -> str:
    if found.runtime is None:
        return "Capacity, at most: runtime memory is not stated and takes some of it"
    return "Capacity"


def _capacity(found: Ledger) -> list[str]:
    taken = "weights" if found.runtime is None else "weights and runtime"
    blocks = (
        f"{count(found.blocks, 'block')} of {count(found.block_size, 'token')}, "
        f"{found.block_bytes:,} B each"
    )
    rows = [
        ["left for the KV cache", *_bytes(found.available_kv), f"budget less {taken}"],
        ["one token", *_bytes(found.kv_bytes_per_token), "in all layers that have attention"],
        ["tokens", f"{found.tokens:,}", "", blocks],
        [
            "sequences",
            f"{found.sequences:,}",
            "",
            f"of {found.max_model_len:,} tokens, in whole blocks",
        ],
        [
            "concurrency",
            f"{float(found.max_concurrency):,.2f}",
            "",
            f"blocks / {count(found.blocks_of_a_sequence, 'block')} a sequence",
        ],
        *_of_all_groups(found),
        [
            "devices needed",
            "" if found.devices is None else f"{found.devices:,}",
            "",
            found.devices_problem or "fewest, a power of two, for one replica",
        ],
    ]
    return aligned(rows, right=(1, 2))


def _of_all_groups(found: Ledger) -> list[list[str]]:
    if found.parallelism.data == 1:
        return []
    groups = count(found.parallelism.data, "data-parallel group")
    return [
        ["tokens in all", f"{found.replica_tokens:,}", "", f"of {groups}"],
        ["sequences in all", f"{found.replica_sequences:,}", "", f"of {groups}"],
    ]


def _limits(found: Ledger) -> list[str]:
    longest, share = longest_context(found), least_share(found)
    at_once = count(found.max_num_seqs, "sequence")
    rows = [
        [
            "context",
            "any" if longest >= LONGEST else f"{longest:,}",
            f"tokens at most, for {at_once} at once",
        ],
        [
            found.engine.share,
            "none" if share is None else f"{float(share):.4f}",
            f"at least, for {at_once} of {found.max_model_len:,} tokens"
            if share is not None
            else f"{at_once} of {found.max_model_len:,} tokens need more than the whole device",
        ],
    ]
    return aligned(rows, right=(1,))


def _result(found: Ledger) -> list[str]:
    margin = f"{abs(found.excess):,} B ({format_bytes(abs(found.excess))})"
    load = f"{count(found.max_num_seqs, 'sequence')} of {count(found.max_model_len, 'token')}"
    if not found.fits:
        without = "" if found.runtime else ", before any runtime memory, which is not stated"
        return [f"Does not fit with {load}: {margin} too much{without}."]
    if found.runtime is None:
        return [
            f"Weights and KV fit with {load}; runtime not stated.",
            f"{margin} of the budget are left for it.",
        ]
    return [f"Fits with {load}: {margin} to spare."]


def _inputs(found: Ledger) -> list[str]:
    tops = (*found.terms, found.budget)
    inputs = {item.name: item for top in tops for _, term in top.walk() for item in term.inputs}
    values = {name: _value(item) for name, item in inputs.items()}
    # One long value, such as a rope_scaling, would push every origin out of sight.
    width = max((len(each) for each in values.values() if len(each) <= _LONGEST_ALIGNED), default=0)
    return aligned(
        [[name, f"{values[name].ljust(width)}  {item.origin}"] for name, item in inputs.items()]
    )


def _value(item: Input) -> str:
    if isinstance(item.value, bool):
        return str(item.value).lower()
    if isinstance(item.value, (int, Fraction)):
        return format_number(Fraction(item.value))
    return item.value


def _bytes(number: int) -> tuple[str, str]:
    return f"{number:,} B", "" if abs(number) < 1024 else format_bytes(number)


def _indent(lines: Iterable[str]) -> list[str]:
    return ["  " + line for line in lines]
