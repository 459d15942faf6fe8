"""A deployment: the supported envelope in which a model is served."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from upheld.records.claim import Claim
from upheld.records.types import (
    AssumptionRef,
    Count,
    DeviceRef,
    Flag,
    Line,
    Memory,
    ModelRef,
    OriginRef,
    Part,
    Record,
    Share,
    Text,
    Tokens,
)

WeightDtype = Literal["fp32", "bf16", "fp16", "fp8", "int8", "int4"]
KvCacheDtype = Literal["fp32", "bf16", "fp16", "fp8", "int8"]


class StatedMemory(Part):
    """Memory of one device that is stated and not derived, with where the figure came from."""

    size: Memory
    origin: OriginRef


class Deployment(Record):
    """One replica of a model on devices of one kind, with the limits that it supports.

    Names are vLLM's where it has one. Weight and KV cache dtypes are separate: quantising the
    weights does not change how the cache is stored. `runtime_memory` is activations, CUDA graphs,
    context and fragmentation; `weight_memory` takes the place of what the shape would give.
    """

    kind: Literal["deployment"]
    model: ModelRef
    device: DeviceRef
    device_count: Count
    engine: Line
    engine_version: Line
    weight_dtype: WeightDtype
    weight_group_size: Count | None = None
    kv_cache_dtype: KvCacheDtype
    block_size: Count
    tensor_parallel: Count = 1
    gpu_memory_utilization: Share
    max_model_len: Tokens
    max_output_tokens: Tokens
    max_num_seqs: Count
    max_num_batched_tokens: Count | None = None
    prefix_caching: Flag
    speculative_decoding: Line = "none"
    runtime_memory: StatedMemory
    weight_memory: StatedMemory | None = None
    replicas: Count = 1
    assumes: list[AssumptionRef] = []
    claims: list[Claim] = []
    notes: Text | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Deployment:
        if self.tensor_parallel > self.device_count:
            raise ValueError(
                f"tensor_parallel {self.tensor_parallel} needs more devices than "
                f"device_count {self.device_count}"
            )
        if (self.weight_dtype == "int4") != (self.weight_group_size is not None):
            raise ValueError("weight_group_size goes with weight_dtype: int4, and only with it")
        if self.max_output_tokens.base >= self.max_model_len.base:
            raise ValueError("max_output_tokens leaves no room for a prompt in max_model_len")
        return self
