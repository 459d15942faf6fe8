"""hf-vram-calc: its formula for the cache, split over devices as it splits memory."""

from __future__ import annotations

from memory_calculator_checks.adapters.asks import Ask, CacheGib, NoAnswer

DISTRIBUTION = "hf-vram-calc"
DTYPES = ("fp32", "fp16", "bf16", "fp8")


def cache_gib(ask: Ask) -> CacheGib:
    """The model is given as its own ModelConfig, so that no family is refused."""
    from hf_vram_calc import ConfigManager, VRAMCalculator
    from hf_vram_calc.models import ModelConfig
    from hf_vram_calc.parallel import ParallelizationCalculator

    if ask.context_parallel > 1:
        raise NoAnswer("it has no split of the context")
    if ask.dtype not in DTYPES:
        raise NoAnswer(f"it has no cache dtype {ask.dtype}")
    calculator = VRAMCalculator(ConfigManager())
    model = ModelConfig(
        model_name=ask.id,
        vocab_size=ask.config["vocab_size"],
        hidden_size=ask.config["hidden_size"],
        num_layers=ask.config["num_hidden_layers"],
        num_attention_heads=ask.config["num_attention_heads"],
        num_key_value_heads=ask.config["num_key_value_heads"],
    )

    def cache(context: int) -> float:
        whole = calculator.calculate_kv_cache_memory(model, ask.dtype, 1, context)
        return ParallelizationCalculator.calculate_combined_parallel(
            whole, tp_size=ask.tensor_parallel, pp_size=ask.pipeline_parallel
        )

    return cache
