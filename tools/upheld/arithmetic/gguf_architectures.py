"""What is known of each general.architecture of a GGUF file that the file itself does not say.

Sources: llama.cpp, build b11434: src/models/*.cpp (load_arch_hparams), src/llama-model.cpp
(load_hparams, create_memory) and src/llama-hparams.cpp (set_swa_pattern). A period of N there means
that the last of each N layers has full attention, or the first where `full_comes_first`.

Left out, and so refused: RWKV; an indexer of compressed keys, beside keys and values or a window,
or that a file may lack (deepseek4, dots3note, glm5-next, hy_v4, minimax-m3, qwen4exp); linear
attention (minimax-01); layers that are run more than once (nanbeige, hrm_text) or that llama.cpp
adds (graniteswitch); and what is no decoder of text, or only drafts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum


class GgufState(Enum):
    """The state of layers without attention, in the terms of arithmetic/layouts/state.py."""

    MAMBA = "mamba"
    MAMBA2 = "mamba2"
    GATED_DELTA = "gated_delta_net"
    KIMI_DELTA = "kimi_delta_attention"
    CONVOLUTION = "short_convolution"


class StatesIn(Enum):
    """Which layers keep a state."""

    ALL = "all, and none has attention"
    BESIDE_ATTENTION = "all, beside their attention"
    WITHOUT_HEADS = "those whose head_count_kv is 0"
    BETWEEN = "all but every Nth"


class IndexerIn(Enum):
    """Which layers have a sparse indexer of their own, and cache its keys."""

    ALL = "all"
    LISTED = "those of attention.indexer.types"


@dataclass(frozen=True, slots=True)
class GgufArchitecture:
    """One architecture.

    `period` says which layers slide where the file has no pattern: all but every Nth, or all that
    attend where `every_layer_slides`; `pattern_in_file` that the file must have one. `window` is
    the window where the file has none, and `window_unused` says that no layer slides although the
    file has one. `slides_with_layers` is how many layers a model has whose layers slide. `chunked`
    layers attend in chunks instead. `layers_with_own_cache` is how many layers, from the first,
    cache keys and values. `latent` is attention to a latent row, and `indexer` says which of these
    layers cache an indexer's key as well. `state_period` is the N of StatesIn.BETWEEN.
    `feed_forward_layers` says that a layer without KV heads may have no state either,
    `one_part_a_layer` that a layer with a feed-forward network has neither attention nor state.
    """

    period: int | None = None
    full_comes_first: bool = False
    pattern_in_file: bool = False
    every_layer_slides: bool = False
    window_unused: bool = False
    window: int | None = None
    chunked: bool = False
    layers_with_own_cache: int | None = None
    slides_with_layers: int | None = None
    latent: bool = False
    indexer: IndexerIn | None = None
    state: GgufState | None = None
    states_in: StatesIn | None = None
    state_period: int | None = None
    feed_forward_layers: bool = False
    one_part_a_layer: bool = False

    @property
    def may_slide(self) -> bool:
        """Whether a window is known of it."""
        return self.period is not None or self.pattern_in_file or self.every_layer_slides


_PLAIN = GgufArchitecture()
_LATENT = GgufArchitecture(latent=True)
_WINDOW_UNUSED = GgufArchitecture(window_unused=True)
_PATTERN = GgufArchitecture(pattern_in_file=True)
_DELTA = GgufArchitecture(state=GgufState.GATED_DELTA, states_in=StatesIn.BETWEEN, state_period=4)
_LATENT_AND_DELTA = GgufArchitecture(
    latent=True, state=GgufState.KIMI_DELTA, states_in=StatesIn.WITHOUT_HEADS
)
_ONE_PART = GgufArchitecture(
    state=GgufState.MAMBA2, states_in=StatesIn.WITHOUT_HEADS, one_part_a_layer=True
)
_CONVOLUTION = GgufArchitecture(state=GgufState.CONVOLUTION, states_in=StatesIn.WITHOUT_HEADS)

ARCHITECTURES: Mapping[str, GgufArchitecture] = {
    **dict.fromkeys((
        "apertus", "arcee", "arctic", "baichuan", "bailingmoe", "bailingmoe2", "bitnet", "bloom",
        "chameleon", "chatglm", "codeshell", "cogvlm", "command-r", "dbrx", "deepseek", "dots1",
        "ernie4_5", "ernie4_5-moe", "exaone", "falcon", "gemma", "glm4", "glm4moe", "gpt2",
        "gptneox", "granite", "granitemoe", "grok", "grovemoe", "hunyuan-dense", "hunyuan-moe",
        "hunyuan_vl", "hy_v3", "internlm2", "jais", "jais2", "llama", "maincoder", "minicpm",
        "minimax-m2", "mistral3", "mpt", "nemotron", "olmo", "olmoe", "openelm", "orion",
        "paddleocr", "pangu-embedded", "phi2", "phimoe", "plamo", "qwen", "qwen2", "qwen2moe",
        "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "refact", "seed_oss", "smollm3",
        "stablelm", "starcoder", "starcoder2", "talkie", "xverse",
    ), _PLAIN),
    # Layers whose head_count_kv is 0 have no attention, and nothing in its place.
    "deci": GgufArchitecture(feed_forward_layers=True),
    "deepseek2": _LATENT,
    "deepseek2-ocr": _WINDOW_UNUSED,
    "deepseek32": replace(_LATENT, indexer=IndexerIn.ALL),
    "glm-dsa": replace(_LATENT, indexer=IndexerIn.LISTED),
    "minicpm3": _LATENT,
    "mistral4": _LATENT,
    "plm": _LATENT,
    "afmoe": GgufArchitecture(period=4),
    "cohere2": GgufArchitecture(period=4),
    "cohere2moe": GgufArchitecture(period=4, full_comes_first=True),
    "exaone-moe": GgufArchitecture(period=4, window=128),
    "exaone4": GgufArchitecture(period=4, window=4096, slides_with_layers=64),
    "gemma2": GgufArchitecture(period=2, window=4096),
    "gemma3": GgufArchitecture(period=6),
    "gemma3n": GgufArchitecture(period=5, layers_with_own_cache=20),
    "gemma4": _PATTERN,
    "gpt-oss": GgufArchitecture(period=2),
    "granite_swa": _PATTERN,
    "laguna": GgufArchitecture(period=4, full_comes_first=True),
    "llama4": GgufArchitecture(period=4, window=8192, chunked=True),
    "maple": _PATTERN,
    "mellum": GgufArchitecture(period=4),
    "mimo2": _PATTERN,
    "muse-glimmer": GgufArchitecture(period=4),
    "olmo2": GgufArchitecture(period=4),
    "phi3": _WINDOW_UNUSED,
    "plamo3": GgufArchitecture(period=8),
    "smallthinker": GgufArchitecture(period=4, full_comes_first=True),
    "spark2_5": _PATTERN,
    "step35": _PATTERN,
    "bailingmoe3": _LATENT_AND_DELTA,
    "falcon-h1": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.BESIDE_ATTENTION),
    "granitehybrid": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.WITHOUT_HEADS),
    "jamba": GgufArchitecture(state=GgufState.MAMBA, states_in=StatesIn.WITHOUT_HEADS),
    "kimi-k3": _LATENT_AND_DELTA,
    "kimi-linear": _LATENT_AND_DELTA,
    "lfm2": replace(_CONVOLUTION, every_layer_slides=True),
    "lfm2moe": _CONVOLUTION,
    "mamba": GgufArchitecture(state=GgufState.MAMBA, states_in=StatesIn.ALL),
    "mamba2": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.ALL),
    "nemotron_h": _ONE_PART,
    "nemotron_h_moe": _ONE_PART,
    "plamo2": GgufArchitecture(state=GgufState.MAMBA, states_in=StatesIn.WITHOUT_HEADS),
    "qwen35": _DELTA,
    "qwen35moe": _DELTA,
    "qwen3next": _DELTA,
}  # fmt: skip
