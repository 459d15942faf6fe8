"""The choices of a deployment that `upheld memory` makes from a config.json and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from upheld.arithmetic.checkpoints import CheckpointError, read_checkpoint
from upheld.arithmetic.config_json import ConfigModel
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.dtypes import KV_CACHE_ALIASES, OF_TORCH
from upheld.arithmetic.engines import engine_of
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights.formats import GROUPED
from upheld.records.units import Quantity, parse_quantity

# Of an engine that works its own share out from what is not known here.
_SHARE = Fraction(9, 10)


@dataclass(frozen=True, slots=True)
class Stated:
    """A size that somebody stated, and where."""

    size: Quantity
    origin: str


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a deployment, from options; `origins` says which were left to a default."""

    engine: str
    weight_dtype: str
    weight_group_size: int | None
    kv_cache_dtype: str
    block_size: int | None
    tensor_parallel: int
    pipeline_parallel: int
    data_parallel: int
    decode_context_parallel: int
    expert_parallel: bool
    gpu_memory_utilization: Fraction
    max_model_len: Quantity
    max_num_seqs: int
    runtime_memory: Stated | None
    origins: Mapping[str, str]
    engine_version: str | None = None
    max_num_batched_tokens: int | None = None
    prefix_caching: bool = False
    weight_memory: Stated | None = None
    kv_cache_memory: Stated | None = None
    id: str = "the command line"
    assumes: tuple[str, ...] = ()


def option_of(name: str) -> str:
    """The option that sets `name`: `--block-size` for `block_size`."""
    return "--" + name.replace("_", "-")


def choices_of(shape: ConfigModel, chosen: Mapping[str, Any]) -> Choices:
    """What was chosen, completed from the config.json and then from the engine's defaults.

    `chosen` holds the options that were given, by name; `engine` is always among them.

    Raises:
        ConfigError: the file leaves open what no option says.
        ShapeError: options that do not go together.
    """
    origins: dict[str, str] = {}
    engine = engine_of(chosen["engine"], chosen.get("engine_version"))
    default = f"{engine.title}'s default"

    def take(name: str, default: Any, origin: str) -> Any:
        origins[name] = option_of(name) if name in chosen else origin
        return chosen.get(name, default)

    computed_in = shape.dtype_origin
    if not shape.cached.layers:
        raise ConfigError("it has no cache: it does not generate", "give a model that does")
    stated = _stated_weights(chosen)
    if stated is None and shape.weights_unknown is not None:
        raise ConfigError(
            f"weights: {shape.weights_unknown}", "say --weights-memory, per device, or --checkpoint"
        )
    cache_has_its_own = engine.default_kv_cache_dtype is not None
    weight_dtype, group_size = _stored(
        shape, chosen, origins, stated is not None, cache_has_its_own
    )

    kv_cache_dtype = take("kv_cache_dtype", "auto", default)
    kv_cache_dtype = KV_CACHE_ALIASES.get(kv_cache_dtype, kv_cache_dtype)
    if kv_cache_dtype == "auto" and engine.default_kv_cache_dtype is not None:
        origins["kv_cache_dtype"], kv_cache_dtype = default, engine.default_kv_cache_dtype
    if kv_cache_dtype == "auto":
        if shape.torch_dtype is None and "weight_dtype" not in chosen:
            raise ConfigError("torch_dtype is missing", "say --kv-cache-dtype, such as bf16")
        _check_cache_dtype(shape, weight_dtype)
        # vLLM: the dtype that the model computes in, which quantised weights do not change.
        computes = weight_dtype if weight_dtype in OF_TORCH.values() else shape.torch_dtype
        origins["kv_cache_dtype"] = (
            f"auto: as {origins['weight_dtype'] if computes == weight_dtype else computed_in}"
        )
        kv_cache_dtype = computes
    if kv_cache_dtype is None:
        raise ConfigError("torch_dtype is missing", "say --kv-cache-dtype, such as bf16")

    positions = shape.max_position_embeddings
    if positions is None and "max_model_len" not in chosen:
        raise ConfigError("max_position_embeddings is missing", "say --max-model-len")
    runtime, cache = chosen.get("runtime_memory"), chosen.get("kv_cache_memory")
    return Choices(
        engine=chosen["engine"],
        weight_dtype=weight_dtype,
        weight_group_size=group_size,
        kv_cache_dtype=kv_cache_dtype,
        block_size=take("block_size", engine.default_block_size if engine.block else None, default),
        tensor_parallel=take("tensor_parallel", 1, default),
        pipeline_parallel=take("pipeline_parallel", 1, default),
        data_parallel=take("data_parallel", 1, default),
        decode_context_parallel=take("decode_context_parallel", 1, default),
        expert_parallel=take("expert_parallel", False, default),
        gpu_memory_utilization=take(
            "gpu_memory_utilization",
            engine.default_share or _SHARE,
            default if engine.default_share else "this command's default",
        ),
        max_model_len=take(
            "max_model_len",
            None if positions is None else parse_quantity(f"{positions} tokens"),
            f"max_position_embeddings of {shape.origin}",
        ),
        max_num_seqs=take("max_num_seqs", 1, "this command's default"),
        runtime_memory=None if runtime is None else Stated(runtime, "--runtime-memory"),
        origins=origins,
        engine_version=take("engine_version", None, "not stated"),
        max_num_batched_tokens=take("max_num_batched_tokens", None, "not stated"),
        prefix_caching=take("prefix_caching", False, "this command's default"),
        weight_memory=stated,
        kv_cache_memory=None if cache is None else Stated(cache, "--kv-cache-memory"),
    )


