"""SGLang as an engine: its pools of token rows and its slots of states as a plan.

Source: sglang/srt/model_executor/model_runner.py (profile_max_num_token, handle_max_mamba_cache,
set_num_token_hybrid, init_memory_pool); read in 0.5.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from upheld.arithmetic.cache import token_formula
from upheld.arithmetic.dtypes import CacheDtype
from upheld.arithmetic.engines.budgets import ShareBesideRuntime
from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.plan import CachePlan, Need, Start
from upheld.arithmetic.engines.sglang import stage_sizes, state_bytes
from upheld.arithmetic.engines.uniform import only
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts import Layers, TokenLayers
from upheld.arithmetic.layouts.full import FullAttention, blocks_of
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers
from upheld.records.units import count

# server_args.py: swa_full_tokens_ratio and mamba_full_memory_ratio.
SLIDING_TO_FULL = Fraction(8, 10)
STATE_TO_CACHE = Fraction(9, 10)
# MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO, with the radix cache.
SLOTS_A_REQUEST = 3
FP32 = Fraction(4)


@dataclass(frozen=True)
class TokenPools(CachePlan):
    """A pool of rows for layers that see all tokens, a smaller one for windows, slots for states.

    A block is a page of the first pool with its share of the second. `cell_bytes` are those of one
    token if every layer kept it, `row_bytes` those of one row with its share of the window's pool.
    `slot_bytes` is one request's state and `slots_a_request` how many of those it may take.
    """

    cell_bytes: int
    row_bytes: Fraction
    slot_bytes: int
    slots_a_request: int
    prefix_caching: bool
    max_num_seqs: int
    attention: tuple[TokenLayers, ...]
    formula: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The radix cache, where there are states."""
        return ("prefix_caching",) if self.slot_bytes else ()

    def blocks(self, available: int) -> int:
        """Pages in what the states leave."""
        rows = max(0, available - self._slots(available) * self.slot_bytes) // self.cell_bytes
        return int(rows * self.cell_bytes / self.row_bytes) // self.block_size

    def blocks_for(self, tokens: int) -> int:
        """Whole pages."""
        return blocks_of(tokens, self.block_size)

    def sequences(self, available: int, tokens: int) -> int:
        """As many as there are pages for, and slots."""
        paged = self.blocks(available) // self.blocks_for(tokens)
        if not self.slot_bytes:
            return paged
        return min(paged, self._slots(available) // self.slots_a_request)

    def needs(self, sequences: int, tokens: int) -> Sequence[Need]:
        """Pages of rows, and the slots of the states."""
        pages = self.blocks_for(tokens)
        words = f"{count(sequences, 'sequence')} × {count(pages, 'page')} × "
        words += f"{count(self.block_size, 'token')} × {self.formula}"
        rows = sequences * pages * self.block_size * self.row_bytes
        found = [Need(self.attention[0], ceil(rows), words)]
        slots = sequences * self.slots_a_request
        for each in self.layouts:
            if isinstance(each, StateLayers):
                words = f"{count(slots, 'slot')} × {self.slot_bytes:,} B"
                found.append(Need(each, slots * self.slot_bytes, words))
        return found

    def _slots(self, available: int) -> int:
        if not self.slot_bytes:
            return 0
        if not self.prefix_caching:
            return self.max_num_seqs
        share = STATE_TO_CACHE / (1 + STATE_TO_CACHE)
        return int(max(0, available) * share) // self.slot_bytes


def token_pools(layers: Sequence[Layers], start: Start) -> TokenPools:
    """The pools that SGLang makes for these layers.

    Raises:
        ShapeError: chunked attention, states of several kinds, or no attention at all.
    """
    states = [each for each in layers if isinstance(each, StateLayers)]
    if len(states) > 1:
        raise ShapeError("engine", "how SGLang pools states of several kinds is not known")
    attention = only(
        (FullAttention, SlidingAttention, LatentAttention, *map(type, states)), layers, "SGLang"
    )
    dtype, ranks = start.kv_cache_dtype, start.tensor_parallel
    sizes = {each: each.layers * _token_bytes(each, dtype, ranks) for each in attention}
    windows = [each for each in attention if isinstance(each, SlidingAttention)]
    full = [each for each in attention if each not in windows]
    # Without a layer of full attention there is one pool, and it is the window's.
    ratio = SLIDING_TO_FULL if full else Fraction(1)
    row = sum((sizes[each] for each in full), Fraction(0))
    row += ratio * sum((sizes[each] for each in windows), Fraction(0))
    formulas = [token_formula(each, dtype, ranks) for each in full]
    shared = "" if ratio == 1 else f"{ratio} × "
    formulas += [shared + token_formula(each, dtype, ranks) for each in windows]
    return TokenPools(
        layouts=(*attention, *states),
        block_size=start.block_size,
        block_bytes=ceil(start.block_size * row),
        token_bytes=int(sum(sizes.values())),
        cell_bytes=int(sum(sizes.values())),
        row_bytes=row,
        slot_bytes=sum(
            sum(state_bytes(each, 0, ranks, start.conv_element, start.state_element or FP32))
            for each in states
        ),
        slots_a_request=SLOTS_A_REQUEST if start.prefix_caching else 1,
        prefix_caching=start.prefix_caching,
        max_num_seqs=start.max_num_seqs,
        attention=tuple(full or windows),
        formula=formulas[0] if len(formulas) == 1 else f"({' + '.join(formulas)})",
    )


def _token_bytes(layers: TokenLayers, dtype: CacheDtype, ranks: int) -> Fraction:
    if isinstance(layers, LatentAttention):
        return layers.sparse_token_bytes(dtype)
    return layers.token_bytes(dtype, ranks)


SGLANG = Engine(
    name="sglang",
    title="SGLang",
    kv_cache_dtypes=("fp32", "bf16", "fp16", "fp8", "fp4"),
    budget=ShareBesideRuntime(),
    share="mem_fraction_static",
    # server_args.py works it out from the device, the batch and the CUDA graphs.
    default_share=None,
    plan=token_pools,
    block="page_size",
    default_block_size=1,
    stages=stage_sizes,
)
