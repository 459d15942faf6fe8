"""Questions that people asked in public, each answered by one command.

The answers are those of the arithmetic; where a figure was printed or measured in the thread, it
is that figure. The configurations hold what the cache depends on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from upheld.cli import main


def config(architecture: str, model_type: str, layers: int, **fields: Any) -> dict[str, Any]:
    """A config.json with heads of 128 elements and no facts about weights but the plain ones."""
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "num_hidden_layers": layers,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "vocab_size": 32000,
        "max_position_embeddings": 262144,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        **fields,
    }


LLAMA_8B = config("LlamaForCausalLM", "llama", 32, num_attention_heads=32, num_key_value_heads=8)
LLAMA_70B = config("LlamaForCausalLM", "llama", 80, num_attention_heads=64, num_key_value_heads=8)
QWEN_72B = config("Qwen2ForCausalLM", "qwen2", 80, num_attention_heads=64, num_key_value_heads=64)
QWEN_7B = config("Qwen2ForCausalLM", "qwen2", 28, num_attention_heads=28, num_key_value_heads=4)
QWEN3_8B = config("Qwen3ForCausalLM", "qwen3", 36, num_attention_heads=32, num_key_value_heads=8)
QWEN3_235B = config(
    "Qwen3MoeForCausalLM", "qwen3_moe", 94, num_attention_heads=64, num_key_value_heads=4
)
GLM_4_9B = config("LlamaForCausalLM", "llama", 40, num_attention_heads=32, num_key_value_heads=2)
MISTRAL_24B = config(
    "MistralForCausalLM",
    "mistral",
    40,
    num_attention_heads=32,
    num_key_value_heads=8,
    sliding_window=None,
)
GLM_4_7 = config(
    "Glm4MoeForCausalLM", "glm4_moe", 92, num_attention_heads=96, num_key_value_heads=8
)
KIMI_K2 = config(
    "DeepseekV3ForCausalLM",
    "deepseek_v3",
    61,
    num_attention_heads=64,
    num_key_value_heads=64,
    kv_lora_rank=512,
    q_lora_rank=1536,
    qk_rope_head_dim=64,
    qk_nope_head_dim=128,
    v_head_dim=128,
)
GEMMA_4_31B = config(
    "Gemma4ForConditionalGeneration",
    "gemma4_text",
    60,
    num_attention_heads=32,
    num_key_value_heads=16,
    num_kv_shared_layers=0,
    global_head_dim=512,
    num_global_key_value_heads=4,
    attention_k_eq_v=True,
    sliding_window=1024,
    layer_types=(["sliding_attention"] * 5 + ["full_attention"]) * 10,
) | {"head_dim": 256}

# What is asked; the configuration; the options; what the answer says.
QUESTIONS: list[tuple[str, dict[str, Any], str, list[str]]] = [
    (
        "Which share of the device do 50 requests of 3,072 tokens need, with weights of 8 bits?",
        QWEN_7B,
        "--engine vllm --device-memory '24 GiB' --weight-dtype int8 --max-model-len 3072 "
        "--max-num-seqs 50",
        ["one token 57,344 B", "kv_cache 8,808,038,400 B 8.20 GiB", "gpu_memory_utilization 0."],
    ),
    (
        "Do weights of 4 bits make the cache smaller?",
        QWEN3_8B,
        "--engine vllm --device-memory '24 GiB' --weight-dtype int4 --weight-group-size 128",
        ["one token 147,456 B"],
    ),
    (
        "And a cache of 8 bits?",
        QWEN3_8B,
        "--engine vllm --device-memory '24 GiB' --kv-cache-dtype fp8",
        ["one token 73,728 B"],
    ),
    (
        "Does one of 8 stages need all of the 71.16 GiB?",
        GLM_4_7,
        "--engine vllm --device-memory '96 GiB' --pp 8 --max-model-len 202752 "
        "--weights-memory '45 GiB' --kv-cache-memory '28.57 GiB'",
        ["12 full_attention 45.00 GiB 9.28 GiB", "tokens 624,112", "Weights and KV fit"],
    ),
    (
        "Why does a later version print ten times the tokens for the same pool? This one's:",
        GEMMA_4_31B,
        "--engine vllm --engine-version 0.20 --device-memory '96 GiB' --max-model-len 262144 "
        "--weights-memory '20 GiB' --kv-cache-memory '50 GiB'",
        ["tokens 54,608"],
    ),
    (
        "Why does one 72B model take eight times the cache of another?",
        QWEN_72B,
        "--engine llama.cpp --device-memory '80 GiB' --weights-memory '40 GiB' "
        "--max-model-len 8192",
        ["kv_cache 21,474,836,480 B 20.00 GiB 1 slot × 8,192 cells × 80 layers × 64 KV heads"],
    ),
    (
        "And with 8 KV heads?",
        LLAMA_70B,
        "--engine llama.cpp --device-memory '80 GiB' --weights-memory '40 GiB' "
        "--max-model-len 8192",
        ["kv_cache 2,684,354,560 B 2.50 GiB"],
    ),
    (
        "Was the cache of q4_0 that somebody asked an older build for applied on the first device?",
        QWEN_72B,
        "--engine llama.cpp --device-memory '24 GiB' --pp 3 --block-size 1 --max-model-len 13000 "
        "--weights-memory '12 GiB'",
        # 10,968.75 MiB, as was printed: it was f16.
        ["stage 1 27 full_attention 12.00 GiB 10.71 GiB", "kv_cache 11,501,568,000 B"],
    ),
    (
        "Is a cache of q8_0 half of f16, and one of q4_0 a quarter?",
        LLAMA_8B,
        "--engine ollama --device-memory '24 GiB' --max-model-len 32768 --weights-memory '5 GiB' "
        "--sweep kv-cache-dtype=f16,q8_0,q4_0",
        ["fp16 5.00 GiB 4.00 GiB", "q8_0 5.00 GiB 2.12 GiB", "q4_0 5.00 GiB 1.12 GiB"],
    ),
    (
        "How many requests does a pool hold that prints 4.61x for 8,192 tokens?",
        LLAMA_8B,
        "--engine vllm --device-memory '24 GiB' --kv-cache-memory '4.61 GiB' "
        "--sweep max-model-len=8192,800",
        [" 37,760 4 ", " 37,760 47 "],
    ),
    (
        "Does 8-fold tensor parallelism halve a cache of 4 KV heads?",
        QWEN3_235B,
        "--engine vllm --device-memory '141 GiB' --max-model-len 262144 --weights-memory '55 GiB' "
        "--kv-cache-memory '38.63 GiB' --tp 8",
        ["one token 48,128 B", "tokens 861,8"],
    ),
    (
        "And with ranks that share the tokens?",
        QWEN3_235B,
        "--engine vllm --device-memory '141 GiB' --max-model-len 262144 --weights-memory '55 GiB' "
        "--kv-cache-memory '38.628 GiB' --tp 8 --dcp 2",
        ["one token 48,128 B", "tokens 1,723,584", "concurrency 6.57"],
    ),
    (
        "What does each of 8 ranks hold of a latent?",
        KIMI_K2,
        "--engine vllm --device-memory '141 GiB' --max-model-len 131072 --weights-memory '75 GiB' "
        "--kv-cache-memory '46.80 GiB' --tp 8",
        ["one token 70,272 B", "tokens 715,088"],
    ),
    (
        "And with 8 ranks that share the tokens?",
        KIMI_K2,
        "--engine vllm --device-memory '141 GiB' --max-model-len 131072 --weights-memory '75 GiB' "
        "--kv-cache-memory '46.80 GiB' --tp 8 --dcp 8",
        ["tokens 5,720,704", "concurrency 43.6"],
    ),
    (
        "Why does the memory of two devices not halve with a tenth for the cache?",
        GLM_4_9B,
        "--engine lmdeploy --device-memory '24 GiB' --weights-memory '3 GiB' --tp 2 "
        "--gpu-memory-utilization 0.1 --max-model-len 8192",
        ["one token 20,480 B", "left for the KV cache 2,254,857,830 B 2.10 GiB"],
    ),
    (
        "What is a cache of 20,480 tokens in q8_0 and q4_0?",
        MISTRAL_24B,
        "--engine llama.cpp --device-memory '24 GiB' --max-model-len 20480 "
        "--weights-memory '14 GiB' --sweep kv-cache-dtype=f16,q8_0,q4_0",
        ["fp16 14.00 GiB 3.12 GiB", "q8_0 14.00 GiB 1.66 GiB", "q4_0 14.00 GiB 900.00 MiB"],
    ),
    (
        "How many requests of 4,096 tokens do four devices hold?",
        LLAMA_70B,
        "--engine vllm --device-memory '80 GiB' --tp 4 --max-model-len 4096 "
        "--kv-cache-memory '43 GiB'",
        ["one token 81,920 B", "sequences 137 of 4,096 tokens"],
    ),
]


@pytest.mark.parametrize(
    ("fields", "options", "answers"),
    [question[1:] for question in QUESTIONS],
    ids=[question[0] for question in QUESTIONS],
)
def test_one_command_answers(
    fields: dict[str, Any], options: str, answers: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(fields))
    arguments = ["memory", "--config", str(file), *_words(options)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code in (0, 1), result.output
    shown = re.sub(r" +", " ", result.output)
    for answer in answers:
        assert answer in shown, result.output


def _words(options: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", options)]
