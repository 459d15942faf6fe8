"""The tensors of a decoder on one rank, in the order in which vLLM creates them.

Sources: vLLM's models/llama.py, qwen2.py, qwen3.py, qwen3_moe.py, mixtral.py, gemma2.py, phi.py and
deepseek_v2.py; layers/vocab_parallel_embedding.py (the vocabulary is padded to a multiple of 64,
then split), layers/linear.py (ColumnParallelLinear splits outputs, RowParallelLinear inputs,
QKVParallelLinear repeats KV heads of which there are fewer than ranks, ReplicatedLinear splits
nothing), layers/fused_moe (w13 and w2, all experts in one tensor), layers/attention
(set_default_quant_scales; absorbed copies in mla_attention.py). Read in 0.19.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.shares import share
from upheld.arithmetic.weights.gated_delta import gated_delta
from upheld.arithmetic.weights.structure import Structure
from upheld.arithmetic.weights.tensors import Layer, Tensor
from upheld.arithmetic.weights.towers import tower

VOCABULARY_PADDING = 64
# The allocator is followed tensor by tensor, so a shape may not ask for any number of them.
MAX_LAYERS = 10_000
# The scales of q, k, v and the probabilities, an fp32 tensor each, whatever the cache's dtype is.
# Later versions hold three more (q_range, k_range, v_range): 1.5 KiB a layer, left out because the
# figures that were printed with four decimals are of versions without them.
ATTENTION_SCALES = 4


@dataclass(frozen=True, slots=True)
class LayerKind:
    """Layers that are alike: those from `first` up to `stop`; `local` says that they slide."""

    first: int
    stop: int
    tensors: tuple[Tensor, ...]
    local: bool = False

    @property
    def layers(self) -> int:
        """How many they are."""
        return self.stop - self.first

    def within(self, start: int, stop: int) -> LayerKind | None:
        """Those of them from `start` up to `stop`, or None."""
        part = replace(self, first=max(self.first, start), stop=min(self.stop, stop))
        return part if part.layers > 0 else None


@dataclass(frozen=True, slots=True)
class Decoder:
    """All tensors of one rank: the tower's, and those before, of and after the layers."""

    tower: tuple[Layer, ...]
    before: tuple[Tensor, ...]
    kinds: tuple[LayerKind, ...]
    after: tuple[Tensor, ...]


