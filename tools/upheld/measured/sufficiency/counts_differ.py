"""UPH517: tokens that two counted, with different results."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming

_NEAR = Fraction(2, 100)
_RESTING_ON = {
    "tokens.input.total": ("tokens.input", "throughput.input_tokens", "throughput.total_tokens"),
    "tokens.output.total": (
        "tokens.output", "throughput.output_tokens", "throughput.total_tokens", "latency.tpot",
    ),
}  # fmt: skip


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires where two counts of the same tokens are more than 2 % apart.

    Text that is tokenised again by the client gives other tokens than those that the server made.
    Silent where only one count is known.
    """
    for name, counts in row.counted.items():
        least, most = min(counts.values()), max(counts.values())
        if most - least > _NEAR * most:
            said = ", ".join(f"{count:,} by {who}" for who, count in counts.items())
            yield Shortcoming(
                "UPH517",
                f"{name} is open: {said}",
                "measure with a client that takes the counts of the server",
                concerns=_RESTING_ON[name],
            )
