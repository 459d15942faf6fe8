"""`upheld memory`: the memory ledger of a deployment, or of a model's config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from upheld.arithmetic.config_json import (
    MAX_BYTES,
    MAX_COUNT,
    ConfigError,
    ConfigShape,
    read_config,
)
from upheld.arithmetic.dtypes import KV_CACHE_BYTES, OF_TORCH, WEIGHT_BYTES
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.ledger import ENGINES, Ledger, ledger
from upheld.cli import CLEAN, FINDINGS, CouldNotRun
from upheld.cli.options import format_option, open_corpus, root_option
from upheld.corpus.files import FileError, read_regular
from upheld.records.units import Quantity, QuantityError, parse_number, parse_quantity
from upheld.report.escape import printable


def _memory(text: str) -> Quantity:
    return _quantity(text, "memory")


def _tokens(text: str) -> Quantity:
    return _quantity(f"{text} tokens" if text[-1:].isdigit() else text, "tokens")


def _quantity(text: str, dimension: str) -> Quantity:
    try:
        quantity = parse_quantity(text, dimension)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if quantity.value <= 0:
        raise click.BadParameter(f"{text!r} is not above 0")
    return quantity


def _share(text: str) -> Fraction:
    try:
        share = parse_number(text)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if not 0 < share <= 1:
        raise click.BadParameter(f"{text!r} is not above 0 and at most 1")
    return share


def _count(text: str) -> int:
    plain = text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_COUNT))
    if not plain or not 1 <= int(text) <= MAX_COUNT:
        raise click.BadParameter(f"{text!r} is not a whole number from 1 to {MAX_COUNT:,}")
    return int(text)


@dataclass(frozen=True, slots=True)
class _Stated:
    size: Quantity
    origin: str


@dataclass(frozen=True, slots=True)
class _CommandLine:
    """The choices of a deployment, from options; `origins` says which were left to a default."""

    engine: str
    weight_dtype: str
    weight_group_size: int | None
    kv_cache_dtype: str
    block_size: int
    tensor_parallel: int
    gpu_memory_utilization: Fraction
    max_model_len: Quantity
    max_num_seqs: int
    runtime_memory: _Stated | None
    origins: Mapping[str, str]
    id: str = "the command line"
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _DeviceOption:
    memory: Quantity
    origin: str = "--device-memory"
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Answer:
    title: str
    ledger: Ledger
    notes: tuple[str, ...] = ()


_BY_THE_ENGINE = "vLLM's default"


@click.command()
@click.argument("deployment", required=False)
@root_option
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A model's config.json.",
)
@click.option("--engine", type=click.Choice(ENGINES), help="The engine that serves it.")
@click.option(
    "--device-memory",
    type=_memory,
    metavar="MEMORY",
    help="Memory as the driver reports it, such as '80 GiB'.",
)
@click.option(
    "--runtime-memory",
    type=_memory,
    metavar="MEMORY",
    help="Activations, graphs and context of one device, if known. Never worked out.",
)
@click.option(
    "--weight-dtype",
    type=click.Choice(list(WEIGHT_BYTES)),
    help="How weights are stored; by default as config.json says.",
)
@click.option(
    "--weight-group-size",
    type=_count,
    metavar="N",
    help="Inputs that share a scale; with int4, and only then.",
)
@click.option(
    "--kv-cache-dtype",
    type=click.Choice(["auto", *KV_CACHE_BYTES]),
    help="How the cache is stored; by default auto: the model's dtype, however weights are.",
)
@click.option(
    "--block-size",
    type=_count,
    metavar="N",
    help="Tokens of a cache block; by default 16.",
)
@click.option(
    "--tensor-parallel",
    "--tp",
    type=_count,
    metavar="N",
    help="Devices of one replica; by default 1.",
)
@click.option(
    "--gpu-memory-utilization",
    type=_share,
    metavar="SHARE",
    help="Share of device memory that the engine uses; by default 0.9.",
)
@click.option(
    "--max-model-len",
    type=_tokens,
    metavar="TOKENS",
    help="Context limit; by default max_position_embeddings.",
)
@click.option(
    "--max-num-seqs",
    type=_count,
    metavar="N",
    help="Sequences held at once; by default 1.",
)
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    deployment: str | None,
    root: Path,
    config: Path | None,
    format_: str,
    **options: Any,
) -> None:
    """The memory ledger of one device: weights, KV cache, runtime, and what then fits.

    It is arithmetic from shapes. It measures nothing, and says nothing about speed.

    \b
    Examples:
      upheld memory one-device
      upheld memory --config config.json --engine vllm --device-memory '80 GiB' \\
          --runtime-memory '4 GiB' --max-model-len 8192 --max-num-seqs 32
      upheld memory --config config.json --engine vllm --device-memory '24 GiB' \\
          --weight-dtype int4 --weight-group-size 128 --kv-cache-dtype fp8

    Exit codes: 0 it fits, 1 it does not, 2 it could not be worked out. Without --runtime-memory
    the answer is about weights and KV cache alone, and says so.
    """  # click wants the backspace itself
    chosen = {name: value for name, value in options.items() if value is not None}
    if (deployment is None) == (config is None):
        raise CouldNotRun(
            "one of DEPLOYMENT and --config is needed, and not both",
            "upheld memory -h shows an example of each",
        )
    if config is not None:
        answer = _of_config(config, chosen)
    elif chosen:
        raise CouldNotRun(
            f"{', '.join(map(_option, chosen))}: only with --config",
            "a deployment's record says these itself; change it there",
        )
    else:
        answer = _of_deployment(root, str(deployment))
    if format_ == "json":
        from upheld.report.json_text import json_text
        from upheld.report.memory_json import ledger_as_json

        click.echo(json_text(ledger_as_json(answer.ledger, answer.notes)))
    else:
        from upheld.report.memory_text import ledger_as_text

        click.echo(ledger_as_text(answer.title, answer.ledger, answer.notes))
    ctx.exit(CLEAN if answer.ledger.fits else FINDINGS)


def _of_config(file: Path, chosen: Mapping[str, Any]) -> _Answer:
    missing = [name for name in ("engine", "device_memory") if name not in chosen]
    if missing:
        raise CouldNotRun(
            f"--config needs {' and '.join(map(_option, missing))}",
            "for example: --engine vllm --device-memory '80 GiB'",
        )
    shown = printable(str(file))
    try:
        shape = read_config(read_regular(file, MAX_BYTES), file.name)
        choices = _choices(shape, chosen)
        found = ledger(choices, shape, _DeviceOption(chosen["device_memory"]))
    except FileError as error:
        raise CouldNotRun(str(error), error.help) from None
    except ConfigError as error:
        raise CouldNotRun(f"{shown}: {error}", error.help) from None
    except ShapeError as error:
        raise CouldNotRun(
            f"{shown}: {error}",
            f"change {error.field}, in the file or by its option, or what it has to go with",
        ) from None
    notes = [f"Assumed: {sentence}." for sentence in shape.assumed]
    longest = shape.max_position_embeddings
    if longest is not None and found.max_model_len > longest:
        notes.append(
            f"{found.max_model_len:,} tokens are beyond max_position_embeddings, {longest:,}; "
            "vLLM refuses that unless it is told otherwise."
        )
    return _Answer(f"{file.name} ({shape.architecture}) on {choices.engine}", found, tuple(notes))


def _choices(shape: ConfigShape, chosen: Mapping[str, Any]) -> _CommandLine:
    origins: dict[str, str] = {}

    def take(name: str, default: Any, origin: str) -> Any:
        origins[name] = _option(name) if name in chosen else origin
        return chosen.get(name, default)

    stored_as = f"torch_dtype of {shape.origin}"
    weight_dtype = take("weight_dtype", shape.torch_dtype, stored_as)
    if "weight_dtype" not in chosen:
        _check_stored_dtype(shape)
    group_size = take("weight_group_size", None, "not stated")
    if (weight_dtype == "int4") != (group_size is not None):
        raise ShapeError("weight_group_size", "goes with weight_dtype int4, and only with it")

    kv_cache_dtype = take("kv_cache_dtype", "auto", _BY_THE_ENGINE)
    if kv_cache_dtype == "auto":
        # vLLM: the dtype that the model computes in, which quantised weights do not change.
        computes = weight_dtype if weight_dtype in OF_TORCH.values() else shape.torch_dtype
        origins["kv_cache_dtype"] = (
            f"auto: as {origins['weight_dtype'] if computes == weight_dtype else stored_as}"
        )
        kv_cache_dtype = computes
    if kv_cache_dtype is None:
        raise ConfigError("torch_dtype is missing", "say --kv-cache-dtype, such as bf16")

    positions = shape.max_position_embeddings
    if positions is None and "max_model_len" not in chosen:
        raise ConfigError("max_position_embeddings is missing", "say --max-model-len")
    runtime = chosen.get("runtime_memory")
    return _CommandLine(
        engine=chosen["engine"],
        weight_dtype=weight_dtype,
        weight_group_size=group_size,
        kv_cache_dtype=kv_cache_dtype,
        block_size=take("block_size", 16, _BY_THE_ENGINE),
        tensor_parallel=take("tensor_parallel", 1, _BY_THE_ENGINE),
        gpu_memory_utilization=take("gpu_memory_utilization", Fraction(9, 10), _BY_THE_ENGINE),
        max_model_len=take(
            "max_model_len",
            None if positions is None else parse_quantity(f"{positions} tokens"),
            f"max_position_embeddings of {shape.origin}",
        ),
        max_num_seqs=take("max_num_seqs", 1, "this command's default"),
        runtime_memory=None if runtime is None else _Stated(runtime, "--runtime-memory"),
        origins=origins,
    )


def _check_stored_dtype(shape: ConfigShape) -> None:
    say = "say --weight-dtype, such as bf16"
    if shape.quantised:
        raise ConfigError(
            "quantization_config says that the weights are quantised, but not how many bytes "
            "they take",
            "say --weight-dtype, such as fp8, or int4 with --weight-group-size",
        )
    if shape.torch_dtype is None:
        raise ConfigError("torch_dtype is missing", say)
    if shape.torch_dtype == "fp32":
        raise ConfigError(
            "torch_dtype is float32, which vLLM loads at 16 bits unless it is told otherwise", say
        )


def _of_deployment(root: Path, name: str) -> _Answer:
    from upheld.records.deployment import Deployment
    from upheld.records.device import Device
    from upheld.records.model import Model

    corpus = open_corpus(root)

    def find(record_id: str, kind: type[Any]) -> Any:
        record = corpus.get(record_id)
        wanted = kind.__name__.lower()
        if record is None:
            raise CouldNotRun(
                f"there is no {wanted} {record_id!r} in {printable(str(root))}",
                "check the id; a record that could not be read is shown by: upheld check",
            )
        if not isinstance(record, kind):
            raise CouldNotRun(f"{record_id!r} is not a {wanted}", f"name the id of a {wanted}")
        return record

    deployment: Deployment = find(name, Deployment)
    model: Model = find(deployment.model, Model)
    device: Device = find(deployment.device, Device)
    try:
        found = ledger(deployment, model, device)
    except ShapeError as error:
        raise CouldNotRun(
            f"deployment {name}, model {model.id}: {error}",
            f"change {error.field} in the record that states it",
        ) from None
    return _Answer(f"{name}: {model.id} on {deployment.engine}, {device.id}", found)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