def padded_vocabulary(model: Structure, tensor_parallel: int) -> int:
    """Rows of the embedding on one rank.

    Raises:
        ShapeError: the ranks can't share them evenly.
    """
    padded = -(-model.vocab_size // VOCABULARY_PADDING) * VOCABULARY_PADDING
    return share("vocab_size", padded, tensor_parallel)


@dataclass(frozen=True, slots=True)
class ExpertRanks:
    """Ranks that share the experts: those of all data-parallel groups together.

    With `whole` a rank has some of the experts, each whole; without, a part of each. Source:
    vLLM, layers/fused_moe/config.py (FusedMoEParallelConfig.make) and layer.py
    (determine_expert_map), read in 0.19.0. The map of experts, 4 B an expert, is left out.
    """

    ranks: int
    whole: bool = False

    def held(self, experts: int) -> int:
        """Experts of the rank that has most of them."""
        return -(-experts // self.ranks) if self.whole else experts

    def inner(self, width: int) -> int:
        """Of each of them, the inner width.

        Raises:
            ShapeError: the ranks can't share it evenly.
        """
        return width if self.whole else share("moe_intermediate_size", width, self.ranks)


def decoder(
    model: Structure,
    tensor_parallel: int,
    vocabulary: int,
    experts: ExpertRanks | None = None,
) -> Decoder:
    """The tensors of one rank of `tensor_parallel` with `vocabulary` rows of the embedding.

    Experts are shared by the tensor-parallel ranks alone unless `experts` says otherwise.

    Raises:
        ShapeError: the ranks can't share it evenly.
    """
    words = ("vocab_size", "hidden_size")
    padding = ""
    if vocabulary * tensor_parallel != model.vocab_size:
        padding = f", {model.vocab_size:,} rows padded to a multiple of {VOCABULARY_PADDING}"
    embedding = (vocabulary, model.hidden_size)
    after = _norm(model, "norm")
    if not model.tie_word_embeddings:
        head = (*words, "tie_word_embeddings")
        after.append(Tensor("lm_head", embedding, head, note=padding))
    if model.lm_head_bias:
        after.append(Tensor("lm_head.bias", (vocabulary,), ("vocab_size", "lm_head_bias")))
    vision = model.vision
    return Decoder(
        tower=tower(vision, model.hidden_size, tensor_parallel) if vision else (),
        before=(Tensor("embed_tokens", embedding, words, note=padding),),
        kinds=_kinds(model, tensor_parallel, experts or ExpertRanks(tensor_parallel)),
        after=tuple(after),
    )


def _kinds(model: Structure, ranks: int, experts: ExpertRanks) -> tuple[LayerKind, ...]:
    if model.num_hidden_layers > MAX_LAYERS:
        raise ShapeError(
            "num_hidden_layers", f"{model.num_hidden_layers:,} are more than {MAX_LAYERS:,}"
        )
    norms = [each for name in _norm_names(model) for each in _norm(model, name)]
    kinds = []
    for like, layers in groupby(range(model.num_hidden_layers), partial(_Likeness.of, model)):
        numbers = list(layers)
        tensors = (*_mixer(model, like, ranks), *_inner(model, like, ranks, experts), *norms)
        kinds.append(LayerKind(numbers[0], numbers[-1] + 1, tensors, like.local))
    return tuple(kinds)


@dataclass(frozen=True, slots=True)
class _Likeness:
    """What makes one layer unlike another."""

    linear: bool
    local: bool
    sparse: bool

    @classmethod
    def of(cls, model: Structure, at: int) -> _Likeness:
        """That of the layer at `at`, counted from 0."""
        interval, every = model.full_attention_interval, model.global_rotary_every
        return cls(
            linear=bool(interval) and (at + 1) % interval != 0,
            local=bool(every) and (at + 1) % every != 0,
            sparse=bool(model.num_experts) and at >= model.first_k_dense_replace,
        )


def _mixer(model: Structure, like: _Likeness, ranks: int) -> list[Tensor]:
    if like.linear:
        return gated_delta(model, ranks)
    if model.attention == "latent":
        return _latent_attention(model, ranks)
    return _attention(model, ranks)


def _inner(model: Structure, like: _Likeness, ranks: int, experts: ExpertRanks) -> list[Tensor]:
    return _experts(model, ranks, experts) if like.sparse else _dense(model, ranks)


def _attention(model: Structure, ranks: int) -> list[Tensor]:
    query = share("num_attention_heads", model.num_attention_heads, ranks) * model.head_dim
    layout = FullAttention(
        model.num_hidden_layers, model.num_key_value_heads, model.head_dim, model.head_dim
    )
    gate = query if model.attention_gate else 0
    qkv = query + gate + 2 * layout.kv_heads_on_rank(ranks) * model.head_dim
    heads = ("num_attention_heads", "head_dim", "hidden_size")
    qkv_fields = ("num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size")
    found = [Tensor("qkv_proj", (qkv, model.hidden_size), qkv_fields, linear=True)]
    if model.qkv_bias:
        found.append(Tensor("qkv_proj.bias", (qkv,), (*qkv_fields[:3], "qkv_bias")))
    found.append(Tensor("o_proj", (model.hidden_size, query), heads, linear=True))
    if model.o_bias:
        found.append(Tensor("o_proj.bias", (model.hidden_size,), ("hidden_size", "o_bias")))
    found += _scales()
    if model.qk_norm:
        found += [
            Tensor("q_norm", (model.head_dim,), ("head_dim", "qk_norm")),
            Tensor("k_norm", (model.head_dim,), ("head_dim", "qk_norm")),
        ]
    return found


def _latent_attention(model: Structure, ranks: int) -> list[Tensor]:
    hidden = model.hidden_size
    heads = share("num_attention_heads", model.num_attention_heads, ranks)
    latent = model.kv_lora_rank + model.qk_rope_head_dim
    query = heads * (model.qk_nope_head_dim + model.qk_rope_head_dim)
    key_value = heads * (model.qk_nope_head_dim + model.v_head_dim)
    latent_fields = ("kv_lora_rank", "qk_rope_head_dim", "hidden_size")
    query_fields = ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim")
    key_value_fields = ("num_attention_heads", "kv_lora_rank", "qk_nope_head_dim", "v_head_dim")
    if model.q_lora_rank:
        rank = model.q_lora_rank
        found = [
            Tensor(
                "fused_qkv_a_proj",
                (rank + latent, hidden),
                ("q_lora_rank", *latent_fields),
                linear=True,
            ),
            Tensor("q_a_layernorm", (rank,), ("q_lora_rank",)),
            Tensor("q_b_proj", (query, rank), (*query_fields, "q_lora_rank"), linear=True),
        ]
    else:
        found = [
            Tensor("kv_a_proj_with_mqa", (latent, hidden), latent_fields, linear=True),
            Tensor("q_proj", (query, hidden), (*query_fields, "hidden_size"), linear=True),
        ]
    return [
        *found,
        Tensor("kv_a_layernorm", (model.kv_lora_rank,), ("kv_lora_rank",)),
        Tensor("kv_b_proj", (key_value, model.kv_lora_rank), key_value_fields, linear=True),
        Tensor(
            "o_proj",
            (hidden, heads * model.v_head_dim),
            ("num_attention_heads", "v_head_dim", "hidden_size"),
            linear=True,
        ),
        *_scales(),
        Tensor("absorbed kv_b_proj", (key_value, model.kv_lora_rank), key_value_fields, copy=True),
    ]


def _scales() -> list[Tensor]:
    shape = (ATTENTION_SCALES,)
    return [Tensor("attention scales", shape, (), scalars=True, before_rotary_table=True)]


def _dense(model: Structure, ranks: int) -> list[Tensor]:
    inner = share("intermediate_size", model.intermediate_size, ranks)
    return _feed_forward(model, "", inner, "intermediate_size")


def _feed_forward(model: Structure, prefix: str, inner: int, field: str) -> list[Tensor]:
    fields = (field, "hidden_size")
    name, rows = ("gate_up_proj", 2 * inner) if model.gated_mlp else ("up_proj", inner)
    found = [Tensor(f"{prefix}{name}", (rows, model.hidden_size), fields, linear=True)]
    if model.mlp_bias:
        found.append(Tensor(f"{prefix}{name}.bias", (rows,), (field, "mlp_bias")))
    found.append(Tensor(f"{prefix}down_proj", (model.hidden_size, inner), fields, linear=True))
    if model.mlp_bias:
        bias = (model.hidden_size,)
        found.append(Tensor(f"{prefix}down_proj.bias", bias, ("hidden_size", "mlp_bias")))
    return found


def _experts(model: Structure, ranks: int, split: ExpertRanks) -> list[Tensor]:
    experts, hidden = model.num_experts, model.hidden_size
    held, inner = split.held(experts), split.inner(model.moe_intermediate_size)
    rows = 2 * inner if model.gated_mlp else inner
    fields = ("num_experts", "moe_intermediate_size", "hidden_size")
    found = [Tensor("router", (experts, hidden), ("num_experts", "hidden_size"))]
    if model.router_bias:
        bias = ("num_experts", "router_bias")
        found.append(Tensor("router.bias", (experts,), bias, element=4))
    if shared := model.shared_expert_intermediate_size:
        if model.shared_expert_gate:
            gate = ("hidden_size", "shared_expert_gate")
            found.append(Tensor("shared_expert_gate", (1, hidden), gate))
        field = "shared_expert_intermediate_size"
        found += _feed_forward(model, "shared_expert.", share(field, shared, ranks), field)
    return [
        *found,
        Tensor("experts.w13", (held, rows, hidden), fields, linear=True),
        Tensor("experts.w2", (held, hidden, inner), fields, linear=True),
    ]


def _norm_names(model: Structure) -> tuple[str, ...]:
    known = {
        1: ("input_layernorm",),
        2: ("input_layernorm", "post_attention_layernorm"),
        4: (
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "post_feedforward_layernorm",
        ),
    }
    names = known.get(model.norms_per_layer)
    if names is None:
        raise ShapeError("norms_per_layer", "wants 1, 2 or 4")
    return names


def _norm(model: Structure, name: str) -> list[Tensor]:
    found = [Tensor(name, (model.hidden_size,), ("hidden_size",))]
    if model.norm_bias:
        found.append(Tensor(f"{name}.bias", (model.hidden_size,), ("hidden_size", "norm_bias")))
    return found
