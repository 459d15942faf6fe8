"""`upheld memory`: the memory ledger of a deployment, or of a model's config.json."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import click

from upheld.arithmetic.dtypes import KV_CACHE, KV_CACHE_ALIASES, WEIGHT_BYTES
from upheld.arithmetic.engines import ENGINES
from upheld.cli import CLEAN, FINDINGS, CouldNotRun, quantities
from upheld.cli.memory_answer import Question, answer, of_config, of_deployment
from upheld.cli.memory_choices import option_of
from upheld.cli.memory_sweep import axis
from upheld.cli.options import root_option


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
    "--engine-version",
    metavar="VERSION",
    help="Such as 0.11.2; by default one that the arithmetic was read in.",
)
@click.option(
    "--device-memory",
    type=quantities.memory,
    metavar="MEMORY",
    help="Memory as the driver reports it, such as '80 GiB'.",
)
@click.option(
    "--runtime-memory",
    type=quantities.memory,
    metavar="MEMORY",
    help="Activations, graphs and context of one device, if known. Never worked out.",
)
@click.option(
    "--weights-memory",
    type=quantities.memory,
    metavar="MEMORY",
    help="Weights of one device, where the file's shape does not give them.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The weights as stored: a safetensors index or file, or a GGUF file.",
)
@click.option(
    "--weight-dtype",
    type=click.Choice(list(WEIGHT_BYTES)),
    help="How weights are stored; by default as config.json says.",
)
@click.option(
    "--weight-group-size",
    type=quantities.count,
    metavar="N",
    help="Inputs that share a scale; with int4, int4_awq and int4_gptq, and only then.",
)
@click.option(
    "--kv-cache-dtype",
    type=click.Choice(["auto", *KV_CACHE, *KV_CACHE_ALIASES]),
    metavar="DTYPE",
    help="How the cache is stored, such as fp8 or q8_0; by default as the model computes.",
)
@click.option(
    "--block-size",
    type=quantities.count,
    metavar="N",
    help="Tokens of a cache block or page; by default the engine's.",
)
@click.option(
    "--tensor-parallel",
    "--tp",
    type=quantities.count,
    metavar="N",
    help="Devices that share each layer; by default 1.",
)
@click.option(
    "--pipeline-parallel",
    "--pp",
    type=quantities.count,
    metavar="N",
    help="Stages that the layers are shared out to; by default 1.",
)
@click.option(
    "--data-parallel",
    "--dp",
    type=quantities.count,
    metavar="N",
    help="Groups of such devices in a replica, each with its own cache; by default 1.",
)
@click.option(
    "--decode-context-parallel",
    "--dcp",
    type=quantities.count,
    metavar="N",
    help="Tensor-parallel ranks that share the tokens of a sequence; by default 1.",
)
@click.option(
    "--expert-parallel",
    is_flag=True,
    default=None,
    help="Ranks share out whole experts, and not parts of each.",
)
@click.option(
    "--gpu-memory-utilization",
    type=quantities.share,
    metavar="SHARE",
    help="Share of memory that the engine is given, whatever it calls it; by default its own.",
)
@click.option(
    "--kv-cache-memory",
    type=quantities.memory,
    metavar="MEMORY",
    help="Memory for the cache of one device, such as one that an engine printed.",
)
@click.option(
    "--max-model-len",
    type=quantities.tokens,
    metavar="TOKENS",
    help="Context limit; by default max_position_embeddings.",
)
@click.option(
    "--max-num-seqs",
    type=quantities.count,
    metavar="N",
    help="Sequences held at once; by default 1.",
)
@click.option(
    "--max-num-batched-tokens",
    type=quantities.count,
    metavar="N",
    help="Tokens of a step, which windows make room for; by default as `vllm serve` has it.",
)
@click.option(
    "--prefix-caching",
    is_flag=True,
    default=None,
    help="Prefixes are shared: a state then takes one more block a sequence.",
)
@click.option(
    "--sweep",
    "axes",
    type=axis,
    multiple=True,
    metavar="NAME=VALUES",
    help="One row for each value, as 1,2,4 or 1024..65536*2; several make a product.",
)
@click.option(
    "--compare",
    "devices",
    type=quantities.count,
    metavar="N",
    help="N devices as N replicas, beside one replica over all N, by layer or in stages.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="For people, or for scripts; csv with --sweep.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    deployment: str | None,
    root: Path,
    config: Path | None,
    axes: tuple[tuple[str, list[Any]], ...],
    devices: int | None,
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
      upheld memory one-device --sweep max-num-seqs=1..64*2 --sweep max-model-len=4096,8192

    Exit codes: 0 it fits, or is a sweep or comparison; 1 it does not; 2 it could not be worked
    out. Without --runtime-memory the answer is about weights and KV cache alone, and says so.
    """  # click wants the backspace itself
    chosen = {name: value for name, value in options.items() if value is not None}
    if (deployment is None) == (config is None):
        raise CouldNotRun(
            "one of DEPLOYMENT and --config is needed, and not both",
            "upheld memory -h shows an example of each",
        )
    if config is not None:
        question = of_config(config, chosen)
    elif chosen:
        raise CouldNotRun(
            f"{', '.join(map(option_of, chosen))}: only with --config",
            "a deployment's record says these itself; change it there",
        )
    else:
        question = of_deployment(root, str(deployment))
    if devices == 1:
        raise CouldNotRun("--compare 1 compares one device with itself", "name at least 2 devices")
    if axes and devices:
        raise CouldNotRun("--sweep and --compare are two questions", "ask one at a time")
    if axes:
        by_name = dict(axes)
        if len(by_name) < len(axes):
            raise CouldNotRun("--sweep varies a name twice", "name it once, with all its values")
        _echo_sweep(question, by_name, format_)
        ctx.exit(CLEAN)
    if format_ == "csv":
        raise CouldNotRun("csv is the format of a sweep", "say --sweep, or --format json")
    if devices is not None:
        _echo_ways(question, devices, format_)
        ctx.exit(CLEAN)
    found = answer(question)
    if format_ == "json":
        from upheld.report.json_text import json_text
        from upheld.report.memory_json import ledger_as_json

        click.echo(json_text(ledger_as_json(found, question.notes())))
    else:
        from upheld.report.memory_text import ledger_as_text

        click.echo(ledger_as_text(question.title, found, question.notes()))
    ctx.exit(CLEAN if found.fits else FINDINGS)


