"""A model, a device and a deployment to vary: plain objects in the words of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from upheld.records.units import Quantity, parse_quantity

DEVICE_MEMORY = parse_quantity("80 GiB")
RUNTIME_MEMORY = parse_quantity("4 GiB")
CONTEXT = parse_quantity("8192 tokens")


@dataclass(frozen=True)
class Model:
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int = 8
    head_dim: int = 128
    hidden_size: int = 4096
    intermediate_size: int = 14336
    vocab_size: int = 128256
    tie_word_embeddings: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    parameters: int | None = None
    attention: str = "full"
    cached_layers: tuple[object, ...] = ()
    torch_dtype: str = "bfloat16"
    state_dtype: str | None = None
    weights_unknown: str | None = None
    origin: str = "shape-source"
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    memory: Quantity = DEVICE_MEMORY
    origin: str = "device-source"
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Runtime:
    size: Quantity = RUNTIME_MEMORY
    origin: str = "runtime-assumption"


@dataclass(frozen=True)
class Deployment:
    id: str = "one-device"
    engine: str = "vllm"
    engine_version: str = "0.19.0"
    max_num_batched_tokens: int | None = None
    prefix_caching: bool = False
    weight_dtype: str = "bf16"
    weight_group_size: int | None = None
    kv_cache_dtype: str = "bf16"
    block_size: int = 16
    tensor_parallel: int = 1
    gpu_memory_utilization: Fraction = Fraction(9, 10)
    max_model_len: Quantity = CONTEXT
    max_num_seqs: int = 32
    runtime_memory: Runtime | None = field(default_factory=Runtime)
    weight_memory: Runtime | None = None
    assumes: tuple[str, ...] = ()


LLAMA_8B = Model()
LLAMA_70B = Model(
    num_hidden_layers=80, num_attention_heads=64, hidden_size=8192, intermediate_size=28672
)
QWEN2_7B = Model(
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    hidden_size=3584,
    intermediate_size=18944,
    vocab_size=152064,
    qkv_bias=True,
)
QWEN2_SMALL = Model(
    num_hidden_layers=24,
    num_attention_heads=14,
    num_key_value_heads=2,
    head_dim=64,
    hidden_size=896,
    intermediate_size=4864,
    vocab_size=151936,
    qkv_bias=True,
    tie_word_embeddings=True,
)
QWEN3_8B = Model(num_hidden_layers=36, intermediate_size=12288, vocab_size=151936, qk_norm=True)
QWEN3_14B = Model(
    num_hidden_layers=40,
    num_attention_heads=40,
    hidden_size=5120,
    intermediate_size=17408,
    vocab_size=151936,
    qk_norm=True,
)
