"""How a checkpoint's weights are stored: the quantization_config of its config.json.

Sources: vLLM's layers/quantization, read in 0.19.0 (fp8.py, fbgemm_fp8.py, awq.py, gptq.py,
mxfp4.py, modelopt.py, bitsandbytes.py, compressed_tensors/compressed_tensors.py), each class's
from_config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from upheld.arithmetic.configs.fields import ConfigError, short
from upheld.arithmetic.weights.formats import BLOCK, NF4_GROUP, NVFP4_GROUP

MAX_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Format:
    """How the linear layers are stored.

    `weight_dtype` is a key of formats.FORMATS, and `group_size` the inputs that share one scale
    where that is a choice. `kept` are the modules that stay at 16 bits, as the file names them:
    see kept.is_kept.
    """

    weight_dtype: str
    group_size: int | None = None
    kept: tuple[str, ...] = ()


def of_quantization_config(config: Mapping[str, Any]) -> Format | None:
    """The format that a config.json states, or None: not quantised.

    Args:
        config: the whole file, or its language part: whichever has the quantization_config.

    Raises:
        ConfigError: it is quantised in a way that is not known.
    """
    stated = config.get("quantization_config")
    if stated is None:
        return None
    if not isinstance(stated, Mapping):
        raise ConfigError(
            f"quantization_config is {short(stated)}", "quantization_config wants an object"
        )
    method = stated.get("quant_method")
    if not isinstance(method, str) or method not in _METHODS:
        raise _unknown(f"quant_method {short(method)}", ", ".join(_METHODS))
    return _METHODS[method](stated)


def _fp8(stated: Mapping[str, Any]) -> Format:
    block = stated.get("weight_block_size")
    kept = _kept(stated, "modules_to_not_convert", "ignored_layers")
    if block is None:
        return Format("fp8_tensor", kept=kept)
    return Format(_blocks("weight_block_size", block), kept=kept)


def _fbgemm(stated: Mapping[str, Any]) -> Format:
    return Format("fp8", kept=_kept(stated, "modules_to_not_convert"))


def _awq(stated: Mapping[str, Any]) -> Format:
    _wants(stated, "bits", 4)
    return Format("int4_awq", _group(stated), _kept(stated, "modules_to_not_convert"))


def _gptq(stated: Mapping[str, Any]) -> Format:
    _wants(stated, "bits", 4)
    if stated.get("dynamic"):
        raise _unknown("dynamic, which sets bits by module", "one number of bits for all")
    return Format("int4_gptq", _group(stated), ())


def _mxfp4(stated: Mapping[str, Any]) -> Format:
    return Format("mxfp4", kept=_kept(stated, "modules_to_not_convert"))


def _modelopt(stated: Mapping[str, Any]) -> Format:
    # ModelOpt's own file nests what compressed-tensors' form has flat.
    nested = stated.get("quantization")
    inner = nested if isinstance(nested, Mapping) else stated
    algorithms = {"FP8": "fp8_tensor", "NVFP4": "nvfp4"}
    algorithm = inner.get("quant_algo")
    if algorithm not in algorithms:
        raise _unknown(f"quant_algo {short(algorithm)}", ", ".join(algorithms))
    group = inner.get("group_size")
    if algorithm == "NVFP4" and group not in (None, NVFP4_GROUP):
        raise _unknown(f"group_size {short(group)} of NVFP4", str(NVFP4_GROUP))
    return Format(algorithms[algorithm], kept=_kept(inner, "exclude_modules", "ignore"))


def _bitsandbytes(stated: Mapping[str, Any]) -> Format:
    kind = stated.get("bnb_4bit_quant_type", "fp4")
    if stated.get("load_in_4bit") is not True or kind not in ("nf4", "fp4"):
        raise _unknown("bitsandbytes without load_in_4bit", f"4 bits in groups of {NF4_GROUP}")
    return Format("nf4", kept=_kept(stated, "llm_int8_skip_modules"))


def _compressed(stated: Mapping[str, Any]) -> Format:
    groups = stated.get("config_groups")
    if not isinstance(groups, Mapping) or len(groups) != 1:
        raise _unknown("config_groups", "one group for all linear layers")
    (group,) = groups.values()
    scheme = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(scheme, Mapping) or group.get("targets") != ["Linear"]:
        raise _unknown("a group of config_groups", "weights of the target Linear")
    kept = _kept(stated, "ignore")
    kind = (scheme.get("num_bits"), scheme.get("type"), scheme.get("strategy"))
    packed = stated.get("format") == "pack-quantized"
    if kind in _EIGHT_BITS and not packed:
        return Format(_EIGHT_BITS[kind], kept=kept)
    match kind:
        case (8, "float", "block"):
            return Format(_blocks("block_structure", scheme.get("block_structure")), kept=kept)
        case (4, "float", "tensor_group" | "group") if scheme.get("group_size") == NVFP4_GROUP:
            return Format("nvfp4", kept=kept)
        case (4, "int", "group"):
            # With zero points, the same tensors as AWQ's.
            symmetric = scheme.get("symmetric") is not False
            return Format("int4" if symmetric else "int4_awq", _group(scheme), kept)
    raise _unknown(
        f"weights of num_bits {short(kind[0])}, type {short(kind[1])}, strategy {short(kind[2])}",
        "8 bits by tensor, channel or block, 4 bits by group",
    )


_EIGHT_BITS: dict[tuple[Any, Any, Any], str] = {
    (8, "float", "channel"): "fp8",
    (8, "int", "channel"): "int8",
    (8, "float", "tensor"): "fp8_tensor",
    (8, "int", "tensor"): "fp8_tensor",
}
_METHODS: dict[str, Callable[[Mapping[str, Any]], Format]] = {
    "fp8": _fp8,
    "fbgemm_fp8": _fbgemm,
    "awq": _awq,
    "gptq": _gptq,
    "mxfp4": _mxfp4,
    "modelopt": _modelopt,
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed,
}


def _unknown(what: str, known: str) -> ConfigError:
    return ConfigError(
        f"quantization_config has {what}, whose bytes are not known", f"known: {known}"
    )


def _blocks(name: str, value: object) -> str:
    if value != [BLOCK, BLOCK]:
        raise _unknown(f"{name} {short(value)}", f"[{BLOCK}, {BLOCK}]")
    return "fp8_block"


def _wants(stated: Mapping[str, Any], name: str, value: int) -> None:
    if stated.get(name) != value:
        raise _unknown(f"{name} {short(stated.get(name))}", str(value))


def _group(stated: Mapping[str, Any]) -> int:
    size = stated.get("group_size")
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 65_536:
        raise _unknown(f"group_size {short(size)}", "a number of inputs, such as 128")
    return size


def _kept(stated: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    for name in names:
        value = stated.get(name)
        if value is None:
            continue
        if (
            not isinstance(value, list)
            or len(value) > MAX_KEPT
            or not all(isinstance(each, str) and len(each) <= 200 for each in value)
        ):
            raise ConfigError(
                f"{name} of quantization_config is {short(value)}",
                f"{name} wants a list of at most {MAX_KEPT:,} names of modules",
            )
        return tuple(value)
    return ()
