"""llm-mem-planner: its latent cache and index cache of one rank."""

from __future__ import annotations

import math

from memory_calculator_checks.adapters.asks import Ask, CacheGib, NoAnswer

DISTRIBUTION = "llm-mem-planner"


def cache_gib(ask: Ask) -> CacheGib:
    """Raises NoAnswer for models without latent attention, which its own command refuses."""
    from llm_mem_planner import cli

    if ask.pipeline_parallel > 1:
        raise NoAnswer("it has no pipeline split")
    try:
        dtype_bytes = cli.dtype_bytes_from_str(ask.dtype)
    except ValueError as error:
        raise NoAnswer(f"it has no cache dtype {ask.dtype}") from error
    model = cli.load_dims(dict(ask.config))
    if not model.kv_lora_rank:
        raise NoAnswer("it counts latent caches only")

    def cache(context: int) -> float:
        own = math.ceil(context / ask.context_parallel)
        latent = cli.estimate_kv_cache_gib(model, batch=1, seq_len=own, kv_dtype_bytes=dtype_bytes)
        return latent + (cli.estimate_nsa_index_cache_gib(model, batch=1, seq_len=own) or 0)

    return cache
