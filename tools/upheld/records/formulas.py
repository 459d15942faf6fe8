"""The named formulas of derived figures: what goes in, what comes out, and the sum.

All values are exact, in base units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

Values = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Formula:
    """`inputs` names each input with its dimension; `words` is the sum, in those names.

    Those in `measured` are figures of hardware, which come from a claim and are never assumed.
    """

    name: str
    inputs: Mapping[str, str]
    dimension: str
    measured: tuple[str, ...]
    words: str
    work_out: Callable[[Values], Fraction]


FORMULAS: dict[str, Formula] = {
    formula.name: formula
    for formula in (
        Formula(
            "cost_per_million_tokens",
            {"price": "money per time", "devices": "devices", "throughput": "token rate"},
            "money per tokens",
            ("throughput",),
            "price × devices ÷ throughput",
            lambda of: of["price"] * of["devices"] / of["throughput"],
        ),
        Formula(
            "devices_for_token_demand",
            {"demand": "token rate", "throughput": "token rate", "devices": "devices"},
            "devices",
            ("throughput",),
            "⌈demand ÷ throughput⌉ × devices",
            lambda of: ceil(of["demand"] / of["throughput"]) * of["devices"],
        ),
        Formula(
            "devices_for_request_demand",
            {"demand": "request rate", "throughput": "request rate", "devices": "devices"},
            "devices",
            ("throughput",),
            "⌈demand ÷ throughput⌉ × devices",
            lambda of: ceil(of["demand"] / of["throughput"]) * of["devices"],
        ),
        Formula(
            "tokens_per_energy",
            {"throughput": "token rate", "power": "power"},
            "tokens per energy",
            ("throughput", "power"),
            "throughput ÷ power",
            lambda of: of["throughput"] / of["power"],
        ),
    )
}
