"""What loading the weights took, as vLLM printed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from engine_report_checks.configurations import configuration
from engine_report_checks.predictions import NotPredicted, row_of, why_not
from engine_report_checks.reading import as_scored
from upheld.arithmetic.configs import ConfigError
from upheld.arithmetic.configs.weighed import weight_facts
from upheld.arithmetic.weights import weights
from upheld.arithmetic.weights.quantisation import of_quantization_config
from upheld.judge.beside.figures import GIB, Check, same_digits

# compressed-tensors does not print its scheme: eight bits with channel scales are taken, which
# fp8 and int8 share; for GPTQ the usual groups of 128.
QUANTISATIONS = {"compressed-tensors": ("fp8", None), "gptq_marlin": ("int4_gptq", 128)}


def score_weights(
    reports: Sequence[Mapping[str, Any]], shapes: Mapping[str, Any]
) -> dict[str, Any]:
    """What loading the model took, as vLLM printed it, apart from the KV figures."""
    rows = []
    for report in reports:
        printed = _printed(report)
        if printed is None:
            continue
        try:
            stated = as_scored(report)
            size = _loading_bytes(stated, configuration(stated, shapes))
            check = same_digits("model_loading_gib", printed, Fraction(size, GIB))
            rows.append({"id": report.get("id"), **row_of(check)})
        except Exception as error:
            unknown = Check("model_loading_gib", printed, None, "not-predicted")
            rows.append({"id": report.get("id"), **row_of(unknown), "reason": why_not(error)})
    exact = sum(row["verdict"] == "exact" for row in rows)
    return {"exact": exact, "total": len(rows), "rows": rows}


def _printed(report: Mapping[str, Any]) -> str | None:
    """What loading took, or None where the case does not say or has no figures at all."""
    try:
        return as_scored(report)["reported"].get("model_loading_gib")
    except NotPredicted:
        return None


def _loading_bytes(report: Mapping[str, Any], shape: Mapping[str, Any]) -> int:
    arguments = report["arguments"]
    facts = _weight_facts(shape)
    limit = arguments.get("max_model_len") or 0
    if limit > facts["max_position_embeddings"]:
        # Only a scaling of the positions allows this, and its table covers the limit.
        facts["max_position_embeddings"] = limit
    if arguments.get("speculative"):
        raise NotPredicted("the weights of a drafter are not known")
    dtype, group = _stored(arguments, shape)
    found = weights(
        SimpleNamespace(
            id=str(report.get("id")),
            weight_dtype=dtype,
            weight_group_size=group,
            tensor_parallel=arguments.get("tensor_parallel_size") or 1,
        ),
        SimpleNamespace(origin="shapes", origins={}, weights_unknown=None, **facts),
        arguments.get("tensor_parallel_size") or 1,
        pipeline_parallel=arguments.get("pipeline_parallel_size") or 1,
    )
    return found.bytes


def _stored(arguments: Mapping[str, Any], shape: Mapping[str, Any]) -> tuple[str, int | None]:
    """Weight dtype and group size: of the model's own file where it is known, or as printed."""
    try:
        stated = of_quantization_config(shape)
    except ConfigError as error:
        raise NotPredicted(str(error)) from None
    if stated is not None:
        return stated.weight_dtype, stated.group_size
    quantisation = arguments.get("quantization")
    if not quantisation:
        return {"float32": "fp32", "float16": "fp16"}.get(arguments.get("dtype"), "bf16"), None
    if quantisation not in QUANTISATIONS:
        raise NotPredicted(f"the quantisation {quantisation} is not known")
    return QUANTISATIONS[quantisation]


def _weight_facts(shape: Mapping[str, Any]) -> dict[str, Any]:
    if shape.get("has_vision_config") and "vision" not in shape:
        raise NotPredicted("the facts of the vision tower are not in the shape")
    if not shape.get("model_type"):
        raise NotPredicted("model_type is not in the shape")
    try:
        facts, assumed = weight_facts(shape, str(shape.get("model_type")))
    except ConfigError as error:
        raise NotPredicted(str(error)) from None
    # Shapes are extracts: what they leave out is not what the model's file leaves out. Those who
    # made them left out a head_dim that follows from the other widths.
    for sentence in assumed:
        name = sentence.partition(" is ")[0]
        if name != "head_dim":
            raise NotPredicted(f"{name} is not in the shape")
    return facts | {"parameters": shape.get("parameters"), "vision": shape.get("vision")}
