"""optimum-benchmark: the configuration alone, which is the envelope of the report beside it."""

from __future__ import annotations

from upheld.measured import optimum_benchmark
from upheld.measured.content import Content
from upheld.measured.draft import RowDraft
from upheld.measured.reading import Reading

NAME = "optimum-benchmark-config"
TOOL = optimum_benchmark.TOOL
TITLE = "optimum-benchmark: configuration without a report, JSON"


def recognise(content: Content) -> bool:
    """One object with a backend, a scenario, a launcher and the environment."""
    return len(content.documents) == 1 and optimum_benchmark.is_config(content.documents[0].value)


def read(content: Content) -> Reading:
    """One row, without figures."""
    config = content.documents[0].value
    assert isinstance(config, dict), "recognise() saw an object"
    draft = RowDraft(content, 0, (), config)
    version = optimum_benchmark.read_config(draft)
    return Reading((draft.finish(optimum_benchmark.not_stated(draft)),), version)
