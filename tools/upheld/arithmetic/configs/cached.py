"""All cached layers of a config.json: its rules put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from upheld.arithmetic.configs.attention import attention_layout
from upheld.arithmetic.configs.families import ENCODERS, FAMILIES, Family, Trait
from upheld.arithmetic.configs.fields import ConfigError, Fields, short, whole
from upheld.arithmetic.configs.kinds import Kind, layer_count, layer_kinds
from upheld.arithmetic.configs.language import language_part
from upheld.arithmetic.configs.per_layer import fields_by_layer
from upheld.arithmetic.configs.signs import refuse_unread
from upheld.arithmetic.configs.states import StateDtype, state_dtype, state_layout
from upheld.arithmetic.layouts import Layers
from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention

_CROSS_ATTENTION = ("is_encoder_decoder", "add_cross_attention", "cross_attention_layers")
_ORDER = (FullAttention, LatentAttention, SlidingAttention, ChunkedAttention)


@dataclass(frozen=True, slots=True)
class CachedLayers:
    """What a model caches: layers that are alike are counted together.

    Attention comes before states, full attention before windows; `layers` is empty for an
    encoder. `assumed` are sentences about what the file leaves out. `state_dtype` is the dtype of
    recurrent states as Transformers names it, or None: no states, or kept as the convolution is,
    in the model's dtype. What a model needs is given; an engine may hold more of it: `sharing`
    counts the layers that use the cache of another, which are not among `layers`.
    `order` says of each layer of the decoder, in turn, which of `layers` it is, by index; a layer
    may be several of them, or none.
    """

    layers: tuple[Layers, ...]
    order: tuple[tuple[int, ...], ...] = ()
    assumed: tuple[str, ...] = ()
    state_dtype: StateDtype | None = None
    sharing: int = 0


def cached_layers(config: Mapping[str, Any]) -> CachedLayers:
    """The cached layers of the model that a config.json describes, whatever its weights.

    Raises:
        ConfigError: a model_type or attention that is not known, a fact that is missing, or facts
            that contradict each other.
    """
    part = language_part(config)
    for each in (config, part):
        _refuse_cross_attention(each)
    model_type = part.get("model_type")
    if model_type is None:
        raise ConfigError("model_type is missing", "add model_type as the model's code has it")
    if isinstance(model_type, str) and model_type in ENCODERS:
        return _encoder(part, model_type)
    family = FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None:
        raise ConfigError(
            f"the model_type {short(model_type)} is not known, "
            "and what is not known is never treated as plain attention",
            f"known: {', '.join(FAMILIES)}",
        )
    fields = Fields(part, family.names, family.defaults)
    refuse_unread(fields, family, str(model_type))
    layers = layer_count(fields)
    kinds = _without_shared(layer_kinds(fields, family, layers), fields, family)
    counted = _count(kinds, layers, fields, family)
    return replace(counted, sharing=layers - len(kinds))


def _encoder(part: Mapping[str, Any], model_type: str) -> CachedLayers:
    if part.get("is_decoder") is True:
        raise ConfigError(
            f"is_decoder is true, and model_type {model_type} is known as an encoder alone",
            "an encoder has no cache; its decoder is not worked out",
        )
    note = f"model_type {model_type} is an encoder, which has no cache"
    return CachedLayers((), assumed=(note,))


def _refuse_cross_attention(config: Mapping[str, Any]) -> None:
    for key in _CROSS_ATTENTION:
        if config.get(key) not in (None, False, []):
            raise ConfigError(
                f"{key} is {short(config[key])}: the cache of its cross-attention is not known, "
                "and what is not known is never treated as plain attention",
                "only decoders without cross-attention are worked out",
            )


def _without_shared(kinds: list[Kind], fields: Fields, family: Family) -> list[Kind]:
    """The last num_kv_shared_layers use the cache of an earlier layer of their kind."""
    if Trait.SHARED not in family.traits:
        return kinds
    shared = 0
    if fields.has("num_kv_shared_layers") or "num_kv_shared_layers" in family.defaults:
        shared = whole(
            "num_kv_shared_layers",
            fields.count("num_kv_shared_layers", least=0),
            0,
            len(kinds) - 1,
        )
    own = kinds[: len(kinds) - shared]
    if not set(kinds) <= set(own):
        raise ConfigError(
            f"num_kv_shared_layers is {shared}, and a kind of attention is then in shared layers "
            "alone",
            "each kind has a layer that owns its cache",
        )
    return own


def _count(kinds: list[Kind], layers: int, fields: Fields, family: Family) -> CachedLayers:
    """The layers of `kinds`; those up to `layers` that have no kind use another's cache."""
    counts: dict[Layers, int] = {}
    order: list[list[Layers]] = [[] for _ in range(layers)]
    one_kind: dict[Kind, Layers] = {}
    by_layer = fields_by_layer(fields, layer_count(fields))
    state = None
    for at, kind in enumerate(kinds):
        if kind in (Kind.STATE, Kind.BOTH):
            state = state or state_layout(fields, family)
            counts[state] = counts.get(state, 0) + 1
            order[at].append(state)
        if kind in (Kind.STATE, Kind.NONE):
            continue
        own = by_layer[at]
        set_apart = own is not fields or Trait.BLOCKS in family.traits
        layout = None if set_apart else one_kind.get(kind)
        if layout is None:
            layout = attention_layout(kind, own, family, at)
        if not set_apart:
            one_kind[kind] = layout
        counts[layout] = counts.get(layout, 0) + 1
        order[at].append(layout)
    kept_in = None if state is None else state_dtype(fields, family, state)
    _note_drafts(fields)
    found = sorted(
        counts, key=lambda each: _ORDER.index(type(each)) if type(each) in _ORDER else len(_ORDER)
    )
    return CachedLayers(
        tuple(replace(layout, layers=counts[layout]) for layout in found),
        tuple(tuple(map(found.index, layouts)) for layouts in order),
        tuple(fields.assumed),
        kept_in,
    )


def _note_drafts(fields: Fields) -> None:
    for key in ("num_nextn_predict_layers", "mtp_num_hidden_layers"):
        drafts = fields.count(key, least=0) if fields.has(key) else 0
        if drafts:
            fields.assume(
                f"the {drafts} of {key} are not counted: they cache only where they draft"
            )
