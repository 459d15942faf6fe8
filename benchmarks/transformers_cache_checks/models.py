"""Tiny models of each family, from its configuration class; nothing is downloaded.

A model is its architecture's class and the fields that differ from the class's defaults. What the
library makes of them is what `config.json` of the model says.
"""

from __future__ import annotations

from typing import Any

_TINY = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_MULTI_HEAD = {key: value for key, value in _TINY.items() if key != "num_key_value_heads"}
_EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
_LOCAL_EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}
_ROUTED_EXPERTS = {
    "n_routed_experts": 2, "num_experts_per_tok": 1, "n_shared_experts": 1, "n_group": 1,
    "topk_group": 1, "moe_intermediate_size": 16, "first_k_dense_replace": 1,
}  # fmt: skip
_LATENT = {
    "q_lora_rank": 16, "kv_lora_rank": 12, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8,
    "v_head_dim": 6, "num_key_value_heads": 4,
}  # fmt: skip
_GATED = {
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
    "linear_value_head_dim": 6, "linear_conv_kernel_dim": 4,
}  # fmt: skip
_MAMBA_OF_BAMBA = {
    "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 16, "mamba_n_groups": 2,
    "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 8,
}  # fmt: skip
_BART = {
    "vocab_size": 64, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32, "max_position_embeddings": 512, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": None,
}  # fmt: skip
_T5 = {
    "vocab_size": 64, "d_model": 32, "d_kv": 6, "d_ff": 48, "num_layers": 3,
    "num_heads": 4, "decoder_start_token_id": 0,
}  # fmt: skip
_WHISPER = {
    **_BART, "num_mel_bins": 8, "max_source_positions": 24, "max_target_positions": 512,
    "suppress_tokens": None, "begin_suppress_tokens": None,
}  # fmt: skip
_ENCODER = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48,
}  # fmt: skip
_GPT2 = {"vocab_size": 64, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 512}
_SSM = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 3, "state_size": 8, "conv_kernel": 4,
    "expand": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip

MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # Full attention: as many KV heads as heads, groups of heads, one for all.
    "llama, multi-head": ("full attention", "LlamaForCausalLM", {**_TINY, "num_key_value_heads": 4}),
    "llama, grouped": ("full attention", "LlamaForCausalLM", _TINY),
    "llama, multi-query": ("full attention", "LlamaForCausalLM", {**_TINY, "num_key_value_heads": 1}),
    "llama, wide heads": ("full attention", "LlamaForCausalLM", {**_TINY, "head_dim": 16}),
    "qwen3": ("full attention", "Qwen3ForCausalLM", {**_TINY, "head_dim": 12}),
    "qwen2": ("full attention", "Qwen2ForCausalLM", _TINY),
    "gemma": ("full attention", "GemmaForCausalLM", {**_TINY, "head_dim": 16}),
    "phi": ("full attention", "PhiForCausalLM", _TINY),
    "granite": ("full attention", "GraniteForCausalLM", _TINY),
    "olmo2": ("full attention", "Olmo2ForCausalLM", _TINY),
    "olmoe": ("full attention", "OlmoeForCausalLM", {**_TINY, **_EXPERTS}),
    "glm4": ("full attention", "Glm4ForCausalLM", {**_TINY, "head_dim": 16}),
    "gpt2": ("full attention", "GPT2LMHeadModel", _GPT2),
    "gpt_neox": ("full attention", "GPTNeoXForCausalLM", _MULTI_HEAD),
    "opt": ("full attention", "OPTForCausalLM", {**_MULTI_HEAD, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "bloom": ("full attention", "BloomForCausalLM", {"vocab_size": 64, "hidden_size": 32, "n_layer": 3, "n_head": 4}),
    "gpt_bigcode, multi-query": ("full attention", "GPTBigCodeForCausalLM", {**_GPT2, "multi_query": True}),
    "gpt_bigcode, multi-head": ("full attention", "GPTBigCodeForCausalLM", {**_GPT2, "multi_query": False}),
    "falcon, multi-query": ("full attention", "FalconForCausalLM", {**_MULTI_HEAD, "multi_query": True}),
    "falcon, new": ("full attention", "FalconForCausalLM", {**_MULTI_HEAD, "new_decoder_architecture": True, "num_kv_heads": 2}),
    # Windows and chunks.
    "mistral": ("windows", "MistralForCausalLM", {**_TINY, "sliding_window": 16}),
    "mistral, no window": ("windows", "MistralForCausalLM", {**_TINY, "sliding_window": None}),
    "mixtral": ("windows", "MixtralForCausalLM", {**_TINY, **_LOCAL_EXPERTS, "sliding_window": 16}),
    "qwen2, window": ("windows", "Qwen2ForCausalLM", {**_TINY, "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}),
    "phi3": ("windows", "Phi3ForCausalLM", {**_TINY, "sliding_window": 16}),
    "starcoder2": ("windows", "Starcoder2ForCausalLM", {**_TINY, "sliding_window": 16}),
    "gemma2": ("windows", "Gemma2ForCausalLM", {**_TINY, "head_dim": 16, "sliding_window": 16}),
    "gemma3": ("windows", "Gemma3ForCausalLM", {**_TINY, "num_hidden_layers": 7, "head_dim": 16, "sliding_window": 16}),
    "gpt_oss": ("windows", "GptOssForCausalLM", {**_TINY, **_LOCAL_EXPERTS, "head_dim": 8, "sliding_window": 16}),
    "cohere2": ("windows", "Cohere2ForCausalLM", {**_TINY, "sliding_window": 16}),
    "exaone4": ("windows", "Exaone4ForCausalLM", {**_TINY, "sliding_window": 16, "sliding_window_pattern": 4}),
    "olmo3": ("windows", "Olmo3ForCausalLM", {**_TINY, "sliding_window": 16}),
    "smollm3": ("windows", "SmolLM3ForCausalLM", {**_TINY}),
    "afmoe": ("windows", "AfmoeForCausalLM", {**_TINY, "head_dim": 8, "sliding_window": 16, "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}),
    "llama4": ("chunks", "Llama4ForCausalLM", {**_TINY, **_LOCAL_EXPERTS, "intermediate_size_mlp": 48, "head_dim": 8, "attention_chunk_size": 16}),
    # Latent attention.
    "deepseek_v2": ("latent attention", "DeepseekV2ForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS, "topk_method": "greedy"}),
    "deepseek_v3": ("latent attention", "DeepseekV3ForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS}),
    "glm4_moe_lite": ("latent attention", "Glm4MoeLiteForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS}),
    "deepseek_v32": ("latent attention", "DeepseekV32ForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS, "index_head_dim": 8, "index_n_heads": 2, "index_topk": 8}),
    "glm_moe_dsa": ("latent attention", "GlmMoeDsaForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS, "index_head_dim": 8, "index_n_heads": 2, "index_topk": 8}),
    # Layers that share keys and values.
    "gemma3n": ("shared layers", "Gemma3nForCausalLM", {**_TINY, "num_hidden_layers": 6, "intermediate_size": [48] * 6, "head_dim": 8, "sliding_window": 16, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2, "vocab_size_per_layer_input": 64, "hidden_size_per_layer_input": 8, "laurel_rank": 4, "altup_num_inputs": 2, "activation_sparsity_pattern": [0.0] * 6}),
    "gemma4": ("shared layers", "Gemma4ForCausalLM", {**_TINY, "num_hidden_layers": 6, "head_dim": 8, "global_head_dim": 16, "sliding_window": 16, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2, "vocab_size_per_layer_input": 64, "hidden_size_per_layer_input": 8}),
    # Attention beside states.
    "jamba": ("hybrids", "JambaForCausalLM", {**_TINY, "num_experts": 2, "attn_layer_period": 4, "attn_layer_offset": 2, "mamba_d_state": 8, "mamba_dt_rank": 4, "use_mamba_kernels": False}),
    "bamba": ("hybrids", "BambaForCausalLM", {**_TINY, **_MAMBA_OF_BAMBA, "attn_layer_indices": [1]}),
    "granitemoehybrid": ("hybrids", "GraniteMoeHybridForCausalLM", {**_TINY, **_MAMBA_OF_BAMBA, **_LOCAL_EXPERTS, "shared_intermediate_size": 16, "layer_types": ["mamba", "mamba", "attention", "mamba"]}),
    "falcon_h1": ("hybrids", "FalconH1ForCausalLM", {**_TINY, **_MAMBA_OF_BAMBA, "mamba_d_ssm": 64}),
    "nemotron_h": ("hybrids", "NemotronHForCausalLM", {**_TINY, "head_dim": 8, "hybrid_override_pattern": "M*-M", "mamba_num_heads": 8, "mamba_head_dim": 8, "ssm_state_size": 16, "n_groups": 2, "conv_kernel": 4, "chunk_size": 8}),
    "qwen3_next": ("hybrids", "Qwen3NextForCausalLM", {**_TINY, **_GATED, **_EXPERTS, "head_dim": 8, "shared_expert_intermediate_size": 16}),
    "qwen3_5": ("hybrids", "Qwen3_5ForCausalLM", {**_TINY, **_GATED, "head_dim": 8}),
    "kimi_linear": ("hybrids", "KimiLinearForCausalLM", {**_TINY, **_LATENT, **_ROUTED_EXPERTS, "q_lora_rank": None, "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4], "num_heads": 4, "head_dim": 8, "short_conv_kernel_size": 4}}),
    "lfm2": ("hybrids", "Lfm2ForCausalLM", {**_TINY, "conv_L_cache": 3, "layer_types": ["conv", "full_attention", "conv", "conv"]}),
    "lfm2_moe": ("hybrids", "Lfm2MoeForCausalLM", {**_TINY, **_EXPERTS, "num_dense_layers": 1, "conv_L_cache": 3, "layer_types": ["conv", "full_attention", "conv", "conv"]}),
    "recurrent_gemma": ("hybrids", "RecurrentGemmaForCausalLM", {**_TINY, "lru_width": 32, "attention_window_size": 16, "conv1d_width": 4}),
    # States alone.
    "mamba": ("states", "MambaForCausalLM", {**_SSM, "time_step_rank": 4}),
    "mamba, wide": ("states", "MambaForCausalLM", {**_SSM, "expand": 3, "time_step_rank": 4}),
    "falcon_mamba": ("states", "FalconMambaForCausalLM", {**_SSM, "time_step_rank": 4}),
    "mamba2": ("states", "Mamba2ForCausalLM", {**_SSM, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 8}),
    # A decoder that also attends to an encoder.
    "t5": ("encoder and decoder", "T5ForConditionalGeneration", _T5),
    "mt5": ("encoder and decoder", "MT5ForConditionalGeneration", _T5),
    "bart": ("encoder and decoder", "BartForConditionalGeneration", _BART),
    "mbart": ("encoder and decoder", "MBartForConditionalGeneration", _BART),
    "marian": ("encoder and decoder", "MarianMTModel", _BART),
    "m2m_100": ("encoder and decoder", "M2M100ForConditionalGeneration", _BART),
    "blenderbot": ("encoder and decoder", "BlenderbotForConditionalGeneration", _BART),
    "umt5": ("encoder and decoder", "UMT5ForConditionalGeneration", _T5),
    "pegasus": ("encoder and decoder", "PegasusForConditionalGeneration", _BART),
    "whisper": ("encoder and decoder", "WhisperForConditionalGeneration", _WHISPER),
    "pegasus_x": ("encoder and decoder", "PegasusXForConditionalGeneration", {**_BART, "block_size": 8, "num_global_tokens": 4}),
    # Encoders.
    "bert": ("encoders", "BertModel", _ENCODER),
    "modernbert": ("encoders", "ModernBertModel", {**_ENCODER, "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}),
    "xlm_roberta": ("encoders", "XLMRobertaModel", {**_ENCODER, "max_position_embeddings": 128}),
}  # fmt: skip
