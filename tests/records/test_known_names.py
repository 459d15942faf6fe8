from __future__ import annotations

import pytest

from upheld.records.known_names import known_name


@pytest.mark.parametrize(
    ("axis", "one", "other"),
    [
        ("device", "H100-SXM5-80GB", "NVIDIA H100 80GB HBM3"),
        ("device", "NVIDIA A100-SXM4-80GB", "A100 80GB SXM"),
        ("device", "NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("device", "AMD Instinct MI300X", "MI300X"),
        ("engine", "TensorRT-LLM", "trtllm"),
        ("engine", "vLLM", "vllm"),
        ("engine", "llama.cpp", "llama-server"),
    ],
)
def test_spellings_of_one_thing(axis: str, one: str, other: str) -> None:
    assert known_name(axis, one) == known_name(axis, other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB"),
        ("NVIDIA L40", "NVIDIA L40S"),
        ("NVIDIA A10", "NVIDIA A10G"),
    ],
)
def test_devices_that_only_sound_alike(one: str, other: str) -> None:
    assert known_name("device", one) != known_name("device", other)


@pytest.mark.parametrize("name", ["H100", "A100", "NVIDIA", "", "RTX 6000"])
def test_what_could_be_several_things_is_none(name: str) -> None:
    assert known_name("device", name) is None


def test_other_axes_have_no_table() -> None:
    assert known_name("model", "vllm") is None
