"""What is known of each model_type: the kinds of layers it can have, and what it leaves unsaid.

A family says which rules may apply; whether they do, and how, the file's facts say. A fact that
none of its rules reads is refused by the rule of `signs`. Source of all defaults: the
configuration classes of Transformers 4.57 and 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum


class Trait(Enum):
    """What a family can have beyond full attention in every layer."""

    LATENT = "a latent cache"
    INDEXER = "a sparse indexer"
    WINDOW = "a sliding window"
    CHUNKS = "attention in chunks"
    GLOBAL_HEADS = "other heads in layers with full attention"
    SHARED = "layers that share a cache"
    GATED_DELTA = "gated delta states"
    KIMI_DELTA = "Kimi delta attention"
    MAMBA2 = "Mamba-2 states"
    MAMBA1 = "Mamba states"
    CONVOLUTION = "short convolutions"
    BLOCKS = "blocks that differ"
    MULTI_QUERY = "multi-query attention by a switch"
    ATTENTION_LIST = "a list of kinds of attention"


STATES = (Trait.GATED_DELTA, Trait.KIMI_DELTA, Trait.MAMBA2, Trait.MAMBA1, Trait.CONVOLUTION)


class Window(Enum):
    """Where the layers slide, if layer_types does not say."""

    EVERYWHERE = "in all layers, wherever sliding_window is set"
    SWITCHED = "from layer max_window_layers on, where use_sliding_window is true"
    MIXED = "in all but every Nth layer"
    LISTED = "only where layer_types says so"


@dataclass(frozen=True, slots=True)
class Family:
    """One model_type.

    `traits` are the rules that may apply. `kv_heads_as_heads` says that missing KV heads are as
    many as heads; a missing head_dim is the hidden width over the heads, unless it is among
    `defaults`. `names` are the family's own names of fields.

    `every` is the N of Window.MIXED, which `every_from_last` counts back from the last layer;
    `last_is_full` holds whatever the file says. `attention` is False where no layer has any;
    `parallel` says that each layer has both attention and a state. `state_dtype` is what engines
    keep the state in where the file does not say, if not the model's dtype.
    """

    traits: frozenset[Trait] = frozenset()
    window: Window | None = None
    every: int | None = None
    every_from_last: bool = False
    last_is_full: bool = False
    kv_heads_as_heads: bool = False
    defaults: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    attention: bool = True
    parallel: bool = False
    state_dtype: str | None = None


def _plain(**defaults: int) -> Family:
    return Family(defaults=defaults)


def _multi_head(**names: str) -> Family:
    return Family(kv_heads_as_heads=True, names=names)


def _latent(*traits: Trait, **defaults: int) -> Family:
    return Family(traits=frozenset({Trait.LATENT, *traits}), defaults=defaults)


def _mixed(every: int, *traits: Trait, **defaults: int) -> Family:
    return Family(
        traits=frozenset({Trait.WINDOW, *traits}),
        window=Window.MIXED,
        every=every,
        defaults=defaults,
    )


def _window(window: Window, **defaults: int) -> Family:
    return Family(traits=frozenset({Trait.WINDOW}), window=window, defaults=defaults)


def _states(trait: Trait, **defaults: int) -> Family:
    return Family(traits=frozenset({trait}), defaults=defaults)


_GPT2 = _multi_head(num_hidden_layers="n_layer", num_attention_heads="n_head", hidden_size="n_embd")
_QWEN2 = _window(Window.SWITCHED, sliding_window=4096, max_window_layers=28)
_QWEN2_VL = _window(Window.SWITCHED, sliding_window=4096, max_window_layers=80)
_QWEN3 = Family(
    traits=frozenset({Trait.WINDOW}),
    window=Window.SWITCHED,
    defaults={"sliding_window": 4096, "max_window_layers": 28, "head_dim": 128},
)
_GATED = {
    "linear_num_value_heads": 32,
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4,
    "head_dim": 256,
}
_GEMMA3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262_208,
    "max_position_embeddings": 131_072,
}
_MAMBA = {"mamba_d_conv": 4, "mamba_expand": 2}

FAMILIES: dict[str, Family] = {
    # Full attention in every layer.
    "baichuan": _multi_head(),
    "bloom": _multi_head(num_hidden_layers="n_layer", num_attention_heads="n_head"),
    "chatglm": Family(
        names={
            "num_hidden_layers": "num_layers",
            "head_dim": "kv_channels",
            "num_key_value_heads": "multi_query_group_num",
        },
    ),
    "code_llama": _multi_head(),
    "cohere": _multi_head(),
    "deepseek": _multi_head(),
    "ernie4_5": _plain(head_dim=128),
    "ernie4_5_moe": _plain(),
    "falcon": Family(
        traits=frozenset({Trait.MULTI_QUERY}),
        kv_heads_as_heads=True,
        names={
            "num_key_value_heads": "num_kv_heads",
            "num_hidden_layers": "n_layer",
            "num_attention_heads": "n_head",
        },
    ),
    "gemma": _plain(head_dim=256),
    "glm": _plain(head_dim=128),
    "glm4": _plain(head_dim=128),
    "glm4_moe": _plain(),
    "glm4v_text": _plain(),
    "gpt2": _GPT2,
    "gpt_bigcode": Family(
        traits=frozenset({Trait.MULTI_QUERY}), kv_heads_as_heads=True, names=_GPT2.names
    ),
    "gpt_neox": _multi_head(),
    "gptj": _GPT2,
    "granite": _multi_head(),
    "granitemoe": _multi_head(),
    "hunyuan_v1_dense": _multi_head(),
    "internlm": _multi_head(),
    "internlm2": _plain(),
    "internlm3": _plain(head_dim=128),
    "llama": _multi_head(),
    "minimax_m2": Family(traits=frozenset({Trait.ATTENTION_LIST}), defaults={"head_dim": 128}),
    "nemotron": _multi_head(),
    "nemotron-nas": Family(traits=frozenset({Trait.BLOCKS})),
    "olmo": _multi_head(),
    "olmo2": _multi_head(),
    "olmoe": _multi_head(),
    "opt": _multi_head(),
    "phi": _multi_head(),
    "qwen": _multi_head(head_dim="kv_channels"),
    "qwen3_vl_text": _plain(head_dim=128),
    "qwen3_vl_moe_text": _plain(),
    "seed_oss": _plain(head_dim=128),
    "stablelm": _plain(),
    # One latent row for keys and values.
    "deepseek_v2": _latent(qk_nope_head_dim=128, v_head_dim=128),
    "deepseek_v3": _latent(qk_nope_head_dim=128, v_head_dim=128),
    "deepseek_v32": _latent(Trait.INDEXER),
    "glm4_moe_lite": _latent(),
    "glm_moe_dsa": _latent(Trait.INDEXER),
    "kimi_k2": _latent(),
    "mistral4": _latent(),
    # Windows and chunks.
    "afmoe": Family(
        traits=frozenset({Trait.WINDOW}),
        window=Window.MIXED,
        every=4,
        kv_heads_as_heads=True,
        names={"sliding_window_pattern": "global_attn_every_n_layers"},
        defaults={"sliding_window": 1024, "head_dim": 128},
    ),
    "cohere2": replace(_mixed(4, sliding_window=4096), kv_heads_as_heads=True),
    "exaone4": _mixed(4, sliding_window=4096),
    "gemma2": _mixed(2, sliding_window=4096, head_dim=256),
    "gemma3_text": _mixed(6, sliding_window=4096, **_GEMMA3),
    "gemma3n_text": _mixed(
        5, Trait.SHARED, sliding_window=512, num_kv_shared_layers=15, head_dim=256
    ),
    "gemma4_text": Family(
        traits=frozenset({Trait.WINDOW, Trait.GLOBAL_HEADS, Trait.SHARED}),
        window=Window.MIXED,
        every=6,
        last_is_full=True,
        defaults={"sliding_window": 512, "head_dim": 256, "global_head_dim": 512},
    ),
    "gpt_oss": _mixed(2, sliding_window=128, head_dim=64),
    "laguna": _window(Window.LISTED, head_dim=128),
    "llama4_text": Family(
        traits=frozenset({Trait.CHUNKS}),
        defaults={"attention_chunk_size": 8192, "no_rope_layer_interval": 4, "head_dim": 128},
    ),
    "ministral": _window(Window.EVERYWHERE, sliding_window=4096),
    "ministral3": _window(Window.EVERYWHERE, head_dim=128),
    "mistral": Family(
        traits=frozenset({Trait.WINDOW}),
        window=Window.EVERYWHERE,
        defaults={"sliding_window": 4096},
    ),
    "mixtral": _window(Window.EVERYWHERE),
    "muse_glimmer_text": Family(
        traits=frozenset({Trait.WINDOW}),
        window=Window.MIXED,
        every=4,
        every_from_last=True,
        defaults={"sliding_window": 2048, "head_dim": 128},
    ),
    "olmo3": replace(_mixed(4, sliding_window=4096), kv_heads_as_heads=True),
    "phi3": replace(_window(Window.EVERYWHERE), kv_heads_as_heads=True),
    "phimoe": _window(Window.EVERYWHERE),
    "qwen2": _QWEN2,
    "qwen2_5_vl": _QWEN2_VL,
    "qwen2_5_vl_text": _QWEN2_VL,
    "qwen2_moe": _window(Window.LISTED),
    "qwen2_vl": _QWEN2_VL,
    "qwen2_vl_text": _QWEN2_VL,
    "qwen3": _QWEN3,
    "qwen3_moe": _window(Window.LISTED),
    "smollm3": _window(Window.LISTED),
    "starcoder2": _window(Window.EVERYWHERE),
    # States, alone or beside attention.
    "bamba": _states(Trait.MAMBA2, mamba_n_groups=1, **_MAMBA),
    "falcon_h1": Family(
        traits=frozenset({Trait.MAMBA2}),
        parallel=True,
        defaults={"mamba_n_groups": 1, **_MAMBA},
    ),
    "falcon_mamba": Family(traits=frozenset({Trait.MAMBA1}), attention=False),
    "granitemoehybrid": Family(
        traits=frozenset({Trait.MAMBA2}),
        kv_heads_as_heads=True,
        defaults={"mamba_n_groups": 1, **_MAMBA},
    ),
    "jamba": _states(
        Trait.MAMBA1, attn_layer_period=8, attn_layer_offset=4, mamba_d_state=16, **_MAMBA
    ),
    "kimi_linear": _latent(Trait.KIMI_DELTA),
    "lfm2": _states(Trait.CONVOLUTION, conv_L_cache=3),
    "lfm2_moe": _states(Trait.CONVOLUTION, conv_L_cache=3),
    "mamba": Family(traits=frozenset({Trait.MAMBA1}), attention=False),
    "mamba2": Family(traits=frozenset({Trait.MAMBA2}), attention=False),
    "nemotron_h": replace(_states(Trait.MAMBA2, head_dim=128), state_dtype="float32"),
    "qwen3_5_moe_text": _states(Trait.GATED_DELTA, **_GATED),
    "qwen3_5_text": _states(Trait.GATED_DELTA, **_GATED),
    "qwen3_next": _states(Trait.GATED_DELTA, **_GATED),
}  # fmt: skip

# Models that read a text whole and write none of their own: nothing is kept between two steps.
ENCODERS = frozenset({
    "albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet",
    "nomic_bert", "roberta", "xlm-roberta",
})  # fmt: skip

# Whether the output head is the embedding where tie_word_embeddings is not said; PretrainedConfig
# itself ties. Families whose configuration class is not in Transformers 4.57.3 are in neither.
_TIED = frozenset({
    "bloom", "cohere", "cohere2", "ernie4_5", "ernie4_5_moe", "falcon", "falcon_mamba", "gemma",
    "gemma2", "gemma3_text", "gemma3n_text", "gpt2", "gpt_bigcode", "mamba", "opt",
    "smollm3", "starcoder2",
})  # fmt: skip
_UNTIED = frozenset({
    "bamba", "deepseek_v2", "deepseek_v3", "exaone4", "falcon_h1", "glm", "glm4", "glm4_moe",
    "glm4v_text", "gpt_neox", "gpt_oss", "gptj", "granite", "granitemoe", "granitemoehybrid",
    "hunyuan_v1_dense", "jamba", "llama", "llama4_text", "mamba2", "ministral", "mistral",
    "mixtral", "nemotron", "olmo", "olmo2", "olmo3", "olmoe", "phi", "phi3", "phimoe", "qwen2",
    "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_moe", "qwen3_next",
    "qwen3_vl_moe_text", "qwen3_vl_text", "seed_oss", "stablelm",
})  # fmt: skip


def tied_by_default(model_type: str) -> bool | None:
    """What tie_word_embeddings is where the file does not say, or None: not known."""
    if model_type in _TIED:
        return True
    return False if model_type in _UNTIED else None
