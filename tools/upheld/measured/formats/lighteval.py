"""LightEval: its results, one row a task and metric. The row `all` is a mean without a count."""

from __future__ import annotations

from upheld.measured import quality_tasks
from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED, RowDraft
from upheld.measured.engine_log import DTYPES
from upheld.measured.printed import shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding

NAME = "lighteval"
TOOL = "LightEval"
TITLE = "LightEval: results, JSON"

_MEAN_OF_TASKS = "all"


def recognise(content: Content) -> bool:
    """One object with results and the general configuration of LightEval."""
    if len(content.documents) != 1:
        return False
    value = content.documents[0].value
    if not isinstance(value, dict):
        return False
    general, results = value.get("config_general"), value.get("results")
    return (
        isinstance(general, dict)
        and "lighteval_sha" in general
        and isinstance(results, dict)
        and all(isinstance(each, dict) for each in results.values())
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
        name, _, shots = task.rpartition("|")
        count = whole.get("config_tasks", name, "effective_num_docs")
        samples = count if isinstance(count, int) and not isinstance(count, bool) else None
        for metric in scores:
            if metric.endswith("_stderr"):
                continue
            draft = RowDraft(content, 0, ("results", task), scores)
            draft.case = shown(f"{task} {metric}")
            draft.envelope.update(whole.envelope | {"benchmark": shown(name or task)})
            draft.stated.update(whole.stated)
            quality_tasks.state(draft, {"shots": shots})
            if task == _MEAN_OF_TASKS:
                draft.stated["mean"] = "over tasks, whatever their size"
            row = quality_tasks.read_score(draft, metric, metric, f"{metric}_stderr", samples)
            if row is not None:
                rows.append(row)
    findings: tuple[Finding, ...] = ()
    if not rows:
        message = "no score is of a kind that is read: a share of answers"
        findings = (
            Finding(NOT_MEASURED, whole.place("results"), message, "evaluate a task that has one"),
        )
    return Reading(tuple(rows), None, findings)


def _read_model(whole: RowDraft) -> None:
    at = "config_general"
    if model := whole.text(at, "model_name"):
        whole.envelope["model"] = shown(model)
    if revision := whole.text(at, "model_sha"):
        whole.envelope["model_revision"] = shown(revision)
    # The dtype of a quantised model is that of what is not quantised.
    if (dtype := whole.text(at, "model_dtype")) and (known := DTYPES.get(dtype)):
        whole.stated["dtype"] = known
    quality_tasks.state(
        whole,
        {
            "limit": whole.get(at, "max_samples"),
            "model_size": whole.get(at, "model_size"),
            "batch": whole.get(at, "override_batch_size"),
            "commit": whole.get(at, "lighteval_sha"),
        },
    )