def _stored(
    shape: ConfigModel,
    chosen: Mapping[str, Any],
    origins: dict[str, str],
    stated: bool,
    cache_has_its_own: bool,
) -> tuple[str, int | None]:
    """Weight dtype and group size: as chosen, else as the file stores them."""
    origins["weight_group_size"] = "not stated"
    if "weight_group_size" in chosen:
        origins["weight_group_size"] = option_of("weight_group_size")
    group_size = chosen.get("weight_group_size")
    if "weight_dtype" in chosen:
        origins["weight_dtype"] = option_of("weight_dtype")
        weight_dtype = chosen["weight_dtype"]
    elif shape.stored is not None:
        origins["weight_dtype"] = f"quantization_config of {shape.origin}"
        weight_dtype = shape.stored.weight_dtype
        if group_size is None and shape.stored.group_size is not None:
            origins["weight_group_size"] = origins["weight_dtype"]
            group_size = shape.stored.group_size
    else:
        origins["weight_dtype"] = shape.dtype_origin
        _check_stored_dtype(shape, stated, cache_has_its_own)
        weight_dtype = shape.torch_dtype or "bf16"
    if (weight_dtype in GROUPED) != (group_size is not None):
        raise ShapeError("weight_group_size", "goes with weight_dtype int4, and only with it")
    return weight_dtype, group_size


def _stated_weights(chosen: Mapping[str, Any]) -> Stated | None:
    size, file = chosen.get("weights_memory"), chosen.get("checkpoint")
    if size is not None and file is not None:
        raise ConfigError("--weights-memory and --checkpoint state the same", "give one of the two")
    if file is None:
        return None if size is None else Stated(size, "--weights-memory")
    if any(chosen.get(name, 1) > 1 for name in ("tensor_parallel", "pipeline_parallel")):
        raise ConfigError(
            "a checkpoint says what the whole model takes, not what one of several devices does",
            "say --weights-memory, per device",
        )
    try:
        stored = read_checkpoint(file)
    except CheckpointError as error:
        raise ConfigError(f"{file.name}: {error}", error.help) from None
    remarks = f" ({'; '.join(stored.findings)})" if stored.findings else ""
    return Stated(parse_quantity(f"{stored.bytes} B"), f"{file.name}{remarks}")


def _check_cache_dtype(shape: ConfigModel, weight_dtype: str) -> None:
    """Refuses `auto` where it does not simply mean the dtype that the model computes in."""
    if shape.quantised_cache is not None:
        # vLLM: resolve_kv_cache_dtype_string follows the file from about 0.12 on.
        raise ConfigError(
            f"quantization_config has {shape.quantised_cache}, which auto follows in some "
            "versions of vLLM and not in others",
            "say --kv-cache-dtype, such as fp8",
        )
    if shape.torch_dtype == "fp32" and weight_dtype not in ("bf16", "fp16", "fp32"):
        raise ConfigError(
            "torch_dtype is float32, which vLLM loads at 16 bits unless it is told otherwise",
            "say --kv-cache-dtype, such as bf16",
        )


def _check_stored_dtype(
    shape: ConfigModel, weights_are_stated: bool, cache_has_its_own: bool
) -> None:
    """Refuses to guess a dtype; stated weights need none, but a cache that follows it does."""
    say = "say --weight-dtype, such as bf16"
    if weights_are_stated and (cache_has_its_own or shape.torch_dtype != "fp32"):
        return
    if shape.quantised:
        raise ConfigError(
            shape.stored_unknown
            or f"{shape.origin} has quantised weights, by its quantization_config or its tensors, "
            "and does not say how many bytes they take once they are loaded",
            "say --weight-dtype, such as fp8, or int4 with --weight-group-size; or --checkpoint",
        )
    if shape.torch_dtype == "fp32":
        raise ConfigError(
            "torch_dtype is float32, which vLLM loads at 16 bits unless it is told otherwise", say
        )
