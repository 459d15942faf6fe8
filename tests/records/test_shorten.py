from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upheld.records.shorten import shorten


@given(st.text(), st.integers(1, 80))
def test_never_longer_than_its_limit_and_begins_alike(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
