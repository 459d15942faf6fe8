from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fake_nvml import Card, FakeNvml
from upheld.measured.capture.capture_file import CAPTURE
from upheld.measured.capture.captured import Captured, Wanted, capture
from upheld.measured.capture.execution import Stops
from upheld.measured.capture.gpu_sampling import SAMPLES
from upheld.measured.capture.gpus import look_for_gpus
from upheld.measured.read import read_file
from upheld.measured.reading import Capture


def captured(
    nvml: FakeNvml | None, folder: Path, monkeypatch: pytest.MonkeyPatch, **wanted: Any
) -> Captured:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    with Stops() as stops:
        return capture(Wanted([sys.executable, "-c", ""], folder, **wanted), folder, stops)


def read_back(folder: Path) -> Capture:
    reading = read_file(CAPTURE, (folder / CAPTURE).read_bytes())
    assert reading.findings == ()
    assert reading.capture is not None
    return reading.capture


def test_gpus_at_work_are_the_device_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml = FakeNvml(Card(), Card(), Card(busy=(0, 0)))
    captured(nvml, tmp_path, monkeypatch)
    assert not nvml.open
    found = read_back(tmp_path)
    assert found.envelope["device"] == "NVIDIA H200"
    assert found.envelope["device_count"] == 2
    assert found.stated["driver"] == "570.124.06"
    assert found.stated["gpus"] == "NVIDIA H200, NVIDIA H200, NVIDIA H200"
    assert "power 650.5 to 650.5 W, 650.5 on average" in found.stated["gpu_0"]
    assert "sm clock 1,980 to 1,980 MHz" in found.stated["gpu_0"]
    assert "temperature" not in found.stated["gpu_0"]


def test_every_sample_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captured(FakeNvml(Card()), tmp_path, monkeypatch)
    header, before, *during = (tmp_path / SAMPLES).read_text().splitlines()
    assert header.startswith("seconds,gpu,utilisation_percent,memory_used_mib,power_w,")
    assert before == "0,0,0,1024,650.5,1980,3201,"
    assert during
    assert all(line.split(",")[1:3] == ["0", "80"] for line in during)


@pytest.mark.parametrize(
    ("cards", "axes"),
    [
        # Somebody else was at work on one, so how many this run used is open.
        ((Card(busy=(50, 80)), Card()), {"device": "NVIDIA H200"}),
        ((Card(), Card(name="NVIDIA L4")), {}),
        ((Card(busy=(0, 0)),), {}),
        ((Card(busy=(None,)),), {}),
        ((), {}),
    ],
)
def test_what_the_gpus_do_not_show_is_not_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cards: tuple[Card, ...], axes: dict[str, str]
) -> None:
    captured(FakeNvml(*cards), tmp_path, monkeypatch)
    envelope = read_back(tmp_path).envelope
    assert {each: envelope[each] for each in envelope if each.startswith("device")} == axes


def test_repeats_on_other_gpus_leave_their_number_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A first sample and one at the end in each of two executions.
    cards = (Card(busy=(0, 80, 0, 80)), Card(busy=(0, 0, 0, 80)))
    captured(FakeNvml(*cards), tmp_path, monkeypatch, repeats=2)
    assert "device_count" not in read_back(tmp_path).envelope


def test_without_the_library_that_is_what_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured(None, tmp_path, monkeypatch)
    found = read_back(tmp_path)
    assert found.stated["gpus"] == "not looked for: nvidia-ml-py is not installed"
    assert "device" not in found.envelope
    assert not (tmp_path / SAMPLES).exists()


def test_without_a_driver_none_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captured(FakeNvml(driver=False), tmp_path, monkeypatch)
    assert read_back(tmp_path).stated["gpus"] == "none found: NVML Shared Library Not Found"


def test_a_driver_without_the_library_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "version"
    driver.touch()
    monkeypatch.setattr("upheld.measured.capture.gpus._DRIVER", driver)
    (problem,) = captured(None, tmp_path, monkeypatch).problems
    assert problem.startswith("an NVIDIA driver is here, but GPUs are not noted")


def test_samples_that_cant_be_written_are_told_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / SAMPLES).touch()
    found = captured(FakeNvml(Card()), tmp_path, monkeypatch)
    assert found.outcome == "completed"
    assert found.problems == (f"{SAMPLES} is not kept: {SAMPLES} can't be written: File exists",)


def test_the_library_has_every_name_that_is_used() -> None:
    pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    assert [name for name in dir(FakeNvml) if name[:4].lower() == "nvml"]
    for name in dir(FakeNvml):
        if name[:4].lower() == "nvml":
            assert hasattr(pynvml, name), name
    with look_for_gpus() as gpus:
        assert gpus.devices or gpus.absent
