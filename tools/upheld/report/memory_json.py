"""The ledger as plain values for JSON: version 1 of the shape that scripts rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from upheld.arithmetic.ledger import Ledger
from upheld.arithmetic.solve import least_share, longest_context
from upheld.arithmetic.terms import Input, Term
from upheld.report.json_text import VERSION


def ledger_as_json(found: Ledger, notes: tuple[str, ...] = ()) -> dict[str, Any]:
    """The ledger and what is to be said about it. Bytes are exact integers.

    Of several pipeline stages, all but `stages` is about the device with the least room. Where
    `not_stated` names `runtime_memory`, `fits` and the totals are without it.
    """
    share = least_share(found)
    return {
        "version": VERSION,
        "basis": "arithmetic",
        "engine": found.engine.name,
        "parallelism": asdict(found.parallelism),
        "terms": [_term(term) for term in found.terms],
        "per_device": _per_device(found),
        "stages": [
            {**_per_device(each), "tokens": each.tokens, "sequences": each.sequences}
            for each in found.stages
        ],
        "budget": _term(found.budget),
        "capacity": {
            "tokens": found.tokens,
            "blocks": found.blocks,
            "block_size": found.block_size,
            "block_bytes": found.block_bytes,
            "bytes_per_token": found.kv_bytes_per_token,
            "max_concurrency": float(found.max_concurrency),
            "at_context": found.max_model_len,
            "sequences": found.sequences,
            "replica_tokens": found.replica_tokens,
            "replica_sequences": found.replica_sequences,
            "devices": found.devices,
            "devices_problem": found.devices_problem,
        },
        "limits": {
            "max_model_len": longest_context(found),
            "gpu_memory_utilization": None if share is None else float(share),
        },
        "fits": found.fits,
        "not_stated": not_stated([found]),
        "given": list(found.given),
        "notes": list(notes),
    }


def _per_device(found: Ledger) -> dict[str, int | None]:
    return {
        "weights": found.weights.bytes,
        "kv_cache": found.kv_cache.bytes,
        "runtime": None if found.runtime is None else found.runtime.bytes,
        "total": found.device_total,
        "budget": found.budget.bytes,
        "available_kv": found.available_kv,
    }


def not_stated(ledgers: Iterable[Ledger | None]) -> list[str]:
    """What is left out of the totals of any of the ledgers."""
    left_out = any(found is not None and found.runtime is None for found in ledgers)
    return ["runtime_memory"] if left_out else []


def _term(term: Term) -> dict[str, Any]:
    return {
        "name": term.name,
        "bytes": term.bytes,
        "formula": term.formula,
        "inputs": [_input(item) for item in term.inputs],
        "given": list(term.given),
        "parts": [_term(part) for part in term.parts],
    }


def _input(item: Input) -> dict[str, Any]:
    value = float(item.value) if isinstance(item.value, Fraction) else item.value
    return {"name": item.name, "value": value, "origin": item.origin}
