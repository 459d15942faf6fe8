"""vLLM V1: how layers share pages of one size, and what the start-up lines then say.

Sources: vllm/v1/core/kv_cache_utils.py (get_kv_cache_config_from_groups,
_get_kv_cache_groups_uniform_page_size, _report_kv_cache_config,
get_max_concurrency_for_kv_cache_config), vllm/v1/kv_cache_interface.py,
vllm/model_executor/models/config.py (attention/state alignment); read in 0.8.5, 0.11.0, 0.19.0, and
what changed since in 0.20.0 to 0.31.0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.full import FullAttention, blocks_of
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.shorten import shorten

DEFAULT_VERSION = (0, 19)
# `vllm serve` on a device of at least 70 GiB, and on a smaller one (arg_utils.py). An A100 has the
# smaller default whatever its memory is, by its name, which is not known here.
DEFAULT_BATCHED_TOKENS = 8192
DEFAULT_BATCHED_TOKENS_OF_A_SMALL_DEVICE = 2048
LARGE_DEVICE = 70 * 2**30
DEFAULT_BATCHED_TOKENS_OF_A_LARGEST_DEVICE = 16384
LARGEST_DEVICE = 160 * 2**30
LARGEST_DEVICE_SINCE = (0, 28)

# Before the hybrid cache manager every layer was sized as full attention.
HYBRID_SINCE = (0, 10)
# Layers of full attention that differ in width alone are one group, with the sum of their pages.
UNIFORM_TYPE_SINCE = (0, 11)
# A group size of the largest count, where that is less than 1.5 times the smallest.
LARGEST_GROUP_SINCE = (0, 12)
# From here on the printed tokens are derived from the concurrency.
TOKENS_FROM_CONCURRENCY_SINCE = (0, 20, 1)
# From here on a window is kept beside all batches in flight (VllmConfig.max_in_flight_tokens).
BATCHES_IN_FLIGHT_SINCE = (0, 26)

STATE_ALIGNMENT = 16
LATENT_STATE_ALIGNMENT = 64
# From here on a multiple of the block that was asked for, and beside a latent of 128 tokens.
ALIGNMENT_TO_BLOCK_SINCE = (0, 20)
WIDE_LATENT_STATE_ALIGNMENT_SINCE = (0, 28)
WIDE_LATENT_STATE_ALIGNMENT = 128


@dataclass(frozen=True, slots=True)
class Settings:
    """What vLLM was started with. Names are its own arguments'.

    `state_mode` is how states are cached: `none`, `align` (with prefix caching) or `all`.
    `state_element` is the state's bytes an element, where the config or a hook names them;
    `draft_tokens` are those of speculative decoding. `batches_in_flight` are two where scheduling
    is asynchronous, which is the default. `kernel_block` is the smallest block of the attention
    back end's kernel, in tokens, where it is not the usual one. `packs_sparse_latents` says whether
    fp8 latents of sparse attention are kept with their scales (fp8_ds_mla), as FlashMLA asks; other
    back ends keep them plain.
    """

    kv_cache_dtype: CacheDtype
    version: tuple[int, ...] = DEFAULT_VERSION
    block_size: int = 16
    tensor_parallel_size: int = 1
    decode_context_parallel_size: int = 1
    max_num_batched_tokens: int = DEFAULT_BATCHED_TOKENS
    conv_element: Fraction = Fraction(2)
    state_element: Fraction = Fraction(2)
    state_mode: str = "none"
    draft_tokens: int = 0
    batches_in_flight: int = 2
    kernel_block: int | None = None
    packs_sparse_latents: bool = True

    @property
    def tokens_in_flight(self) -> int:
        """Tokens that may be scheduled while what is outside a window is not yet given back."""
        batches = self.batches_in_flight if self.version >= BATCHES_IN_FLIGHT_SINCE else 1
        return batches * self.max_num_batched_tokens


@dataclass(frozen=True, slots=True)
class Group:
    """Layers of one kind that take blocks together; `layers` counts the padding too."""

    layout: Layers
    layers: int
    block_size: int

    def blocks_for(self, tokens: int, settings: Settings) -> int:
        """Blocks that one sequence of `tokens` takes at most."""
        layout = self.layout
        if isinstance(layout, StateLayers):
            if settings.state_mode == "all":
                return blocks_of(tokens, self.block_size)
            spare = 1 if settings.state_mode == "align" else 0
            return 1 + spare + settings.draft_tokens
        held = layout.tokens_held(tokens, settings.tokens_in_flight)
        # A window that slides does not begin where a block does.
        unaligned = 1 if isinstance(layout, SlidingAttention) else 0
        return blocks_of(held, self.block_size * settings.decode_context_parallel_size) + unaligned


@dataclass(frozen=True)
class Pool:
    """The cache of one rank: pages of one size, in blocks that a group of layers takes at once."""

    settings: Settings
    page_bytes: int
    group_size: int
    groups: tuple[Group, ...]
    attention_block_size: int
    state_bytes: int

    @cached_property
    def smallest_block(self) -> int:
        """The smallest block of attention, in tokens; as set, where no layer attends."""
        attention = [each for each in self.groups if not isinstance(each.layout, StateLayers)]
        return min((each.block_size for each in attention), default=self.attention_block_size)

    def block_tokens(self, max_model_len: int | None) -> int:
        """The block size that the printed token count is in.

        Without attention a block is all that one sequence keeps, so it is of `max_model_len`
        tokens (MambaModelConfig sets mamba_block_size so), unless prefixes are cached.

        Raises:
            ShapeError: there is no attention, and no length.
        """
        attends = any(not isinstance(each.layout, StateLayers) for each in self.groups)
        if attends or self.settings.state_mode != "none":
            return self.smallest_block
        if max_model_len is None:
            raise ShapeError("max_model_len", "is the block of a model without attention")
        return max_model_len

    @property
    def padding_layers(self) -> int:
        """Layers that are added so that all groups are of one size."""
        by_kind: dict[Layers, int] = {}
        for group in self.groups:
            by_kind[group.layout] = by_kind.get(group.layout, 0) + group.layers
        return sum(count - layout.layers for layout, count in by_kind.items())

    @property
    def state_padding(self) -> Fraction | None:
        """What a state is padded by to fill a page, as a share of the state; None without one."""
        if not self.state_bytes:
            return None
        return Fraction(self.page_bytes - self.state_bytes, self.state_bytes)

    @property
    def tokens_from_concurrency(self) -> bool:
        """Whether the version derives the tokens that it prints from the concurrency."""
        return self.settings.version >= TOKENS_FROM_CONCURRENCY_SINCE

    def blocks(self, available: int) -> int:
        """`num_gpu_blocks` from the bytes that are available for the cache."""
        return max(0, available // self.page_bytes // self.group_size)

    def blocks_for(self, tokens: int) -> int:
        """Blocks that one sequence of `tokens` takes, over all groups."""
        return sum(group.blocks_for(tokens, self.settings) for group in self.groups)

    def concurrency(self, blocks: int, max_model_len: int) -> Fraction:
        """`Maximum concurrency`: sequences of full length that the blocks hold."""
        return Fraction(blocks, self.blocks_for(max_model_len))

    def tokens(self, blocks: int, max_model_len: int | None = None) -> int:
        """`GPU KV cache size`, in tokens, as the version prints it."""
        if self.tokens_from_concurrency and max_model_len:
            # Floating point, as vLLM has it: 7676 / 6250 × 400,000 prints as 491,263.
            return int(blocks / self.blocks_for(max_model_len) * max_model_len)
        copies = self.settings.decode_context_parallel_size
        return blocks // len(self.groups) * self.block_tokens(max_model_len) * copies

    def needed(self, tokens: int) -> int:
        """Bytes that one sequence of `tokens` needs, which a refusal to start prints."""
        return self.group_size * self.page_bytes * self.blocks_for(tokens)

    def longest(self, available: int, limit: int) -> int:
        """The longest sequence, up to `limit`, that the available bytes hold."""
        return bisect_right(range(1, limit + 1), available, key=self.needed)


def pool(layers: Sequence[Layers], settings: Settings) -> Pool:
    """How vLLM lays these layers out.

    Raises:
        ShapeError: no layer has a cache, or pages that can't be made equal.
    """
    kept = [each for each in layers if each.layers]
    if not kept:
        raise ShapeError("layers", "no layer has a cache")
    only_states = [each for each in kept if isinstance(each, StateLayers)]
    if len(only_states) == len(kept):
        return _of_states(only_states, settings)
    if settings.version < HYBRID_SINCE:
        kept = all_full(kept)
    if settings.version >= UNIFORM_TYPE_SINCE and len(kept) > 1 and _all_attend_to_all(kept):
        return _of_one_type(kept, settings)
    per_token = {each: token_bytes(each, settings) for each in kept if _is_token(each)}
    largest = max(per_token.values())
    states = [_state_bytes(each, settings) for each in kept if isinstance(each, StateLayers)]
    block = settings.block_size
    if states:
        latent = any(isinstance(each, LatentAttention) for each in kept)
        aligned = _state_alignment(settings, latent=latent)
        block = max(block, aligned * ceil(Fraction(max(states), 1) / (aligned * largest)))
    page = int(block * largest)
    size = _group_size([each.layers for each in kept], settings.version)
    groups = []
    for each in kept:
        group_block = block
        if each in per_token:
            if page % per_token[each]:
                raise ShapeError("layers", "pages of the layers can't be made equal")
            group_block = int(page / per_token[each])
        groups += [Group(each, size, group_block)] * ceil(each.layers / size)
    return Pool(settings, page, size, tuple(groups), block, max(states, default=0))


def _state_alignment(settings: Settings, *, latent: bool) -> int:
    """What the attention block is a multiple of, beside layers with a state."""
    aligned = settings.kernel_block or (LATENT_STATE_ALIGNMENT if latent else STATE_ALIGNMENT)
    if latent and settings.version >= WIDE_LATENT_STATE_ALIGNMENT_SINCE:
        aligned = max(aligned, WIDE_LATENT_STATE_ALIGNMENT)
    if settings.version >= ALIGNMENT_TO_BLOCK_SINCE:
        aligned = max(aligned, settings.block_size)
    return aligned


def _all_attend_to_all(layers: Sequence[Layers]) -> bool:
    return all(type(each) in (FullAttention, LatentAttention) for each in layers)


def _of_one_type(layers: Sequence[Layers], settings: Settings) -> Pool:
    """UniformTypeKVCacheSpecs: one block is a page of each layer, however wide."""
    block = settings.block_size
    token = sum(each.layers * token_bytes(each, settings) for each in layers)
    return Pool(
        settings, int(block * token), 1, (Group(layers[0], layers[0].layers, block),), block, 0
    )


def _of_states(layers: Sequence[StateLayers], settings: Settings) -> Pool:
    """MambaSpec alone: one block is a state of each layer, whatever the length of a sequence is."""
    if settings.version < HYBRID_SINCE:
        raise ShapeError(
            "engine_version", "before 0.10 the states of a model without attention are kept apart"
        )
    if len(layers) > 1:
        raise ShapeError("layers", "pages of states of several shapes can't be made equal")
    (alike,) = layers
    page, block = _state_bytes(alike, settings), settings.block_size
    return Pool(settings, page, alike.layers, (Group(alike, alike.layers, block),), block, page)


def version_of(text: str | None) -> tuple[int, ...]:
    """The numbers of a version such as `v0.19.2rc1`; the default where none is stated.

    Raises:
        ShapeError: a version without two numbers, for which no behaviour is known.
    """
    if text is None:
        return DEFAULT_VERSION
    match = re.match(r"v?(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)", text)
    if match is None:
        raise ShapeError("engine_version", f"{shorten(text)!r} does not begin as 0.19 does")
    return tuple(map(int, match[1].split(".")))


def default_batched_tokens(memory: Fraction, version: tuple[int, ...] = DEFAULT_VERSION) -> int:
    """`max_num_batched_tokens` of `vllm serve` where nobody states it, by the device's bytes."""
    if memory >= LARGEST_DEVICE and version >= LARGEST_DEVICE_SINCE:
        return DEFAULT_BATCHED_TOKENS_OF_A_LARGEST_DEVICE
    large = memory >= LARGE_DEVICE
    return DEFAULT_BATCHED_TOKENS if large else DEFAULT_BATCHED_TOKENS_OF_A_SMALL_DEVICE


