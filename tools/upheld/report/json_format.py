"""Results for scripts: the versioned JSON shape of `upheld check`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from upheld.judge.judgement import Judged, Judgement
from upheld.report.finding_text import in_order
from upheld.report.json_text import VERSION, finding_object


def check_object(judged: Judged) -> dict[str, Any]:
    """The object that `upheld check --format json` prints."""
    counted = Counter((each.claim.basis, each.verdict) for each in judged.judgements)
    by_basis: dict[str, dict[str, int]] = {}
    for (basis, verdict), count in sorted(counted.items()):
        by_basis.setdefault(basis, {})[verdict] = count
    return {
        "version": VERSION,
        "as_of": judged.as_of.isoformat(),
        "claims": [claim_object(each) for each in judged.judgements],
        "findings": [finding_object(each) for each in in_order(judged.findings)],
        "summary": {
            "records": len(judged.corpus.entries),
            "rejected": judged.corpus.rejected,
            "claims": by_basis,
            "blocked": judged.blocked,
        },
    }


def claim_object(judgement: Judgement) -> dict[str, Any]:
    """One claim as judged."""
    value = judgement.outcome.value
    return {
        "id": judgement.id,
        "says": judgement.claim.says,
        "basis": judgement.claim.basis,
        "metric": judgement.claim.metric,
        "expect": str(judgement.claim.expect) if judgement.claim.expect else None,
        "verdict": judgement.verdict,
        "blocks": judgement.blocks,
        "because": judgement.outcome.because,
        "rests_on": judgement.rests_on,
        "value": None if value is None else {"kind": value.kind, "shown": value.shown},
    }
