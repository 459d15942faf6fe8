"""Claims that a source carries."""

from __future__ import annotations

from upheld.judge.context import Context
from upheld.judge.judgement import Holder, Outcome
from upheld.records.claim import Claim
from upheld.records.source import Source


def judge(claim: Claim, holder: Holder, context: Context) -> Outcome:
    """Upheld where a source is named with the place in it; what it says is the source's word."""
    places = []
    for citation in claim.sources:
        source = context.corpus.get(citation.source)
        if not isinstance(source, Source):
            return Outcome("unsupported", f"The source {citation.source} is no valid record.")
        if source.checked > context.as_of:
            return Outcome(
                "insufficient",
                f"{source.id} is said to be checked on {source.checked}, after {context.as_of}.",
            )
        if claim.expect is not None and citation.quote is None:
            return Outcome(
                "insufficient", f"A figure is cited without the words of {source.id} that give it."
            )
        places.append(f"{source.title}, {citation.at} (checked {source.checked})")
    if not places:
        return Outcome("unsupported", "No source is named, so nobody can look it up.")
    return Outcome("upheld", f"Said by {'; '.join(places)}.")
