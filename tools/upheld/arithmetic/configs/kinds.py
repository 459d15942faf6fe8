"""Which kind each layer is of: from the one fact that the family states it by.

Several facts may say it at once (a list and the interval that the list was made from); where they
differ, the file is refused. Sources: the configuration classes of Transformers 4.57 and 5.24.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from upheld.arithmetic.configs.families import STATES, Family, Trait, Window
from upheld.arithmetic.configs.fields import (
    MAX_LAYERS,
    ConfigError,
    Fields,
    short,
    whole,
)


class Kind(Enum):
    """What a layer caches; BOTH has attention and a state, NONE has neither."""

    FULL = "full attention"
    SLIDING = "sliding attention"
    CHUNKED = "attention in chunks"
    STATE = "a state"
    BOTH = "attention and a state"
    NONE = "nothing"


_SCANNED = (Trait.GATED_DELTA, Trait.KIMI_DELTA, Trait.MAMBA2, Trait.MAMBA1)
# The words of layer_types, with the traits of which a family needs one; no trait: any family.
_WORDS: Mapping[str, tuple[Kind, tuple[Trait, ...]]] = {
    "full_attention": (Kind.FULL, ()),
    "attention": (Kind.FULL, ()),
    "indexed_attention": (Kind.FULL, (Trait.INDEXER,)),
    "deepseek_sparse_attention": (Kind.FULL, (Trait.INDEXER,)),
    "sliding_attention": (Kind.SLIDING, (Trait.WINDOW,)),
    "chunked_attention": (Kind.CHUNKED, (Trait.CHUNKS,)),
    "linear_attention": (Kind.STATE, _SCANNED),
    "mamba": (Kind.STATE, _SCANNED),
    "conv": (Kind.STATE, (Trait.CONVOLUTION,)),
    "short_conv": (Kind.STATE, (Trait.CONVOLUTION,)),
    "moe": (Kind.NONE, (Trait.MAMBA2,)),
    "mlp": (Kind.NONE, (Trait.MAMBA2,)),
}
_LETTERS = {"M": Kind.STATE, "*": Kind.FULL, "-": Kind.NONE, "E": Kind.NONE}
_LISTS = ("layer_types", "layers_block_type")

_Rule = Callable[[Fields, Family, int], list[Kind] | None]


def layer_count(fields: Fields) -> int:
    """How many layers there are; a file may leave that to the length of its list of kinds.

    Raises:
        ConfigError: it does not say, or says more than any model has.
    """
    if not fields.has("num_hidden_layers"):
        for key in (*_LISTS, "hybrid_override_pattern"):
            value = fields.get(key)
            if isinstance(value, list | str) and value:
                fields.assume(f"num_hidden_layers is the length of {key}, {len(value):,}")
                return whole(f"the length of {key}", len(value), 1, MAX_LAYERS)
    return whole("num_hidden_layers", fields.count("num_hidden_layers"), 1, MAX_LAYERS)


def layer_kinds(fields: Fields, family: Family, layers: int) -> list[Kind]:
    """The kind of each layer, first to last.

    Raises:
        ConfigError: the file does not say, says it in words that are not known, or says two
            things.
    """
    stated = [
        (key, kinds)
        for key, rule in _STATED.items()
        if (kinds := rule(fields, family, layers)) is not None
    ]
    for key, kinds in stated[1:]:
        first, expected = stated[0]
        for at, (one, other) in enumerate(zip(expected, kinds, strict=True)):
            if one is not other:
                raise ConfigError(
                    f"{first} and {key} differ: layer {at} has {one.value} by the first and "
                    f"{other.value} by the second",
                    "keep the one that is right",
                )
    found = list(stated[0][1]) if stated else _unstated(fields, family, layers)
    if family.last_is_full and found[-1] is not Kind.FULL:
        fields.assume("the last layer has full attention, as the family's last layer always has")
        found[-1] = Kind.FULL
    return found


def _unstated(fields: Fields, family: Family, layers: int) -> list[Kind]:
    if not family.attention:
        return [Kind.STATE] * layers
    if family.parallel:
        return [Kind.BOTH] * layers
    if Trait.GATED_DELTA in family.traits:
        return _every(fields.count("full_attention_interval"), layers, Kind.STATE)
    if "attn_layer_period" in family.defaults:
        return _periodic(fields, layers)
    if Trait.CHUNKS in family.traits:
        return _chunked_by_interval(fields, layers)
    if family.traits & set(STATES):
        raise ConfigError(
            "nothing says which layers have attention", "add layer_types as the model has it"
        )
    if family.window is None or not slides(fields, family):
        return [Kind.FULL] * layers
    if family.window is Window.EVERYWHERE:
        return [Kind.SLIDING] * layers
    if family.window is Window.MIXED and family.every is not None:
        fields.assume(
            f"one layer in {family.every} has full attention and the others slide: the file "
            "leaves it to Transformers' default"
        )
        kinds = _every(family.every, layers, Kind.SLIDING)
        if family.every_from_last:
            return [
                Kind.SLIDING if (layers - 1 - at) % family.every else Kind.FULL
                for at in range(layers)
            ]
        return kinds
    if fields.flag("use_sliding_window"):
        raise ConfigError(
            "use_sliding_window is true, and nothing says in which layers",
            "add layer_types as the model has it",
        )
    return [Kind.FULL] * layers


def slides(fields: Fields, family: Family) -> bool:
    """Whether there is a window at all: a null is none, silence is the family's default."""
    if "sliding_window" in fields.values:
        return fields.has("sliding_window")
    return "sliding_window" in family.defaults