def stages(layers: Sequence[Layers], sizes: Sequence[int]) -> list[list[Layers]]:
    """The layers of each pipeline stage, for layers of one kind in stages of `sizes`.

    Raises:
        ShapeError: layers of several kinds, whose order would have to be known.
    """
    if len(layers) != 1:
        raise ShapeError("pipeline_parallel_size", "the order of layers of several kinds")
    return [[replace(layers[0], layers=size)] for size in sizes]


def stage_sizes(layers: int, pipeline_parallel_size: int) -> list[int]:
    """Layers of each pipeline stage; what is left over goes to the middle ones, from the back.

    Source: vllm/distributed/utils.py, get_pp_indices.
    """
    sizes = [layers // pipeline_parallel_size] * pipeline_parallel_size
    for index in range(2, layers % pipeline_parallel_size + 2):
        sizes[-index] += 1
    return sizes


def _is_token(layers: Layers) -> bool:
    return not isinstance(layers, StateLayers)


def token_bytes(layers: Layers, settings: Settings) -> Fraction:
    """Bytes of one token in one layer on one rank; none where a layer keeps a state alone."""
    if isinstance(layers, StateLayers):
        return Fraction(0)
    if isinstance(layers, LatentAttention):
        return layers.sparse_token_bytes(
            settings.kv_cache_dtype, packed=settings.packs_sparse_latents
        )
    return layers.token_bytes(settings.kv_cache_dtype, settings.tensor_parallel_size)


def _state_bytes(layers: StateLayers, settings: Settings) -> int:
    return layers.sequence_bytes(
        settings.conv_element,
        settings.state_element,
        settings.tensor_parallel_size,
        settings.draft_tokens,
    )


def all_full(layers: Sequence[Layers]) -> list[Layers]:
    """All attention layers as full ones, of one kind where they are alike."""
    merged: dict[tuple[int, int, int], int] = {}
    others: list[Layers] = []
    for each in layers:
        if isinstance(each, FullAttention):
            key = (each.kv_heads, each.k_dim, each.v_dim)
            merged[key] = merged.get(key, 0) + each.layers
        else:
            others.append(each)
    return [FullAttention(count, *key) for key, count in merged.items()] + others


def _group_size(counts: Sequence[int], version: tuple[int, ...]) -> int:
    if len(counts) == 1:
        return counts[0]
    smallest, largest = min(counts), max(counts)
    if version >= LARGEST_GROUP_SINCE and 2 * largest < 3 * smallest:
        return largest
    return smallest
