from __future__ import annotations

import pytest

from records.record_texts import TEXTS, changed, only_finding, record_in
from upheld.records.adr import Adr

_HEAD = TEXTS["adr"].partition("claims:")[0]
CORRECT = ("upheld schema adr says what each field takes",)


def claim(*lines: str) -> str:
    return "\n".join([f"{_HEAD}claims:", "  - id: it", "    says: It is so.", *lines, ""])


def test_a_valid_claim() -> None:
    record = record_in(TEXTS["adr"])
    assert isinstance(record, Adr)
    (found,) = record.claims
    assert (found.basis, str(found.expect), found.within.deployment) == (
        "arithmetic", "<= 76 GiB", "replica",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("basis", "given", "missing"),
    [
        ("assumed", (), "owner and date and why"),
        ("assumed", ("    owner: Somebody", "    why: Because."), "date"),
        ("assumed", ("    date: 2026-11-02", "    why: Because."), "owner"),
        ("untested", (), "why"),
    ],
)
def test_a_basis_needs_what_it_must_declare(
    basis: str, given: tuple[str, ...], missing: str
) -> None:
    text = claim(f"    basis: {basis}", "    metric: latency.ttft", *given)
    assert only_finding(text) == (
        "UPH109", 11, 5, f"claims[1]: a claim with basis: {basis} needs {missing}",
        *CORRECT,
    )  # fmt: skip


def test_what_is_open_needs_no_figure() -> None:
    record_in(claim("    basis: untested", "    metric: latency.ttft", "    why: No card."))
    record_in(claim(
        "    basis: assumed", "    metric: cost.per_hour", "    why: A quote.",
        "    owner: Somebody", "    date: 2026-11-02",
    ))  # fmt: skip


@pytest.mark.parametrize("basis", ["arithmetic", "control", "measured"])
def test_a_quantity_needs_a_figure(basis: str) -> None:
    text = claim(f"    basis: {basis}", "    metric: memory.weights")
    assert only_finding(text)[3] == (
        f"claims[1]: memory.weights is a quantity, so basis: {basis} needs expect, "
        "such as '<= 10 GiB'"
    )


def test_what_holds_or_does_not_takes_no_figure() -> None:
    text = claim(
        "    basis: control", "    metric: safety.bounded_queue", '    expect: "= 1"'
    )  # fmt: skip
    assert only_finding(text)[3] == (
        "claims[1]: safety.bounded_queue holds or does not; it takes no expect"
    )


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("<= 76", "'<= 76' is of ratio, but memory.kv_cache is compared as memory"),
        ("<= 76 s", "'<= 76 s' is of time, but memory.kv_cache is compared as memory"),
    ],
)
def test_a_figure_of_another_kind_names_the_units_that_fit(expect: str, message: str) -> None:
    assert only_finding(changed("adr", "<= 76 GiB", expect)) == (
        "UPH109", 11, 5,
        f"claims[1]: expect {message}; units that fit: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
        *CORRECT,
    )  # fmt: skip


def test_a_comparison_of_two_is_a_ratio() -> None:
    versus = ("    basis: measured", "    metric: latency.ttft.p50", "    versus: {engine: sglang}")
    record_in(claim(*versus, '    expect: "<= 0.5"'))
    assert only_finding(claim(*versus, '    expect: "<= 500 ms"'))[3] == (
        "claims[1]: expect '<= 500 ms' is of time, but latency.ttft.p50 is compared as ratio of "
        "one to the other, because of versus; units that fit: ratio, %"
    )


def test_a_figure_is_placed_at_its_key() -> None:
    assert only_finding(changed("adr", "<= 76 GiB", "76 GiB")) == (
        "UPH109", 15, 5,
        "claims[1].expect: wants a comparison such as '<= 76 GiB'; operators: < <= = >= > ~",
        *CORRECT,
    )  # fmt: skip


def test_a_misspelt_axis_is_placed_and_mended() -> None:
    text = changed("adr", "{deployment: replica}", "{deployment: replica, concurency: 16}")
    assert only_finding(text) == (
        "UPH107", 16, 35, "unknown key claims[1].within.concurency",
        "did you mean 'concurrency'?",
    )  # fmt: skip


def test_a_misspelt_basis_and_metric() -> None:
    assert only_finding(changed("adr", "basis: arithmetic", "basis: arithmetics")) == (
        "UPH109", 13, 5, "claims[1].basis can't be 'arithmetics'", "did you mean arithmetic?",
    )  # fmt: skip
    assert only_finding(changed("adr", "memory.kv_cache", "memory.kv_cach"))[:4] == (
        "UPH109", 14, 5,
        "claims[1].metric: unknown metric 'memory.kv_cach'; did you mean memory.kv_cache or "
        "memory.kv_cache_per_token or memory.device_total?",
    )  # fmt: skip
