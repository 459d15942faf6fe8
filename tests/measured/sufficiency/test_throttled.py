from __future__ import annotations

import pytest

from served_row import served
from upheld.measured.sufficiency import throttled


def test_heat_is_named_and_a_power_cap_is_not() -> None:
    held = "sw_power_cap in 40 of 50 readings, hw_thermal_slowdown in 12 of 50 readings"
    (found,) = throttled.check(served(case="GPU 0", stated={"clocks_held_back_by": held}))
    assert found.rule == "UPH521"
    assert found.message == (
        "the clocks of GPU 0 were slowed down: hw_thermal_slowdown in 12 of 50 readings"
    )
    assert found.weakens("latency.ttft.p99")
    assert not found.weakens("device.power.mean")


@pytest.mark.parametrize(
    "held",
    ["SW Thermal Slowdown", "HW Slowdown", "hw_power_brake_slowdown in 1 of 2 readings"],
)
def test_each_way_in_which_a_device_is_slowed(held: str) -> None:
    assert list(throttled.check(served(stated={"clocks_held_back_by": held})))


@pytest.mark.parametrize("stated", [{}, {"clocks_held_back_by": "sw_power_cap in 3 of 9 readings"}])
def test_it_is_silent(stated: dict[str, str]) -> None:
    assert not list(throttled.check(served(stated=stated)))
