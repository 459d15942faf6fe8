"""Runs each tiny model and adds up the bytes of the tensors in its cache.

Three figures, read off the tensors themselves:

- `tensors`: elements times the size of one, of all tensors with data: keys, values, keys of an
  indexer, states, packed elements and their scales;
- `storage`: the memory behind those tensors, each once; more where a tensor is a view of a larger;
- `counters`: single whole numbers, such as a static layer's count of tokens.
"""

from __future__ import annotations

import inspect
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch
import transformers
from transformers import cache_utils

from transformers_cache_checks.models import MODELS

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
ENCODER_TOKENS = 11
LIBRARIES = ("torch", "transformers", "optimum-quanto", "hqq")
_PARTS_OF_A_CACHE = (
    cache_utils.Cache,
    cache_utils.CacheLayerMixin,
    cache_utils.LinearAttentionCacheLayerMixin,
)
# A run: sequences, tokens of the prompt, tokens decoded one by one. The windows hold 16 tokens.
_RUNS = ((1, 7, 0), (2, 15, 1), (3, 16, 0), (1, 20, 0), (2, 20, 5))
_STATIC_RUNS = ((1, 7, 0, 12), (2, 20, 2, 40))
_QUANTISED_RUNS = ((2, 32, 0), (2, 32, 3), (1, 32, 16), (1, 16, 21))
_QUANTISED: tuple[dict[str, Any], ...] = (
    {"backend": "quanto", "nbits": 4, "q_group_size": 16, "residual_length": 8},
    {"backend": "quanto", "nbits": 2, "q_group_size": 32, "residual_length": 128},
    {"backend": "quanto", "nbits": 4, "q_group_size": 16, "residual_length": 16, "axis_key": -1,
     "axis_value": -1},
    {"backend": "hqq", "nbits": 8, "q_group_size": 16, "residual_length": 8},
    {"backend": "hqq", "nbits": 4, "q_group_size": 16, "residual_length": 8},
    {"backend": "hqq", "nbits": 3, "q_group_size": 32, "residual_length": 16},
    {"backend": "hqq", "nbits": 2, "q_group_size": 32, "residual_length": 8, "axis_key": 1,
     "axis_value": 1},
    {"backend": "hqq", "nbits": 1, "q_group_size": 16, "residual_length": 8},
    {"backend": "fp8"},
)  # fmt: skip
_QUANTISED_MODELS = ("llama, multi-head", "llama, grouped", "qwen3")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a model: how it is started, and which cache it fills."""

    implementation: str
    dtype: str
    batch: int
    prompt: int
    decoded: int
    settings: dict[str, Any]

    def row(self, model: str) -> dict[str, Any]:
        """What is written down of the run, beside the bytes."""
        return {
            "model": model, "implementation": self.implementation, "dtype": self.dtype,
            "batch": self.batch, "prompt": self.prompt, "decoded": self.decoded, **self.settings,
        }  # fmt: skip


def measure(
    names: Sequence[str] = tuple(MODELS), dtypes: Sequence[str] = tuple(DTYPES)
) -> dict[str, Any]:
    """The measurement of the models named, by default all, as it is written to a file."""
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    models, rows = {}, []
    for name in names:
        group, architecture, fields = MODELS[name]
        for dtype in dtypes:
            model = _build(architecture, fields, dtype)
            models[name] = {"group": group, "config": _config(model)}
            for run in _runs(name, group, dtype):
                encoded = _encoder_tokens(model, group)
                rows.append(run.row(name) | encoded | _measured(model, group, run))
    return {
        "python": platform.python_version(),
        "versions": {library: version(library) for library in LIBRARIES},
        "models": models,
        "rows": rows,
    }


def _measured(model: Any, group: str, run: Run) -> dict[str, Any]:
    """The bytes; or, of a quantised cache, what the library said when it refused the shape."""
    try:
        return {"measured": _bytes(_filled(model, group, run))}
    except (RuntimeError, ValueError) as error:
        if run.implementation != "quantised":
            raise
        return {"refused": f"{type(error).__name__}: {error}"}


def _build(architecture: str, fields: dict[str, Any], dtype: str) -> Any:
    torch.manual_seed(0)
    made = getattr(transformers, architecture)
    return made._from_config(made.config_class(**fields), dtype=DTYPES[dtype]).eval()


def _config(model: Any) -> dict[str, Any]:
    """What `save_pretrained` writes to config.json, without the dtype, which the rows say."""
    model.config.architectures = [type(model).__name__]
    config: dict[str, Any] = json.loads(model.config.to_json_string())
    for part in (config, *(each for each in config.values() if isinstance(each, dict))):
        part.pop("dtype", None)
    return config


def _runs(name: str, group: str, dtype: str) -> Iterator[Run]:
    if group == "encoders":
        yield Run("encoder", dtype, 2, 7, 0, {})
        return
    for implementation in ("dynamic", "generate"):
        for batch, prompt, decoded in _RUNS:
            # What generate makes of its own is the same in each dtype.
            if implementation == "dynamic" or (decoded and dtype == "bf16"):
                yield Run(implementation, dtype, batch, prompt, decoded, {})
    for batch, prompt, decoded, length in _STATIC_RUNS:
        yield Run("static", dtype, batch, prompt, decoded, {"max_cache_len": length})
    if name in _QUANTISED_MODELS:
        for settings in _QUANTISED:
            if settings["backend"] == "fp8" and not hasattr(cache_utils, "Fp8QuantizedLayer"):
                continue
            for batch, prompt, decoded in _QUANTISED_RUNS:
                yield Run("quantised", dtype, batch, prompt, decoded, settings)


def _filled(model: Any, group: str, run: Run) -> Any:
    """The cache after the run; None where the model has none."""
    torch.manual_seed(1)
    inputs = _inputs(model, group, run)
    with torch.inference_mode():
        if run.implementation == "encoder":
            return getattr(model(**inputs), "past_key_values", None)
        if run.implementation == "generate":
            return _generated(model, inputs, run)
        cache = _empty(model, group, run)
        keyword = _keyword(model)
        tokens = "decoder_input_ids" if group == "encoder and decoder" else "input_ids"
        for _ in range(run.decoded + 1):
            outputs = model(**inputs, **{keyword: cache}, use_cache=True)
            inputs[tokens] = torch.randint(3, 60, (run.batch, 1))
            if group == "encoder and decoder":
                inputs["encoder_outputs"] = (outputs.encoder_last_hidden_state,)
                inputs.pop("input_ids", None)
                inputs.pop("input_features", None)
        return cache


def _generated(model: Any, inputs: dict[str, Any], run: Run) -> Any:
    outputs = model.generate(
        **inputs, do_sample=False, num_beams=1, return_dict_in_generate=True,
        min_new_tokens=run.decoded + 1, max_new_tokens=run.decoded + 1,
    )  # fmt: skip
    return outputs.past_key_values


def _inputs(model: Any, group: str, run: Run) -> dict[str, Any]:
    tokens = torch.randint(3, 60, (run.batch, run.prompt))
    if group != "encoder and decoder":
        return {"input_ids": tokens}
    # Without this token in front, generate adds it.
    tokens[:, 0] = model.config.decoder_start_token_id
    if model.main_input_name == "input_features":
        frames = 2 * model.config.max_source_positions
        shape = (run.batch, model.config.num_mel_bins, frames)
        return {
            "input_features": torch.randn(shape, dtype=model.dtype),
            "decoder_input_ids": tokens,
        }
    encoded = torch.randint(3, 60, (run.batch, ENCODER_TOKENS))
    return {"input_ids": encoded, "decoder_input_ids": tokens}


def _encoder_tokens(model: Any, group: str) -> dict[str, int]:
    if group != "encoder and decoder":
        return {}
    if model.main_input_name == "input_features":
        return {"encoder_tokens": model.config.max_source_positions}
    return {"encoder_tokens": ENCODER_TOKENS}


def _empty(model: Any, group: str, run: Run) -> Any:
    config = model.config
    if run.implementation == "quantised":
        settings = dict(run.settings)
        return transformers.QuantizedCache(settings.pop("backend"), config, **settings)
    if run.implementation == "static":
        own = transformers.StaticCache(config=config, **run.settings)
    else:
        own = transformers.DynamicCache(config=config)
    if group != "encoder and decoder":
        return own
    return transformers.EncoderDecoderCache(own, transformers.DynamicCache(config=config))


def _keyword(model: Any) -> str:
    """The argument that takes a cache, which has had several names."""
    parameters = inspect.signature(model.forward).parameters
    return next(each for each in ("cache", "cache_params", "past_key_values") if each in parameters)


def _bytes(cache: Any) -> dict[str, int]:
    found = list({id(each): each for each in _tensors(cache, set())}.values())
    counters = [each for each in found if each.dtype == torch.int64 and each.numel() == 1]
    data = [each for each in found if not any(each is counter for counter in counters)]
    storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in data}
    return {
        "tensors": sum(each.nbytes for each in data),
        "storage": sum(each.nbytes() for each in storages.values()),
        "counters": sum(each.nbytes for each in counters),
    }


def _tensors(value: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    """All tensors that hang on a cache; a tensor made of others gives those."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        if hasattr(value, "__tensor_flatten__"):
            for name in value.__tensor_flatten__()[0]:
                yield from _tensors(getattr(value, name), seen)
        else:
            yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each, seen)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each, seen)
    elif isinstance(value, _PARTS_OF_A_CACHE):
        yield from _tensors(vars(value), seen)
