"""A model, a device and a deployment to vary: plain objects in the words of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

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
    max_position_embeddings: int | None = 131072
    parameters: int | None = None
    attention: str = "full"
    cached_layers: tuple[object, ...] = ()
    torch_dtype: str = "bfloat16"
    state_dtype: str | None = None
    weights_unknown: str | None = None
    partial_rotary_factor: Any = None
    rope_scaling: Any = None
    o_bias: bool = False
    mlp_bias: bool = False
    norm_bias: bool = False
    lm_head_bias: bool = False
    gated_mlp: bool = True
    norms_per_layer: int = 2
    num_experts: int = 0
    moe_intermediate_size: int = 0
    shared_expert_intermediate_size: int = 0
    shared_expert_gate: bool = False
    router_bias: bool = False
    first_k_dense_replace: int = 0
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    has_vision_config: bool = False
    vision: Any = None
    global_rotary_every: int = 0
    attention_gate: bool = False
    full_attention_interval: int = 0
    linear_num_value_heads: int = 0
    linear_num_key_heads: int = 0
    linear_key_head_dim: int = 0
    linear_value_head_dim: int = 0
    linear_conv_kernel_dim: int = 0
    modules_to_not_convert: tuple[str, ...] = ()
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
    pipeline_parallel: int = 1
    data_parallel: int = 1
    decode_context_parallel: int = 1
    expert_parallel: bool = False
    gpu_memory_utilization: Fraction = Fraction(9, 10)
    max_model_len: Quantity = CONTEXT
    max_num_seqs: int = 32
    runtime_memory: Runtime | None = field(default_factory=Runtime)
    weight_memory: Runtime | None = None
    kv_cache_memory: Runtime | None = None
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Listed:
    """A line of `cached_layers`, as a model record has it."""

    kind: str
    layers: int
    kv_heads: int | None = None
    k_dim: int | None = None
    v_dim: int | None = None
    window: int | None = None
    conv_kernel: int | None = None
    heads: int | None = None
    head_dim: int | None = None
    state: int | None = None
    groups: int | None = None


LLAMA_8B = Model()
GRANITE_4_H_1B = Model(
    attention="listed",
    weights_unknown="they are stated",
    cached_layers=(
        Listed("full", 4, kv_heads=4, k_dim=128, v_dim=128),
        Listed("mamba2", 36, conv_kernel=4, heads=48, head_dim=64, state=128, groups=1),
    ),
)
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
    max_position_embeddings=32768,
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
    max_position_embeddings=32768,
    qkv_bias=True,
    tie_word_embeddings=True,
)
QWEN3_8B = Model(
    num_hidden_layers=36,
    intermediate_size=12288,
    vocab_size=151936,
    max_position_embeddings=40960,
    qk_norm=True,
)
QWEN3_14B = Model(
    num_hidden_layers=40,
    num_attention_heads=40,
    hidden_size=5120,
    intermediate_size=17408,
    vocab_size=151936,
    max_position_embeddings=40960,
    qk_norm=True,
)
QWEN2_1B = Model(
    num_hidden_layers=28,
    num_attention_heads=12,
    num_key_value_heads=2,
    head_dim=128,
    hidden_size=1536,
    intermediate_size=8960,
    vocab_size=151936,
    max_position_embeddings=32768,
    qkv_bias=True,
    tie_word_embeddings=True,
)
QWEN2_14B = Model(
    num_hidden_layers=48,
    num_attention_heads=40,
    num_key_value_heads=8,
    head_dim=128,
    hidden_size=5120,
    intermediate_size=13824,
    vocab_size=152064,
    max_position_embeddings=32768,
    qkv_bias=True,
)
QWEN2_72B = Model(
    num_hidden_layers=80,
    num_attention_heads=64,
    num_key_value_heads=8,
    head_dim=128,
    hidden_size=8192,
    intermediate_size=29568,
    vocab_size=152064,
    max_position_embeddings=32768,
    qkv_bias=True,
)
QWEN3_30B = Model(
    num_hidden_layers=48,
    num_attention_heads=32,
    num_key_value_heads=4,
    head_dim=128,
    hidden_size=2048,
    intermediate_size=6144,
    vocab_size=151936,
    max_position_embeddings=40960,
    qk_norm=True,
    num_experts=128,
    moe_intermediate_size=768,
)
QWEN_MOE = Model(
    num_hidden_layers=24,
    num_attention_heads=16,
    num_key_value_heads=16,
    head_dim=128,
    hidden_size=2048,
    intermediate_size=5632,
    vocab_size=151936,
    max_position_embeddings=8192,
    qkv_bias=True,
    num_experts=60,
    moe_intermediate_size=1408,
    shared_expert_intermediate_size=5632,
    shared_expert_gate=True,
)
MIXTRAL = Model(
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    hidden_size=4096,
    intermediate_size=14336,
    vocab_size=32000,
    max_position_embeddings=32768,
    num_experts=8,
    moe_intermediate_size=14336,
)
PHI_2 = Model(
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=32,
    head_dim=80,
    hidden_size=2560,
    intermediate_size=10240,
    vocab_size=51200,
    max_position_embeddings=2048,
    qkv_bias=True,
    o_bias=True,
    mlp_bias=True,
    norm_bias=True,
    lm_head_bias=True,
    gated_mlp=False,
    norms_per_layer=1,
    partial_rotary_factor=Decimal("0.4"),
)
PHI_4 = Model(
    num_hidden_layers=40,
    num_attention_heads=40,
    num_key_value_heads=10,
    head_dim=128,
    hidden_size=5120,
    intermediate_size=17920,
    vocab_size=100352,
    max_position_embeddings=16384,
)
PHI_4_MINI = Model(
    num_hidden_layers=32,
    num_attention_heads=24,
    num_key_value_heads=8,
    head_dim=128,
    hidden_size=3072,
    intermediate_size=8192,
    vocab_size=200064,
    max_position_embeddings=131072,
    tie_word_embeddings=True,
    partial_rotary_factor=Decimal("0.75"),
    rope_scaling={"type": "longrope", "original_max_position_embeddings": 4096},
)
GRANITE_8B = Model(
    num_hidden_layers=40,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    hidden_size=4096,
    intermediate_size=12800,
    vocab_size=49155,
    max_position_embeddings=131072,
    tie_word_embeddings=True,
)
GEMMA_7B = Model(
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=16,
    head_dim=256,
    hidden_size=3072,
    intermediate_size=24576,
    vocab_size=256000,
    max_position_embeddings=8192,
    tie_word_embeddings=True,
)
GEMMA_2_27B = Model(
    num_hidden_layers=46,
    num_attention_heads=32,
    num_key_value_heads=16,
    head_dim=128,
    hidden_size=4608,
    intermediate_size=36864,
    vocab_size=256000,
    max_position_embeddings=8192,
    tie_word_embeddings=True,
    norms_per_layer=4,
)
GLM_4_9B = Model(
    num_hidden_layers=40,
    num_attention_heads=32,
    num_key_value_heads=2,
    head_dim=128,
    hidden_size=4096,
    intermediate_size=13696,
    vocab_size=151552,
    max_position_embeddings=131072,
    qkv_bias=True,
    partial_rotary_factor=Decimal("0.5"),
)
DEEPSEEK_LITE = Model(
    num_hidden_layers=27,
    num_attention_heads=16,
    num_key_value_heads=16,
    head_dim=128,
    hidden_size=2048,
    intermediate_size=10944,
    vocab_size=102400,
    max_position_embeddings=163840,
    attention="latent",
    kv_lora_rank=512,
    qk_rope_head_dim=64,
    qk_nope_head_dim=128,
    v_head_dim=128,
    num_experts=64,
    moe_intermediate_size=1408,
    shared_expert_intermediate_size=2816,
    first_k_dense_replace=1,
    rope_scaling={"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
)
