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

WeightDtype = Literal[
    "fp32", "bf16", "fp16", "fp8", "fp8_tensor", "fp8_block", "int8", "int4", "int4_awq",
    "int4_gptq", "mxfp4", "nvfp4", "nf4",
]  # fmt: skip
KvCacheDtype = Literal[
    "fp32", "bf16", "fp16", "fp8", "int8", "int4", "fp4", "fp8_per_token_head",
    "int8_per_token_head", "int4_per_token_head", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl",
]  # fmt: skip


class StatedMemory(Part):
    """Memory of one device that is stated and not derived, with where the figure came from."""

    size: Memory
    origin: OriginRef


class Deployment(Record):
    """One replica of a model on devices of one kind, with the limits that it supports.

    Names are vLLM's where it has one, also for what another engine calls otherwise:
    `gpu_memory_utilization` is any engine's share of memory, `block_size` its tokens a block or
    page. Weight and KV cache dtypes are separate: quantising the weights does not change how the
    cache is stored. `runtime_memory` is activations, CUDA graphs, context and fragmentation;
    `weight_memory` takes the place of what the shape would give, and `kv_cache_memory` of what the
    share of memory leaves for the cache. All three are of one device.
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
    block_size: Count | None = None
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    data_parallel: Count = 1
    decode_context_parallel: Count = 1
    expert_parallel: Flag = False
    gpu_memory_utilization: Share
    max_model_len: Tokens
    max_output_tokens: Tokens
    max_num_seqs: Count
    max_num_batched_tokens: Count | None = None
    prefix_caching: Flag
    speculative_decoding: Line = "none"
    runtime_memory: StatedMemory
    weight_memory: StatedMemory | None = None
    kv_cache_memory: StatedMemory | None = None
    replicas: Count = 1
    assumes: list[AssumptionRef] = []
    claims: list[Claim] = []
    notes: Text | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Deployment:
        needed = self.tensor_parallel * self.pipeline_parallel * self.data_parallel
        if needed > self.device_count:
            degrees = " × ".join(
                f"{name} {getattr(self, name)}"
                for name in ("tensor_parallel", "pipeline_parallel", "data_parallel")
                if name == "tensor_parallel" or getattr(self, name) > 1
            )
            raise ValueError(f"{degrees} needs more devices than device_count {self.device_count}")
        if self.weight_dtype.startswith("int4") != (self.weight_group_size is not None):
            raise ValueError("weight_group_size goes with weight_dtype: int4, and only with it")
        if self.max_output_tokens.base >= self.max_model_len.base:
            raise ValueError("max_output_tokens leaves no room for a prompt in max_model_len")
        return self
