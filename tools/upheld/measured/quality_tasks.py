"""What the results of lm-eval and LightEval share: a score of a task, its standard error, its n.

A score that is a mean of zeros and ones over n samples has the standard error
sqrt(p (1 - p) / (n - 1)) (lm-eval 0.4.13, `lm_eval/api/metrics.py`, `mean_stderr`).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.measured.draft import DISAGREES, IMPOSSIBLE, UNTOUCHED, RowDraft
from upheld.measured.printed import is_number, shown
from upheld.measured.reading import Row
from upheld.measured.recompute import square_root
from upheld.records.units import format_number

OF_ZEROS_AND_ONES = ("acc", "acc_norm", "exact_match", "em", "qem", "pass@1", "mc1")
OF_A_SHARE = (*OF_ZEROS_AND_ONES, "f1", "mc2", "truthfulqa_mc1", "truthfulqa_mc2", "contains")
OF_PERPLEXITY = ("word_perplexity", "byte_perplexity", "perplexity", "ppl")

_AXES = (
    "model", "model_revision", "engine", "engine_version", "weight_dtype", "kv_cache_dtype",
)  # fmt: skip


def read_score(
    draft: RowDraft, key: str, metric: str, error_key: str, samples: int | None
) -> Row | None:
    """The row of the score at `key`; None where it is of a kind that is not read."""
    value = draft.get(key)
    if metric in OF_PERPLEXITY:
        draft.report("quality.perplexity", "ratio", key)
    elif metric in OF_A_SHARE:
        if is_number(value):
            assert isinstance(value, int | Decimal), "is_number() saw one"
            if value > 1:
                draft.find(
                    IMPOSSIBLE, f"{key} is {value}, but a share is at most 1", UNTOUCHED, key
                )
                return _finish(draft)
        draft.report("quality.answers", "ratio", key)
    else:
        return None
    if samples is not None:
        draft.samples["quality.answers"] = samples
    error = draft.get(error_key)
    if is_number(error):
        assert isinstance(error, int | Decimal), "is_number() saw one"
        draft.stated["standard_error"] = format_number(Fraction(error))
        if metric in OF_ZEROS_AND_ONES and samples is not None and samples > 1:
            _hold_error(draft, key, error_key, Fraction(error), samples)
    return _finish(draft)


def _hold_error(draft: RowDraft, key: str, error_key: str, error: Fraction, samples: int) -> None:
    share = draft.value("quality.answers")
    if share is None:
        return
    wanted = square_root(share * (1 - share) / (samples - 1))
    if abs(wanted - error) > wanted / 10**4 + Fraction(1, 10**9):
        draft.find(
            DISAGREES,
            f"{error_key} is {format_number(error)}, but {key} over {samples:,} samples has "
            f"{format_number(wanted)}",
            UNTOUCHED,
            error_key,
        )


def _finish(draft: RowDraft) -> Row:
    return draft.finish(tuple(axis for axis in _AXES if axis not in draft.envelope))


def state(draft: RowDraft, facts: dict[str, object]) -> None:
    """Facts that the file has, shortened."""
    for name, fact in facts.items():
        if isinstance(fact, str | int | Decimal) and not isinstance(fact, bool) and fact != "":
            draft.stated[name] = shown(str(fact))
