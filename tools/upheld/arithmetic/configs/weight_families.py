"""What is known of the weights of each model_type: what its code has, and what its file leaves out.

Sources: vLLM's model code, read in 0.19.0, for what is implied and for what switches change; the
configuration classes of Transformers 4.57.3 for defaults. A model_type that is not here has tensors
that are not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class WeightFamily:
    """One model_type, in the words of weights.structure.Structure.

    `implied` holds whatever the file says. `switches` are the file's flags and the facts that each
    turns on. `defaults` are counts that Transformers takes where the file does not say, beside
    those that `families.FAMILIES` has for the cache; `partial_rotary_factor` likewise.
    `names` are the family's own names of fields. Where `global_rotary_every` is N, layers that
    slide have a rotary table of their own, and all but every Nth slide unless
    sliding_window_pattern says otherwise. `gated_delta` says that layers between those with full
    attention are gated delta nets. `experts` says that layers may have experts,
    `experts_are_whole_layers` that an expert is as wide as intermediate_size.
    """

    implied: Mapping[str, Any] = field(default_factory=dict)
    switches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    global_rotary_every: int = 0
    partial_rotary_factor: str | None = None
    gated_delta: bool = False
    experts: bool = False
    experts_are_whole_layers: bool = False


_ATTENTION_AND_MLP = {"attention_bias": ("qkv_bias", "o_bias"), "mlp_bias": ("mlp_bias",)}
_QKV = {"attention_bias": ("qkv_bias",)}
_WHOLE = {"attention_bias": ("qkv_bias", "o_bias")}
_LLAMA = WeightFamily(switches=_ATTENTION_AND_MLP, defaults={"max_position_embeddings": 2048})
_MISTRAL = WeightFamily(
    switches=_ATTENTION_AND_MLP,
    defaults={"num_key_value_heads": 8, "max_position_embeddings": 131072},
)
_GEMMA = WeightFamily(
    defaults={
        "vocab_size": 256000,
        "max_position_embeddings": 8192,
        "intermediate_size": 24576,
        "num_key_value_heads": 16,
    },
)
_QWEN2 = WeightFamily(
    implied={"qkv_bias": True},
    defaults={"num_key_value_heads": 32, "max_position_embeddings": 32768},
)
_QWEN3 = WeightFamily(
    implied={"qk_norm": True},
    switches=_QKV,
    defaults={"num_key_value_heads": 32, "max_position_embeddings": 32768},
)
_DEEPSEEK = WeightFamily(
    implied={"attention": "latent"},
    defaults={"first_k_dense_replace": 0, "max_position_embeddings": 2048},
    experts=True,
)

WEIGHT_FAMILIES: dict[str, WeightFamily] = {
    "chatglm": WeightFamily(
        switches={"add_qkv_bias": ("qkv_bias",)},
        names={
            "max_position_embeddings": "seq_length",
            "intermediate_size": "ffn_hidden_size",
            "vocab_size": "padded_vocab_size",
        },
        partial_rotary_factor="0.5",
    ),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": replace(
        _DEEPSEEK, defaults={"first_k_dense_replace": 3, "max_position_embeddings": 4096}
    ),
    "gemma": _GEMMA,
    "gemma2": replace(
        _GEMMA,
        implied={"norms_per_layer": 4},
        switches=_WHOLE,
        defaults={"vocab_size": 256000, "max_position_embeddings": 8192, "num_key_value_heads": 4},
    ),
    "gemma3_text": replace(
        _GEMMA,
        implied={"norms_per_layer": 4, "qk_norm": True},
        switches=_WHOLE,
        defaults={"vocab_size": 262208, "max_position_embeddings": 131072},
        global_rotary_every=6,
    ),
    "granite": _LLAMA,
    "kimi_k2": _DEEPSEEK,
    "llama": _LLAMA,
    "mistral": _MISTRAL,
    "mixtral": replace(_MISTRAL, switches={}, experts=True, experts_are_whole_layers=True),
    "phi": WeightFamily(
        implied={
            "qkv_bias": True,
            "o_bias": True,
            "mlp_bias": True,
            "norm_bias": True,
            "lm_head_bias": True,
            "gated_mlp": False,
            "norms_per_layer": 1,
        },
        defaults={"max_position_embeddings": 2048},
        partial_rotary_factor="0.5",
    ),
    "phi3": WeightFamily(
        switches=_ATTENTION_AND_MLP, defaults={"max_position_embeddings": 4096}
    ),
    "qwen2": _QWEN2,
    "qwen2_moe": replace(
        _QWEN2,
        implied={"qkv_bias": True, "shared_expert_gate": True},
        defaults={
            "num_key_value_heads": 16,
            "max_position_embeddings": 32768,
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
        },
        experts=True,
    ),
    "qwen3": _QWEN3,
    "qwen3_next": replace(
        _QWEN3,
        implied={"qk_norm": True, "attention_gate": True, "shared_expert_gate": True},
        defaults={
            "num_key_value_heads": 2,
            "max_position_embeddings": 32768,
            "moe_intermediate_size": 512,
            "shared_expert_intermediate_size": 512,
        },
        partial_rotary_factor="0.25",
        experts=True,
        gated_delta=True,
    ),
    "qwen3_moe": replace(
        _QWEN3,
        defaults={
            "num_key_value_heads": 4,
            "max_position_embeddings": 32768,
            "moe_intermediate_size": 768,
        },
        experts=True,
    ),
}  # fmt: skip
