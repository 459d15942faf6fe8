from __future__ import annotations

from typing import Any

import pytest

from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.dtypes import WEIGHT_BYTES
from upheld.arithmetic.weights.formats import FORMATS, PLAIN
from upheld.arithmetic.weights.quantisation import Format, of_quantization_config


def compressed(**weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }


HEAD = ("lm_head",)


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128]},
            Format("fp8_block"),
        ),
        (
            {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]},
            Format("fp8_tensor", kept=HEAD),
        ),
        ({"quant_method": "fbgemm_fp8"}, Format("fp8")),
        (
            {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True},
            Format("int4_awq", 64),
        ),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True},
            Format("int4_gptq", 128),
        ),
        ({"quant_method": "mxfp4"}, Format("mxfp4")),
        (
            {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]},
            Format("nvfp4", kept=HEAD),
        ),
        (
            {"quant_method": "modelopt", "quantization": {"quant_algo": "FP8"}},
            Format("fp8_tensor"),
        ),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            Format("nf4"),
        ),
        (compressed(num_bits=8, type="int", strategy="channel"), Format("int8", kept=HEAD)),
        (compressed(num_bits=8, type="float", strategy="channel"), Format("fp8", kept=HEAD)),
        (
            compressed(num_bits=4, type="int", strategy="group", group_size=128, symmetric=True),
            Format("int4", 128, HEAD),
        ),
        (
            compressed(num_bits=4, type="int", strategy="group", group_size=32, symmetric=False),
            Format("int4_awq", 32, HEAD),
        ),
        (
            compressed(num_bits=4, type="float", strategy="tensor_group", group_size=16),
            Format("nvfp4", kept=HEAD),
        ),
    ],
)
def test_the_file_says_how_the_weights_are_stored(stated: dict[str, Any], found: Format) -> None:
    assert of_quantization_config({"quantization_config": stated}) == found


def test_a_file_that_says_nothing_is_not_quantised() -> None:
    assert of_quantization_config({}) is None
    assert of_quantization_config({"quantization_config": None}) is None


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        ("fp8", "quantization_config is 'fp8'"),
        ({"quant_method": "quip"}, "quant_method 'quip'"),
        ({"quant_method": ["fp8"]}, r"quant_method \['fp8'\]"),
        ({"quant_method": "fp8", "weight_block_size": [64, 64]}, "weight_block_size"),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "bits 8"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "group_size -1"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"a": 1}}, "dynamic"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "without load_in_4bit"),
        ({"quant_method": "modelopt", "quant_algo": "W4A8"}, "quant_algo 'W4A8'"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 32}, "group_size 32"),
        ({"quant_method": "compressed-tensors"}, "config_groups"),
        (compressed(num_bits=3, type="int", strategy="group"), "num_bits 3"),
        ({"quant_method": "fp8", "ignored_layers": [1]}, "ignored_layers"),
        ({"quant_method": "fp8", "ignored_layers": ["a" * 201]}, "ignored_layers"),
    ],
)
def test_a_way_that_is_not_known_is_refused_in_words(stated: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        of_quantization_config({"quantization_config": stated})
    assert raised.value.help


def test_each_format_has_a_name_that_can_be_chosen() -> None:
    assert set(WEIGHT_BYTES) == {*PLAIN, *FORMATS}
