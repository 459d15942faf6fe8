"""What is known of each general.architecture of a GGUF file that the file itself does not say.

Sources: llama.cpp's src/llama-model.cpp (load_hparams, read at 00342301d01a) and
src/llama-hparams.cpp (set_swa_pattern). A period of N there means that the last of each N layers
has full attention, or the first where `full_comes_first`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class GgufState(Enum):
    """The state of layers without attention, in the terms of arithmetic/layouts/state.py."""

    MAMBA = "mamba"
    MAMBA2 = "mamba2"
    GATED_DELTA = "gated_delta_net"
    CONVOLUTION = "short_convolution"


class StatesIn(Enum):
    """Which layers keep a state."""

    ALL = "all, and none has attention"
    BESIDE_ATTENTION = "all, beside their attention"
    WITHOUT_HEADS = "those whose head_count_kv is 0"
    BETWEEN = "all but every Nth"


@dataclass(frozen=True, slots=True)
class GgufArchitecture:
    """One architecture.

    `period` says which layers slide where the file has no pattern: all but every Nth, all with 1
    where `every_layer_slides`; `window` is the window where the file has none. `chunked` layers
    attend in chunks instead. `layers_with_own_cache` is how many layers, from the first, cache
    keys and values. `state_period` is the N of StatesIn.BETWEEN. `feed_forward_layers` says that
    a layer may have neither attention nor state.
    """

    period: int | None = None
    full_comes_first: bool = False
    every_layer_slides: bool = False
    window: int | None = None
    chunked: bool = False
    layers_with_own_cache: int | None = None
    latent: bool = False
    state: GgufState | None = None
    states_in: StatesIn | None = None
    state_period: int | None = None
    feed_forward_layers: bool = False

    @property
    def may_slide(self) -> bool:
        """Whether a window is known of it."""
        return self.period is not None or self.every_layer_slides


_PLAIN = GgufArchitecture()
_DELTA = GgufArchitecture(state=GgufState.GATED_DELTA, states_in=StatesIn.BETWEEN, state_period=4)
_CONVOLUTION = GgufArchitecture(state=GgufState.CONVOLUTION, states_in=StatesIn.WITHOUT_HEADS)

ARCHITECTURES: Mapping[str, GgufArchitecture] = {
    **dict.fromkeys((
        "apertus", "arcee", "arctic", "baichuan", "bailingmoe", "bailingmoe2", "bloom", "chatglm",
        "codeshell", "command-r", "dbrx", "deepseek", "dots1", "ernie4_5", "ernie4_5-moe",
        "exaone", "falcon", "gemma", "glm4", "glm4moe", "gpt2", "gptneox", "granite", "granitemoe",
        "grovemoe", "hunyuan-dense", "hunyuan-moe", "internlm2", "jais", "llama", "minicpm",
        "nemotron", "olmo", "olmoe", "openelm", "orion", "phi2", "phimoe", "plamo", "qwen",
        "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "refact",
        "seed_oss", "smollm3", "stablelm", "starcoder", "starcoder2", "xverse",
    ), _PLAIN),
    # Layers whose head_count_kv is 0 have no attention, and nothing in its place.
    "deci": GgufArchitecture(feed_forward_layers=True),
    "deepseek2": GgufArchitecture(latent=True),
    "cohere2": GgufArchitecture(period=4),
    "exaone4": GgufArchitecture(period=4),
    "gemma2": GgufArchitecture(period=2, window=4096),
    "gemma3": GgufArchitecture(period=6),
    "gemma3n": GgufArchitecture(period=5, layers_with_own_cache=20),
    "gpt-oss": GgufArchitecture(period=2),
    "llama4": GgufArchitecture(period=4, window=8192, chunked=True),
    "olmo2": GgufArchitecture(period=4),
    # llama.cpp leaves its window out; the model slides in every layer (Transformers' Phi3Config).
    "phi3": GgufArchitecture(every_layer_slides=True),
    "smallthinker": GgufArchitecture(period=4, full_comes_first=True),
    "falcon-h1": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.BESIDE_ATTENTION),
    "granitehybrid": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.WITHOUT_HEADS),
    "jamba": GgufArchitecture(state=GgufState.MAMBA, states_in=StatesIn.WITHOUT_HEADS),
    "lfm2": _CONVOLUTION,
    "lfm2moe": _CONVOLUTION,
    "mamba": GgufArchitecture(state=GgufState.MAMBA, states_in=StatesIn.ALL),
    "mamba2": GgufArchitecture(state=GgufState.MAMBA2, states_in=StatesIn.ALL),
    "nemotron_h": GgufArchitecture(
        state=GgufState.MAMBA2, states_in=StatesIn.WITHOUT_HEADS, feed_forward_layers=True
    ),
    "qwen3next": _DELTA,
}  # fmt: skip
