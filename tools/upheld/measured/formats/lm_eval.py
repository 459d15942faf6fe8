"""lm-evaluation-harness: its results, one row a task and metric.

Keys are `acc,none` since 0.4, `acc` before. Perplexities and scores that are a share are read.
"""

from __future__ import annotations

import re

from upheld.corpus.strict_json import Json
from upheld.measured import quality_tasks
from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED, RowDraft
from upheld.measured.engine_log import DTYPES
from upheld.measured.printed import shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding

NAME = "lm-eval"
TOOL = "lm-evaluation-harness"
TITLE = "lm-evaluation-harness: results, JSON"

_ARGUMENT = re.compile(r"(?:^|,)\s*(?P<name>\w+)=(?P<value>[^,]*)")


def recognise(content: Content) -> bool:
    """One object with results and versions of the same tasks, and no configuration of LightEval."""
    if len(content.documents) != 1:
        return False
    value = content.documents[0].value
    if not isinstance(value, dict) or "config_general" in value:
        return False
    results, versions = value.get("results"), value.get("versions")
    return (
        isinstance(results, dict)
        and isinstance(versions, dict)
        and bool(results)
        and all(isinstance(each, dict) for each in results.values())
        and bool(results.keys() & versions.keys())
    )


def read(content: Content) -> Reading:
    """One row for each metric of each task that is read."""
    value = content.documents[0].value
    assert isinstance(value, dict), "recognise() saw an object"
    whole = RowDraft(content, 0, (), value)
    _read_model(whole)
    rows: list[Row] = []
    results = value["results"]
    assert isinstance(results, dict), "recognise() saw an object"
    for task, scores in results.items():
        assert isinstance(scores, dict), "recognise() saw objects"
        samples = whole.get("n-samples", task, "effective")
        count = samples if isinstance(samples, int) and not isinstance(samples, bool) else None
        for key in scores:
            metric, _, chosen = key.partition(",")
            if metric.endswith("_stderr") or metric == "alias":
                continue
            draft = RowDraft(content, 0, ("results", task), scores)
            draft.case = shown(
                f"{task} {metric}" + (f" {chosen}" if chosen not in ("", "none") else "")
            )
            draft.envelope.update(whole.envelope | {"benchmark": shown(task)})
            draft.stated.update(whole.stated)
            shots = whole.get("n-shot", task)
            quality_tasks.state(draft, {"shots": shots})
            error_key = f"{metric}_stderr" + (f",{chosen}" if chosen else "")
            row = quality_tasks.read_score(draft, key, metric, error_key, count)
            if row is not None:
                rows.append(row)
    findings: tuple[Finding, ...] = ()
    if not rows:
        message = "no score is of a kind that is read: a share of answers, or a perplexity"
        findings = (
            Finding(NOT_MEASURED, whole.place("results"), message, "evaluate a task that has one"),
        )
    return Reading(tuple(rows), whole.text("lm_eval_version"), findings)


def _read_model(whole: RowDraft) -> None:
    arguments: dict[str, str] = {}
    given: Json = whole.get("config", "model_args")
    if isinstance(given, str):
        arguments = {found["name"]: found["value"] for found in _ARGUMENT.finditer(given[:5000])}
    elif isinstance(given, dict):
        arguments = {name: each for name, each in given.items() if isinstance(each, str)}
    model = whole.text("model_name") or arguments.get("pretrained") or arguments.get("model")
    if model:
        whole.envelope["model"] = shown(model)
    if revision := arguments.get("revision"):
        whole.envelope["model_revision"] = shown(revision)
    if dtype := DTYPES.get(arguments.get("dtype", "")):
        whole.envelope["weight_dtype"] = dtype
    quality_tasks.state(
        whole,
        {
            "backend": whole.get("config", "model"),
            "limit": whole.get("config", "limit"),
            "transformers": whole.get("transformers_version"),
            "commit": whole.get("git_hash"),
        },
    )
