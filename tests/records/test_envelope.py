from __future__ import annotations

from upheld.records.claim import Axes
from upheld.records.envelope import AXES


def test_a_record_can_state_each_axis_and_no_other() -> None:
    assert list(AXES) == list(Axes.model_fields)


def test_every_axis_is_named_as_it_is_filed() -> None:
    assert all(name == axis.name for name, axis in AXES.items())
    assert len({axis.title for axis in AXES.values()}) == len(AXES)


def test_counts_and_quantities_are_compared_as_numbers() -> None:
    stated = Axes.model_validate({
        "model": "m", "device_count": "2", "max_model_len": "8192 tokens",
        "request_rate": "0.5 requests/s", "prefix_caching": "false", "engine_version": "0.10",
    }).stated()  # fmt: skip
    assert stated == {
        "model": "m", "device_count": 2, "max_model_len": 8192, "request_rate": 0.5,
        "prefix_caching": False, "engine_version": "0.10",
    }  # fmt: skip
    numbers = {name for name, value in stated.items() if not isinstance(value, str | bool)}
    assert all(AXES[name].comparison == "number" for name in numbers)
    assert AXES["engine_version"].comparison == "version"
