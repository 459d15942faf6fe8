"""Names of devices and engines as tools print them, each group one and the same thing.

A record's own names come first; this table joins spellings that no record has. A name that could
mean several devices, such as `H100` or `A100`, is in no group. Device names are those of
`nvidia-smi -L` and `rocm-smi --showproductname`, and what people write for them.
"""

from __future__ import annotations

import re

# The first name of each group stands for it.
_DEVICES: tuple[tuple[str, ...], ...] = (
    ("H100 80GB HBM3", "H100 SXM5 80GB", "H100 SXM5", "H100 SXM", "H100 SXM 80GB", "H100 HBM3"),
    ("H100 PCIe", "H100 PCIe 80GB", "H100 80GB PCIe"),
    ("H100 NVL", "H100 NVL 94GB"),
    ("H200", "H200 SXM", "H200 SXM5", "H200 141GB", "H200 SXM 141GB", "H200 141GB HBM3e"),
    ("H200 NVL", "H200 NVL 141GB"),
    ("GH200 480GB", "GH200"),
    ("B200", "B200 SXM", "B200 180GB"),
    ("A100 SXM4 80GB", "A100 SXM 80GB", "A100 80GB SXM4", "A100 80GB SXM"),
    ("A100 SXM4 40GB", "A100 SXM 40GB", "A100 40GB SXM4", "A100 40GB SXM"),
    ("A100 80GB PCIe", "A100 PCIe 80GB"),
    ("A100 PCIe 40GB", "A100 PCI 40GB", "A100 40GB PCIe"),
    ("A10", "A10 24GB"),
    ("A10G", "A10G 24GB"),
    ("L4", "L4 24GB"),
    ("L40", "L40 48GB"),
    ("L40S", "L40S 48GB"),
    ("T4", "Tesla T4", "T4 16GB"),
    ("RTX 3090", "GeForce RTX 3090"),
    ("RTX 4090", "GeForce RTX 4090"),
    ("RTX 5090", "GeForce RTX 5090"),
    ("RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server"),
    ("MI300X", "Instinct MI300X", "MI300X OAM"),
    ("MI325X", "Instinct MI325X"),
    ("MI355X", "Instinct MI355X"),
)
_ENGINES: tuple[tuple[str, ...], ...] = (
    ("vllm", "vllm openai"),
    ("sglang", "sgl"),
    ("tensorrt llm", "tensorrtllm", "trtllm", "trt llm"),
    ("llama.cpp", "llamacpp", "llama cpp", "llama server"),
    ("lmdeploy", "turbomind"),
    ("transformers", "hf transformers", "huggingface transformers"),
    ("text generation inference", "tgi"),
)
_OF_A_VENDOR = re.compile(r"\b(nvidia|amd|tensor core|gpu)\b")


def known_name(axis: str, name: str) -> str | None:
    """What stands for the group that a name is in; None where it is in none."""
    return _TABLES.get(axis, {}).get(_reduced(name))


def _reduced(name: str) -> str:
    plain = re.sub(r"[-_,()/]+", " ", name.casefold())
    return " ".join(_OF_A_VENDOR.sub(" ", plain).split())


def _table(groups: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    return {_reduced(name): _reduced(group[0]) for group in groups for name in group}


_TABLES = {"device": _table(_DEVICES), "engine": _table(_ENGINES)}
