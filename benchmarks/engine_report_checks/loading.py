"""What loading the weights took, as vLLM printed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from engine_report_checks.predictions import NotPredicted, row_of
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.weights import weights
from upheld.judge.beside.figures import GIB, Check, same_digits

# What a model_type implies that its config.json does not say.
IMPLIED: dict[str, dict[str, Any]] = {
    "llama": {},
    "mixtral": {},
    "qwen2": {"qkv_bias": True},
    "qwen3": {"qk_norm": True},
    "qwen3_moe": {"qk_norm": True},
    "deepseek_v2": {"attention": "latent"},
}
# compressed-tensors does not print its scheme: eight bits with channel scales are taken, which
# fp8 and int8 share; for GPTQ the usual groups of 128.
QUANTISATIONS = {"compressed-tensors": ("fp8", None), "gptq_marlin": ("int4_gptq", 128)}
COUNTS = (
    "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size",
    "intermediate_size", "vocab_size", "max_position_embeddings",
)  # fmt: skip  # fmt: skip


def score_weights(
    reports: Sequence[Mapping[str, Any]], shapes: Mapping[str, Any]
) -> dict[str, Any]:
    """What loading the model took, as vLLM printed it, apart from the KV figures."""
    rows = []
    for report in reports:
        if "model_loading_gib" not in report["reported"]:
            continue
        printed = report["reported"]["model_loading_gib"]
        try:
            size = _loading_bytes(report, shapes.get(report["model_shape"]) or {})
            check = same_digits("model_loading_gib", printed, Fraction(size, GIB))
            rows.append({"id": report["id"], **row_of(check)})
        except (NotPredicted, ShapeError) as error:
            unknown = Check("model_loading_gib", printed, None, "not-predicted")
            rows.append({"id": report["id"], **row_of(unknown), "reason": str(error)})
    exact = sum(row["verdict"] == "exact" for row in rows)
    return {"exact": exact, "total": len(rows), "rows": rows}


def _loading_bytes(report: Mapping[str, Any], shape: Mapping[str, Any]) -> int:
    arguments = report["arguments"]
    facts = _weight_facts(shape)
    limit = arguments.get("max_model_len") or 0
    if limit > facts["max_position_embeddings"]:
        # Only a scaling of the positions allows this, and its table covers the limit.
        facts["max_position_embeddings"] = limit
    dtype = {"float32": "fp32", "float16": "fp16"}.get(arguments.get("dtype") or "", "bf16")
    group = None
    if quantisation := arguments.get("quantization"):
        if quantisation not in QUANTISATIONS:
            raise NotPredicted(f"the quantisation {quantisation} is not known")
        dtype, group = QUANTISATIONS[quantisation]
    if arguments.get("speculative"):
        raise NotPredicted("the weights of a drafter are not known")
    found = weights(
        SimpleNamespace(
            id=report["id"],
            weight_dtype=dtype,
            weight_group_size=group,
            tensor_parallel=arguments.get("tensor_parallel_size") or 1,
        ),
        SimpleNamespace(origin="shapes", origins={}, weights_unknown=None, **facts),
        arguments.get("tensor_parallel_size") or 1,
        pipeline_parallel=arguments.get("pipeline_parallel_size") or 1,
    )
    return found.bytes


def _weight_facts(shape: Mapping[str, Any]) -> dict[str, Any]:
    if shape.get("has_vision_config"):
        raise NotPredicted("the weights of a vision tower are not known")
    for name in (*COUNTS, "tie_word_embeddings"):
        if shape.get(name) is None:
            raise NotPredicted(f"{name} is not in the shape")
    kind = shape.get("model_type")
    if kind not in IMPLIED:
        raise NotPredicted(f"the tensors of the model_type {kind} are not known")
    heads = shape["num_attention_heads"]
    facts: dict[str, Any] = {"attention": "full", "qkv_bias": False, "qk_norm": False}
    facts |= {name: value for name, value in shape.items() if name.isidentifier()}
    facts |= {"head_dim": shape.get("head_dim") or shape["hidden_size"] // heads}
    facts.setdefault("parameters", None)
    experts = ("num_experts", "num_local_experts", "n_routed_experts")
    if counts := [shape[name] for name in experts if name in shape]:
        facts["num_experts"] = counts[0]
        facts.setdefault("moe_intermediate_size", shape["intermediate_size"])
        shared = shape.get("n_shared_experts", 0) * facts["moe_intermediate_size"]
        facts.setdefault("shared_expert_intermediate_size", shared)
    for name in ("source", "kv_layers", "origin", "origins"):
        facts.pop(name, None)
    return facts | IMPLIED[kind]