def _echo_sweep(question: Question, axes: dict[str, list[Any]], format_: str) -> None:
    from upheld.arithmetic.sweep import MAX_POINTS, sweep
    from upheld.report.json_text import json_text
    from upheld.report.memory_sweep import sweep_as_csv, sweep_as_json, sweep_as_text

    size = prod(len(values) for values in axes.values())
    if size > MAX_POINTS:
        raise CouldNotRun(f"the sweep has {size:,} points", f"at most {MAX_POINTS:,}")
    points = list(sweep(question.deployment, question.model, question.device, axes))
    notes = question.notes(axes.get("max_model_len", ()))
    match format_:
        case "json":
            click.echo(json_text(sweep_as_json(points, notes)))
        case "csv":
            click.echo(sweep_as_csv(points), nl=False)
        case _:
            click.echo(sweep_as_text(question.title, points, notes))


def _echo_ways(question: Question, devices: int, format_: str) -> None:
    from upheld.arithmetic.compare import ways_to_use
    from upheld.report.json_text import json_text
    from upheld.report.memory_compare import ways_as_json, ways_as_text

    ways = ways_to_use(question.deployment, question.model, question.device, devices)
    if format_ == "json":
        click.echo(json_text(ways_as_json(ways, question.notes())))
    else:
        click.echo(ways_as_text(question.title, ways, question.notes()))
