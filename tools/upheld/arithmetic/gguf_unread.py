"""Keys of a GGUF file that change a cache, and that its architecture is not known to have."""

from __future__ import annotations

from upheld.arithmetic.gguf_architectures import GgufArchitecture, GgufState, StatesIn
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error

_STATE_SPACES = (GgufState.MAMBA, GgufState.MAMBA2, GgufState.GATED_DELTA)


def refuse_unread(keys: GgufKeys, known: GgufArchitecture) -> None:
    """Refuses a fact that no rule of the architecture reads.

    Raises:
        ConfigError: there is one.
    """
    signs = {
        "attention.kv_lora_rank": known.latent,
        # llama.cpp's own files have all keys of an indexer; without this one there is none.
        "attention.indexer.key_length": known.indexer is not None,
        "attention.compress_ratios": False,
        "attention.sliding_window": known.may_slide or known.window_unused,
        "attention.shared_kv_layers": known.may_slide,
        "attention.recurrent_layers": known.state is not None,
        "ssm.inner_size": known.state in _STATE_SPACES,
        "kda.head_dim": known.state is GgufState.KIMI_DELTA,
        "shortconv.l_cache": known.state is GgufState.CONVOLUTION,
        "full_attention_interval": known.states_in is StatesIn.BETWEEN,
        "wkv.head_size": False,
    }
    for suffix, read in signs.items():
        if not read and keys.says(suffix):
            raise gguf_error(
                f"{keys.key(suffix)} is not known of the architecture {keys.architecture}, and "
                "what is not known is never treated as plain attention"
            )
    if keys.get("attention.causal") is False:
        raise gguf_error(
            f"{keys.key('attention.causal')} is false: it does not generate one token after "
            "another",
            "give a decoder",
        )
