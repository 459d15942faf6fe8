"""Keys of a GGUF file that change a cache, and that its architecture is not known to have."""

from __future__ import annotations

from upheld.arithmetic.gguf_architectures import GgufArchitecture, GgufState, StatesIn
from upheld.arithmetic.gguf_keys import GgufKeys, gguf_error
from upheld.records.shorten import shorten


def refuse_unread(keys: GgufKeys, known: GgufArchitecture) -> None:
    """Refuses a fact that no rule of the architecture reads.

    Raises:
        ConfigError: there is one.
    """
    signs = {
        "attention.kv_lora_rank": known.latent,
        "attention.indexer.": False,
        "attention.sliding_window": known.may_slide,
        "attention.shared_kv_layers": known.may_slide,
        "ssm.": known.state in (GgufState.MAMBA, GgufState.MAMBA2, GgufState.GATED_DELTA),
        "shortconv.": known.state is GgufState.CONVOLUTION,
        "full_attention_interval": known.states_in is StatesIn.BETWEEN,
        "wkv.": False,
    }
    unread = [keys.key(sign) for sign, read in signs.items() if not read]
    groups = tuple(sign for sign in unread if sign.endswith("."))
    for key, value in keys.header.keys.items():
        if (key in unread or key.startswith(groups)) and value not in (0, False):
            raise gguf_error(
                f"{shorten(key)} is not known of the architecture {keys.architecture}, and what "
                "is not known is never treated as plain attention"
            )
    if keys.get("attention.causal") is False:
        raise gguf_error(
            f"{keys.key('attention.causal')} is false: it does not generate one token after "
            "another",
            "give a decoder",
        )
