"""How each basis and each verdict is told apart: a word, a shape and a colour, on every page.

The shapes and colours are in assets/upheld.css under the names given here. An icon is drawn in a
field of 16 by 16: `line` is stroked, `area` is filled.
"""

from __future__ import annotations

from dataclasses import dataclass

from upheld.records.metrics import Basis
from upheld.records.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Icon:
    """SVG path data."""

    line: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """What stands on a badge, and what it means in a sentence or two."""

    label: str
    icon: Icon
    means: str


_RING = "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z"
_WAVE = "M2.5 9.5c1.8-3 3.7-3 5.5-1.5s3.7 1.5 5.5-1.5"

BASES: dict[Basis, Word] = {
    "arithmetic": Word(
        "computed",
        Icon("M12 3.5H4L8 8l-4 4.5h8"),
        "Worked out from shapes, sizes and limits by a formula that the page shows. It holds as "
        "far as its inputs do; no hardware was involved. Records call it arithmetic.",
    ),
    "control": Word(
        "control",
        Icon("M8 1.8 13.4 4.9v6.2L8 14.2 2.6 11.1V4.9z"),
        "Follows from the rules that a policy declares. What the policy leaves out is not "
        "guaranteed, and whether software keeps the rules is another claim.",
    ),
    "tested": Word(
        "tested",
        Icon("M3 4l4 4-4 4M8.5 12.5H13"),
        "A named test of an implementation passed, at a named commit.",
    ),
    "measured": Word(
        "measured",
        Icon(_RING, "M8 5.7a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z"),
        "A tool ran on hardware and its output files are kept. Figures are recomputed from those "
        "files and count only where the run's conditions cover the claim's.",
    ),
    "cited": Word(
        "cited",
        Icon("M6.5 4Q3.5 5.5 3.5 8.5V12H7V8.5H3.5M13 4Q10 5.5 10 8.5V12h3.5V8.5H10"),
        "A published source says so, at the named place, on the day when it was last checked. "
        "Nobody here has repeated it.",
    ),
    "assumed": Word(
        "assumed",
        Icon(_WAVE),
        "Taken as given by a named owner, on a date, for a reason. Nothing shows it.",
    ),
    "untested": Word(
        "untested",
        Icon(_RING),
        "Known to be open. It is written down so that nobody takes it for settled.",
    ),
}

VERDICTS: dict[Verdict, Word] = {
    "upheld": Word(
        "upheld",
        Icon("M3 8.5 6.5 12 13 4.5"),
        "All the evidence that the basis needs is there, fits the conditions, suffices, and meets "
        "the expectation.",
    ),
    "contradicted": Word(
        "contradicted",
        Icon("M4 4l8 8M12 4l-8 8"),
        "Evidence from within the claim's conditions says otherwise.",
    ),
    "unsupported": Word(
        "unsupported",
        Icon(f"{_RING}M12.8 3.2l-9.6 9.6"),
        "The evidence that the basis needs is not there.",
    ),
    "insufficient": Word(
        "insufficient",
        Icon(_RING, "M8 2.5v11a5.5 5.5 0 0 1 0-11z"),
        "There is evidence, but too little of it, or it is unsound.",
    ),
    "out-of-envelope": Word(
        "out of envelope",
        Icon("M2.5 5.5h8v8h-8z", "M13 1.5a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z"),
        "The evidence comes from other conditions than the claim's; what differs is named.",
    ),
    "wrong-basis": Word(
        "wrong basis",
        Icon("M3 6h10M3 10h10M11 3 5 13"),
        "No evidence of this kind could show what is claimed, such as a speed by arithmetic.",
    ),
    "stale": Word(
        "stale",
        Icon(f"{_RING}M8 5v3.2l2.3 1.4"),
        "The evidence is older than the claim allows.",
    ),
    "assumed": Word("assumed", Icon(_WAVE), "Declared as an assumption, and shown as one."),
    "untested": Word("untested", Icon(_RING), "Declared open, or not yet shown by anything."),
}

# With these a claim is not carried by the evidence that its basis needs.
UNCARRIED: frozenset[Verdict] = frozenset(
    {"unsupported", "insufficient", "out-of-envelope", "wrong-basis"}
)

KINDS: dict[str, str] = {
    "adr": "Decision",
    "model": "Model",
    "device": "Device",
    "deployment": "Deployment",
    "run": "Run",
    "policy": "Policy",
    "source": "Source",
    "assumption": "Assumption",
    "snapshot": "Snapshot",
}

# What a field is called where its own name would not say it to someone who never wrote a record.
FIELDS: dict[str, str] = {
    "adr": "Decision",
    "block_size": "Tokens in one block",
    "bytes_per_element": "Bytes of one element",
    "device_count": "Devices",
    "embed_tokens": "Embedding",
    "gate_up_proj": "Gate and up projections",
    "down_proj": "Down projections",
    "gpu_memory_utilization": "Share of device memory used",
    "head_dim": "Elements of one head",
    "hidden_size": "Hidden size",
    "input_layernorm": "Norms before attention",
    "intermediate_size": "Feed-forward size",
    "kv_cache": "KV cache",
    "kv_cache_dtype": "KV cache type",
    "layers": "Layers",
    "lm_head": "Output head",
    "max_model_len": "Context limit",
    "max_num_seqs": "Sequences held at once",
    "max_output_tokens": "Output limit",
    "max_position_embeddings": "Longest context of the model",
    "max_prompt_tokens": "Prompt limit",
    "memory": "Device memory",
    "norm": "Last norm",
    "num_attention_heads": "Query heads",
    "num_hidden_layers": "Layers",
    "num_key_value_heads": "KV heads",
    "o_proj": "Output projections",
    "post_attention_layernorm": "Norms after attention",
    "qk_norm": "Queries and keys normalised",
    "qkv_bias": "Bias on queries, keys and values",
    "qkv_proj": "Query, key and value projections",
    "tensor_parallel": "Devices that share each layer",
    "tie_word_embeddings": "Output head is the embedding",
    "torch_dtype": "Type of the published weights",
    "vocab_size": "Vocabulary",
    "weight_dtype": "Weight type",
    "weight_group_size": "Weights that share a scale",
}
