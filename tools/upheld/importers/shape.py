"""The shape of a model in the fields of a record, and which of them its config.json leaves out.

A field is filled from the file's own facts: as the file states it, or as the rules of
arithmetic/configs take it where the file is silent, which is said. Where both give nothing the
field is refused by name, and never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from upheld.arithmetic.config_json import ConfigModel, ConfigShape
from upheld.arithmetic.configs import ConfigError, language_part
from upheld.arithmetic.configs.families import FAMILIES, Family
from upheld.arithmetic.configs.fields import Fields, short, whole
from upheld.arithmetic.configs.kinds import layer_count
from upheld.arithmetic.configs.weighed import model_fields, tied_embeddings
from upheld.arithmetic.dtypes import OF_TORCH
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.importers.layers import listed

_TORCH = {ours: theirs for theirs, ours in OF_TORCH.items()}

# Other names of facts that no cache depends on; arithmetic/configs knows those of the others.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "intermediate_size": ("n_inner", "ffn_hidden_size", "moe_intermediate_size"),
    "vocab_size": ("padded_vocab_size",),
    "max_position_embeddings": ("n_positions", "seq_length"),
}
# Families whose feed-forward part is four times as wide as a token, where the file does not say.
# Source: GPT2Config, GPTJConfig, GPTBigCodeConfig (n_inner), BloomConfig, FalconConfig.
_FOUR_TIMES = ("bloom", "falcon", "gpt2", "gpt_bigcode", "gptj")
_STATE_DTYPES = ("mamba_ssm_dtype", "mamba_ssm_cache_dtype")


@dataclass(slots=True)
class Shape:
    """Fields of the record in its order; `unstated` are those whose value the file leaves out.

    `assumed` are sentences about what was taken in their place. `origins` are ids of single
    fields that rest on something else than the others.
    """

    values: dict[str, Any] = field(default_factory=dict)
    unstated: set[str] = field(default_factory=set)
    assumed: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def assume(self, name: str, sentence: str) -> None:
        """Notes that the value of a field was taken, and how; one sentence about it is enough."""
        self.unstated.add(name)
        if not any(each.startswith(f"{name} is ") for each in self.assumed):
            self.assumed.append(sentence)


def shape_of(config: Mapping[str, Any], model: ConfigModel) -> Shape:
    """The shape of the model that was read from the config.

    Raises:
        ConfigError: an encoder, or a field that a record needs and the file does not give.
    """
    if not model.cached.layers:
        raise ConfigError(
            "; ".join(model.cached.assumed) or "no layer has a cache",
            "a model record is about a decoder; name the config.json of one",
        )
    found = Shape(assumed=list(model.assumed))
    found.values |= {"architecture": model.architecture, "attention": model.attention}
    if model.attention == "listed":
        found.values["cached_layers"] = [listed(each) for each in model.cached.layers]
        if model.cached.assumed:
            found.unstated.add("cached_layers")
    part = language_part(config)
    if isinstance(model, ConfigShape):
        _dense(found, model)
    else:
        _any_family(found, model, part)
    _positions(found, model, part)
    _tied(found, model, config)
    _flags(found, model, part)
    _dtypes(found, model, part)
    return found


def _dense(found: Shape, model: ConfigShape) -> None:
    for name in (
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "hidden_size",
        "intermediate_size",
        "vocab_size",
    ):
        found.values[name] = getattr(model, name)
        if name in model.origins:
            found.unstated.add(name)


def _any_family(found: Shape, model: ConfigModel, part: Mapping[str, Any]) -> None:
    # Reading the cached layers has refused a model_type that is not known.
    model_type = part["model_type"]
    family = FAMILIES[model_type]
    fields = model_fields(part, model_type, found.assumed)
    _put(found, fields, "num_hidden_layers", layer_count(fields))
    if family.attention:
        heads = fields.count("num_attention_heads")
        _put(found, fields, "num_attention_heads", heads)
        _put(found, fields, "num_key_value_heads", _kv_heads(found, model, fields, heads))
        _put(found, fields, "head_dim", _head_dim(found, model, fields))
    _put(found, fields, "hidden_size", fields.count("hidden_size"))
    if family.attention:
        _put(found, fields, "intermediate_size", _intermediate_size(found, fields))
    _put(found, fields, "vocab_size", fields.count(_name_in(fields, "vocab_size")))


def _put(found: Shape, fields: Fields, name: str, value: int) -> None:
    found.values[name] = value
    if not fields.has(_name_in(fields, name)):
        found.unstated.add(name)


def _name_in(fields: Fields, name: str) -> str:
    """The name by which the file states a field: its own, or one of its others."""
    names = (name, *_OTHER_NAMES.get(name, ()))
    return next((each for each in names if fields.has(each)), name)


def _kv_heads(found: Shape, model: ConfigModel, fields: Fields, heads: int) -> int:
    name = "num_key_value_heads"
    stated = fields.count(name) if fields.has(name) else None
    cached = [each.kv_heads for each in model.cached.layers if isinstance(each, FullAttention)]
    if stated is not None and (not cached or stated in cached):
        return stated
    if cached:
        found.assume(name, f"{name} is {max(cached)}, the most that a cached layer has")
        return max(cached)
    if any(isinstance(each, LatentAttention) for each in model.cached.layers):
        found.assume(
            name, f"{name} is num_attention_heads, {heads}: a latent row expands to one for each"
        )
        return heads
    return fields.count(name)


def _head_dim(found: Shape, model: ConfigModel, fields: Fields) -> int:
    if fields.has("head_dim"):
        return fields.count("head_dim")
    cached = [each.k_dim for each in model.cached.layers if isinstance(each, FullAttention)]
    if cached:
        found.assume("head_dim", f"head_dim is {max(cached)}, the widest that a cached layer has")
        return max(cached)
    for each in model.cached.layers:
        if isinstance(each, LatentAttention) and each.qk_nope:
            width = each.qk_nope + each.rope
            found.assume(
                "head_dim",
                f"head_dim is qk_nope_head_dim + qk_rope_head_dim, {each.qk_nope} + {each.rope} = "
                f"{width}: the file does not say",
            )
            return width
    return fields.count("head_dim")


def _intermediate_size(found: Shape, fields: Fields) -> int:
    name = _name_in(fields, "intermediate_size")
    value = fields.get(name)
    if isinstance(value, list):
        # Gemma 3n says it for each layer.
        widths = {whole(f"{name}[{at}]", each) for at, each in enumerate(value)}
        if len(widths) != 1:
            raise ConfigError(
                f"{name} has {len(widths)} different widths, and a model record has one",
                "upheld memory --config works out its cache without a record",
            )
        return widths.pop()
    if name == "moe_intermediate_size":
        found.assume(
            "intermediate_size",
            f"intermediate_size is moe_intermediate_size, {short(value)}, that of one expert: the "
            "file has no other",
        )
    if value is None and fields.values.get("model_type") in _FOUR_TIMES:
        width = 4 * fields.count("hidden_size")
        found.assume(
            "intermediate_size",
            f"intermediate_size is 4 × hidden_size, {width}: the file leaves it to Transformers' "
            "default",
        )
        return width
    return fields.count(name)


def _positions(found: Shape, model: ConfigModel, part: Mapping[str, Any]) -> None:
    name = "max_position_embeddings"
    tokens = model.max_position_embeddings
    family = FAMILIES.get(part.get("model_type", ""), Family())
    fields = Fields(part, family.names, family.defaults, found.assumed)
    stated = _name_in(fields, name)
    if tokens is None:
        if not family.attention and not fields.has(stated):
            return
        tokens = fields.count(stated)
    if not fields.has(stated):
        found.unstated.add(name)
    found.values[name] = f"{tokens} tokens"


def _tied(found: Shape, model: ConfigModel, config: Mapping[str, Any]) -> None:
    name = "tie_word_embeddings"
    parts = (Fields(language_part(config)), Fields(config))
    stated = {each.flag(name) for each in parts if each.has(name)}
    if len(stated) > 1:
        raise ConfigError(
            f"{name} is true in one part of the file and false in another",
            "keep the one that is right",
        )
    if stated:
        found.values[name] = stated.pop()
    elif isinstance(model, ConfigShape):
        found.values[name] = model.tie_word_embeddings
        found.unstated.add(name)
    else:
        part = language_part(config)
        fields = Fields(part, assumed=found.assumed)
        found.values[name] = tied_embeddings(fields, str(part.get("model_type")))
        found.unstated.add(name)


def _flags(found: Shape, model: ConfigModel, part: Mapping[str, Any]) -> None:
    for name in ("qkv_bias", "qk_norm"):
        if isinstance(model, ConfigShape):
            if getattr(model, name):
                found.values[name] = True
                found.assume(
                    name, f"{name} is true: the file does not say, and {model.architecture} has it"
                )
        elif part.get(name) is True:
            found.values[name] = True


def _dtypes(found: Shape, model: ConfigModel, part: Mapping[str, Any]) -> None:
    found.values["torch_dtype"] = _TORCH[cast(str, model.torch_dtype)]
    if model.dtype_is_assumed:
        found.unstated.add("torch_dtype")
    if model.state_dtype is None:
        return
    found.values["state_dtype"] = model.state_dtype
    if all(part.get(key) in (None, "auto") for key in _STATE_DTYPES):
        found.unstated.add("state_dtype")
        if not any(each.startswith("the state is kept in ") for each in found.assumed):
            found.assumed.append(
                f"the state is kept in {model.state_dtype}, as engines do: the file does not say"
            )
