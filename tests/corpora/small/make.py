"""Writes the raw file of this corpus, the same bytes each time: python tests/corpora/small/make.py

The numbers describe no engine and no machine. Paste the printed digest into the run record.
"""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path

HERE = Path(__file__).parent
VLLM_RUN = runpy.run_path(str(HERE.parent / "benchmarks" / "make.py"))["vllm_run"]

if __name__ == "__main__":
    run = VLLM_RUN(
        5, sent=200, detailed=True, fixed_output=32, model_id="example/tiny", max_concurrency=16
    )
    raw = HERE / "evidence" / "runs" / "raw" / "serve-16" / "result.json"
    raw.write_text(json.dumps(run) + "\n")
    print(hashlib.sha256(raw.read_bytes()).hexdigest())
