"""vramscout: the parts of its plan for one rank that hold cache or state."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from memory_calculator_checks.adapters.asks import Ask, CacheGib, NoAnswer

DISTRIBUTION = "vramscout"
DTYPES = ("fp32", "fp16", "bf16", "fp8")
NOT_CACHE = {"Model weights / rank", "CUDA / runtime", "Prefill scratch", "Safety reserve"}
# The cache of a plan does not depend on the device: this one is never too small.
AMPLE_GIB = 1e6


def cache_gib(ask: Ask) -> CacheGib:
    """Raises NoAnswer for what the tool has no option for, and where it refuses."""
    from vramscout import modern_v06
    from vramscout.modern_v07 import plan_modern

    if ask.pipeline_parallel > 1:
        raise NoAnswer("it has no pipeline split")
    if ask.dtype not in DTYPES:
        raise NoAnswer(f"it has no cache dtype {ask.dtype}")
    # It asks the Hub for the number of parameters and refuses some models without it. No cache
    # depends on that number, so any will do here.
    modern_v06._selected_hub_metadata = lambda model, revision: (1, None)
    folder = tempfile.TemporaryDirectory()  # gone with the function that holds it
    Path(folder.name, "config.json").write_text(json.dumps(ask.config), "utf-8")

    def cache(context: int) -> float:
        try:
            plan = plan_modern(
                folder.name,
                context=context,
                weight_dtype="bf16",
                kv_dtype=ask.dtype,
                tp=ask.tensor_parallel,
                dcp=ask.context_parallel,
                vram_gib=AMPLE_GIB,
                engine="vllm" if ask.engine.startswith("vllm") else "generic",
            )
        except (RuntimeError, ValueError) as error:
            raise NoAnswer(f"it refuses: {error}") from error
        return sum(size for part, size in plan.parts_gib.items() if part not in NOT_CACHE)

    return cache
