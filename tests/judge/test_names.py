from __future__ import annotations

from pathlib import Path

import pytest

from upheld.corpus.load import load
from upheld.judge.names import Names

DEVICE = """kind: device
id: {id}
title: {title}
vendor: NVIDIA
memory: 81559 MiB
origin: facts
"""


def names(root: Path, *devices: tuple[str, str]) -> Names:
    folder = root / "evidence" / "devices"
    folder.mkdir(parents=True)
    for id_, title in devices:
        (folder / f"{id_}.yaml").write_text(DEVICE.format(id=id_, title=title))
    return Names(load(root))


def test_a_spelling_that_tools_print_leads_to_the_record(tmp_path: Path) -> None:
    found = names(tmp_path, ("ours", "H100 SXM5 80GB"))
    assert found.normal("device", "NVIDIA H100 80GB HBM3") == "ours"
    assert found.normal("device", "NVIDIA H100 PCIe") != "ours"


def test_of_two_records_of_one_device_none_stands_for_it(tmp_path: Path) -> None:
    found = names(tmp_path, ("one", "H100 SXM5 80GB"), ("two", "H100 SXM"))
    assert found.normal("device", "NVIDIA H100 80GB HBM3") == "nvidia h100 80gb hbm3"
    assert found.normal("device", "H100 SXM") == "two"


@pytest.mark.parametrize("engine", ["vLLM", "vllm", "vllm-openai"])
def test_engines_need_no_record(tmp_path: Path, engine: str) -> None:
    found = names(tmp_path, ("ours", "H100 SXM5 80GB"))
    assert found.normal("engine", engine) == "vllm"
