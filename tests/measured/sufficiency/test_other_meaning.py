from __future__ import annotations

from served_row import served
from upheld.measured.sufficiency import other_meaning, shortcomings

ROW = served(
    {"latency.itl.p50": "10", "latency.tpot.p50": "10"},
    samples={"latency.itl": 200, "latency.tpot": 200},
    doubts={"latency.itl": "it has the time to first token in it"},
)


def test_a_figure_that_is_not_what_its_name_says_carries_no_claim() -> None:
    (found,) = shortcomings(ROW, "latency.itl.p50")
    assert found.rule == "UPH520"
    assert found.message == (
        "latency.itl is not what its name says: it has the time to first token in it"
    )
    assert not shortcomings(ROW, "latency.tpot.p50")


def test_without_a_doubt_nothing_is_said() -> None:
    assert not list(other_meaning.check(served({"latency.itl.p50": "10"})))
