"""Writes a tiny GGUF model whose layers have 4, 2 and 0 KV heads, for llama_cpp_caches.py.

    python benchmarks/llama_cpp_uneven_model.py FOLDER/uneven.gguf

Its weights are zeros: it is made to be loaded, not to answer. It needs the package gguf.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from gguf import GGUFWriter

HEADS = (4, 4, 0)
KV_HEADS = (4, 2, 0)
HEAD_DIM, VOCABULARY, FEED_FORWARD = 64, 128, 384
HIDDEN = HEADS[0] * HEAD_DIM


def main() -> None:
    """Write the file."""
    writer = GGUFWriter(sys.argv[1], "deci")
    writer.add_context_length(256)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(len(HEADS))
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(list(HEADS))
    writer.add_head_count_kv(list(KV_HEADS))
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("test")
    writer.add_token_list([f"tok_{number}" for number in range(VOCABULARY)])
    writer.add_token_scores([0.0] * VOCABULARY)
    for name, shape in _tensors():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "token_embd.weight", (VOCABULARY, HIDDEN)
    yield "output_norm.weight", (HIDDEN,)
    for layer, (heads, kv_heads) in enumerate(zip(HEADS, KV_HEADS, strict=True)):
        if kv_heads:
            yield f"blk.{layer}.attn_norm.weight", (HIDDEN,)
            yield f"blk.{layer}.attn_q.weight", (heads * HEAD_DIM, HIDDEN)
            yield f"blk.{layer}.attn_k.weight", (kv_heads * HEAD_DIM, HIDDEN)
            yield f"blk.{layer}.attn_v.weight", (kv_heads * HEAD_DIM, HIDDEN)
            yield f"blk.{layer}.attn_output.weight", (HIDDEN, heads * HEAD_DIM)
        yield f"blk.{layer}.ffn_norm.weight", (HIDDEN,)
        yield f"blk.{layer}.ffn_gate.weight", (FEED_FORWARD, HIDDEN)
        yield f"blk.{layer}.ffn_up.weight", (FEED_FORWARD, HIDDEN)
        yield f"blk.{layer}.ffn_down.weight", (HIDDEN, FEED_FORWARD)


if __name__ == "__main__":
    main()
