"""The smallest valid record of each kind, as text to change, and what is found in a text."""

from __future__ import annotations

from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import read_yaml
from upheld.records.finding import Finding
from upheld.records.types import Record

TEXTS = {
    "adr": """\
kind: adr
id: ADR-001
title: A decision
status: accepted
date: 2026-11-02
context: Why it had to be taken.
options:
  - {id: one, title: The one, depth: build}
decision: {option: one, because: There is no other.}
claims:
  - id: kv-fits
    says: The cache fits.
    basis: arithmetic
    metric: memory.kv_cache
    expect: "<= 76 GiB"
    within: {deployment: replica}
""",
    "model": """\
kind: model
id: tiny
title: A tiny model
architecture: TinyForCausalLM
attention: full
num_hidden_layers: 2
num_attention_heads: 4
num_key_value_heads: 2
head_dim: 8
hidden_size: 32
intermediate_size: 64
vocab_size: 1000
max_position_embeddings: 2048 tokens
tie_word_embeddings: false
torch_dtype: bfloat16
origin: taken
""",
    "device": """\
kind: device
id: card
title: A card
vendor: Nobody
memory: 1 GiB
origin: taken
""",
    "deployment": """\
kind: deployment
id: replica
title: One replica
model: tiny
device: card
device_count: 1
engine: vllm
engine_version: 0.10
weight_dtype: bf16
kv_cache_dtype: bf16
block_size: 16
gpu_memory_utilization: 0.90
max_model_len: 2048 tokens
max_output_tokens: 256 tokens
max_num_seqs: 4
prefix_caching: false
runtime_memory: {size: 0.1 GiB, origin: taken}
""",
    "run": """\
kind: run
id: a-run
title: A run
date: 2026-11-02
by: Somebody
outcome: completed
files:
  - path: evidence/runs/raw/a-run/result.json
    sha256: "0000000000000000000000000000000000000000000000000000000000000000"
    format: vllm-bench-serve
""",
    "policy": """\
kind: policy
id: gate
title: A policy
deployment: replica
""",
    "source": """\
kind: source
id: page
title: A page
url: https://example.org/
publisher: Example
checked: 2026-11-02
used_for: [an example]
""",
    "assumption": """\
kind: assumption
id: taken
title: Taken as given
says: It is so.
why: Nobody knows.
owner: Somebody
date: 2026-11-02
""",
    "snapshot": """\
kind: snapshot
id: frozen
title: A frozen decision
adr: ADR-001
frozen: 2026-11-02
upheld_version: 0.1.0
records:
  - id: ADR-001
    path: adrs/ADR-001.yaml
    sha256: "0000000000000000000000000000000000000000000000000000000000000000"
    text: anything
digest: "0000000000000000000000000000000000000000000000000000000000000000"
""",
}


def changed(kind: str, old: str, new: str) -> str:
    """The text of that kind with one thing replaced, which must be there once."""
    assert TEXTS[kind].count(old) == 1
    return TEXTS[kind].replace(old, new)


def record_in(text: str) -> Record:
    """The record that the text holds."""
    outcome = validate(read_yaml("a.yaml", text.encode()))
    assert isinstance(outcome, Record), outcome
    return outcome


def findings_in(text: str) -> list[Finding]:
    """What keeps the text from being a record."""
    outcome = validate(read_yaml("a.yaml", text.encode()))
    assert isinstance(outcome, list), outcome
    return outcome


def only_finding(text: str) -> tuple[str, int, int, str, str]:
    """The one finding in the text: rule, line, column, message, help."""
    (finding,) = findings_in(text)
    place = finding.place
    assert (place.path, finding.severity) == ("a.yaml", "error")
    return finding.rule, place.line, place.column, finding.message, finding.help
