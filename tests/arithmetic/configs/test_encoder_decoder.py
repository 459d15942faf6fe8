"""Decoders that attend to an encoder: what each caches of its own tokens and of the encoder's."""

from __future__ import annotations

from typing import Any

import pytest

from upheld.arithmetic.configs import ConfigError, cached_layers, encoder_decoder_layers
from upheld.arithmetic.layouts.full import FullAttention

WHISPER = {
    "model_type": "whisper", "is_encoder_decoder": True, "d_model": 1280, "encoder_layers": 32,
    "encoder_attention_heads": 20, "decoder_layers": 4, "decoder_attention_heads": 20,
}  # fmt: skip
T5 = {
    "model_type": "t5", "is_encoder_decoder": True, "d_model": 512, "d_kv": 32, "num_heads": 6,
    "num_layers": 8,
}  # fmt: skip


def test_heads_divide_the_width_and_both_halves_are_alike() -> None:
    found = encoder_decoder_layers(WHISPER)
    assert found.decoder == found.cross == (FullAttention(4, 20, 64, 64),)
    assert found.assumed == ()


def test_t5_states_the_width_of_a_head_and_may_leave_out_its_decoder() -> None:
    found = encoder_decoder_layers(T5)
    assert found.decoder == (FullAttention(8, 6, 32, 32),)
    assert found.assumed == ("num_decoder_layers is num_layers: the file does not say",)
    deeper = encoder_decoder_layers({**T5, "num_decoder_layers": 2})
    assert (deeper.decoder[0].layers, deeper.assumed) == (2, ())


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**WHISPER, "model_type": "pegasus_x"}, "'pegasus_x' is not known"),
        ({**WHISPER, "model_type": ["t5"]}, "is not known"),
        ({**WHISPER, "decoder_layers": None}, "decoder_layers is missing"),
        ({**WHISPER, "decoder_layers": 10**8}, "decoder_layers is 100000000"),
        ({**WHISPER, "decoder_attention_heads": 7}, "d_model 1280 does not divide"),
        ({**T5, "d_kv": 0}, "d_kv is 0"),
    ],
)
def test_what_is_not_known_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        encoder_decoder_layers(config)


def test_an_engine_that_does_not_ask_for_the_encoder_gets_nothing() -> None:
    with pytest.raises(ConfigError, match="is_encoder_decoder is True"):
        cached_layers(WHISPER)
