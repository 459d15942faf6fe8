"""UPH520: figures that their tool works out in another way than their name says."""

from __future__ import annotations

from collections.abc import Iterator

from upheld.measured.reading import Row
from upheld.measured.sufficiency.shortcoming import Shortcoming


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires for each distribution that the reader of the format doubts, with its reason."""
    for name, reason in row.doubts.items():
        yield Shortcoming(
            "UPH520",
            f"{name} is not what its name says: {reason}",
            "claim another figure, or measure with a tool that reports this one",
            concerns=(name,),
        )
