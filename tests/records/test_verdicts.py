from __future__ import annotations

from upheld.records.verdicts import BLOCKING, VERDICTS


def test_what_blocks_is_a_verdict_and_never_an_upheld_or_declared_one() -> None:
    assert set(VERDICTS) > BLOCKING
    assert not BLOCKING & {"upheld", "assumed", "untested", "stale"}