def _every(interval: int, layers: int, others: Kind) -> list[Kind]:
    return [others if (at + 1) % interval else Kind.FULL for at in range(layers)]


def _by_list(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    present = [key for key in _LISTS if fields.has(key)]
    if not present:
        return None
    key = present[0]
    kinds = []
    for at, word in enumerate(fields.per_layer(key, layers)):
        kind, traits = _WORDS.get(word, (None, ())) if isinstance(word, str) else (None, ())
        if kind is None or (traits and not family.traits & set(traits)):
            raise ConfigError(
                f"{key}[{at}] is {short(word)}, which is not known of this model_type, and what "
                "is not known is never treated as plain attention",
                f"known words: {', '.join(_WORDS)}, each where the model_type has such layers",
            )
        kinds.append(kind)
    return kinds


def _by_letters(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    if not fields.has("hybrid_override_pattern"):
        return None
    letters = fields.get("hybrid_override_pattern")
    if not isinstance(letters, str) or not set(letters) <= set(_LETTERS):
        raise ConfigError(
            f"hybrid_override_pattern is {short(letters)}",
            f"hybrid_override_pattern wants one of {' '.join(_LETTERS)} for each layer",
        )
    if len(letters) != layers:
        raise ConfigError(
            f"hybrid_override_pattern has {len(letters):,} letters, and num_hidden_layers is "
            f"{layers:,}",
            "one of the two is wrong",
        )
    return [_LETTERS[letter] for letter in letters]


def _by_kimi_lists(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    config = fields.get("linear_attn_config")
    if config is None:
        return None
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"linear_attn_config is {short(config)}", "linear_attn_config wants an object"
        )
    # Both lists count from 1.
    nested = Fields(config)
    linear = nested.indices("kda_layers", layers, first=1)
    full = nested.indices("full_attn_layers", layers, first=1)
    if linear & full or len(linear | full) != layers:
        raise ConfigError(
            f"kda_layers and full_attn_layers do not name each of the {layers:,} layers once",
            "each layer has one kind of attention",
        )
    return [Kind.STATE if at in linear else Kind.FULL for at in range(layers)]


def _by_interval(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    if not fields.has("full_attention_interval"):
        return None
    return _every(fields.count("full_attention_interval"), layers, Kind.STATE)


def _by_attention_indices(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    for key in ("attn_layer_indices", "full_attn_idxs"):
        if fields.has(key):
            full = fields.indices(key, layers)
            return [Kind.FULL if at in full else Kind.STATE for at in range(layers)]
    return None


def _by_period(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    return _periodic(fields, layers) if fields.has("attn_layer_period") else None


def _periodic(fields: Fields, layers: int) -> list[Kind]:
    period = fields.count("attn_layer_period")
    offset = fields.count("attn_layer_offset", least=0)
    if offset >= period:
        raise ConfigError(
            f"attn_layer_offset is {offset} and attn_layer_period is {period}",
            "the offset is below the period",
        )
    return [Kind.FULL if at % period == offset else Kind.STATE for at in range(layers)]


def _by_window_pattern(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    if family.window is not Window.MIXED or not slides(fields, family):
        return None
    for key in ("sliding_window_pattern", "_sliding_window_pattern"):
        value = fields.get(key)
        if value is None:
            continue
        # EXAONE 4 writes LLLG for one global layer after three local ones.
        if isinstance(value, str) and value.endswith("G") and set(value[:-1]) == {"L"}:
            value = len(value)
        return _every(whole(key, value), layers, Kind.SLIDING)
    return None


def _by_switch(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    if not fields.has("use_sliding_window"):
        return None
    if not fields.flag("use_sliding_window"):
        return [Kind.FULL] * layers
    if family.window is not Window.SWITCHED:
        return None
    if not slides(fields, family):
        return [Kind.FULL] * layers
    first = fields.count("max_window_layers", least=0)
    return [Kind.SLIDING if at >= first else Kind.FULL for at in range(layers)]


def _by_rope(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    # Llama 4: layers with rotary positions (1) attend within chunks, those without (0) to all.
    if Trait.CHUNKS not in family.traits or not fields.get("no_rope_layers"):
        return None
    rotary = fields.per_layer("no_rope_layers", layers)
    if not _chunks(fields):
        return [Kind.FULL] * layers
    return [
        Kind.CHUNKED if whole(f"no_rope_layers[{at}]", each, 0, 1) else Kind.FULL
        for at, each in enumerate(rotary)
    ]


def _chunked_by_interval(fields: Fields, layers: int) -> list[Kind]:
    if not _chunks(fields):
        return [Kind.FULL] * layers
    return _every(fields.count("no_rope_layer_interval"), layers, Kind.CHUNKED)


def _chunks(fields: Fields) -> bool:
    return fields.has("attention_chunk_size") or "attention_chunk_size" not in fields.values


def _by_blocks(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    if not fields.has("block_configs"):
        return None
    kinds = []
    for at, block in enumerate(fields.per_layer("block_configs", layers)):
        attention = block.get("attention") if isinstance(block, Mapping) else None
        if not isinstance(attention, Mapping):
            raise ConfigError(
                f"block_configs[{at}] has no attention", "each block says what its attention is"
            )
        _refuse_other_attention(at, attention)
        block_fields = Fields(attention)
        absent = block_fields.flag("no_op") or block_fields.flag("replace_with_linear")
        kinds.append(Kind.NONE if absent else Kind.FULL)
    return kinds


# What a block's attention may say beside these is a window, a sink or a state.
_BLOCK_FACTS = ("n_heads_in_group", "no_op", "replace_with_linear", "num_sink_tokens")


def _refuse_other_attention(at: int, attention: Mapping[str, object]) -> None:
    for key, value in attention.items():
        if key not in _BLOCK_FACTS and value not in (None, False, 0, "", [], {}):
            raise ConfigError(
                f"block_configs[{at}].attention.{key} is {short(value)}, which is not known, and "
                "what is not known is never treated as plain attention",
                f"known: {', '.join(_BLOCK_FACTS)}",
            )


def _by_attention_list(fields: Fields, family: Family, layers: int) -> list[Kind] | None:
    # MiniMax: 1 is full attention; 0 is lightning attention, which is not known here.
    if not fields.has("attn_type_list"):
        return None
    return [
        Kind.FULL
        for at, each in enumerate(fields.per_layer("attn_type_list", layers))
        if whole(f"attn_type_list[{at}]", each, 1, 1)
    ]


_STATED: dict[str, _Rule] = {
    "layer_types": _by_list,
    "hybrid_override_pattern": _by_letters,
    "linear_attn_config": _by_kimi_lists,
    "full_attention_interval": _by_interval,
    "the list of attention layers": _by_attention_indices,
    "attn_layer_period": _by_period,
    "sliding_window_pattern": _by_window_pattern,
    "use_sliding_window": _by_switch,
    "no_rope_layers": _by_rope,
    "block_configs": _by_blocks,
    "attn_type_list": _by_attention_list,
}
