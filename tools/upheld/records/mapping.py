"""What the figures of a file are that no known format recognises, as its run record states it.

Teams' own scripts write JSON, JSON lines and CSV whose keys mean what the script's author says. A
mapping says it once, for reviewers to see: which value is which metric, in which unit.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from upheld.records.expression import CountField, Expression, ExpressionField
from upheld.records.metrics import resolve
from upheld.records.shorten import shorten
from upheld.records.types import Line, MetricName, Part
from upheld.records.units import find_unit, units_of

Form = Literal["json", "jsonl", "csv"]
FORMS: tuple[Form, ...] = ("json", "jsonl", "csv")

# A value as it stands in the file: in a record every scalar is text, in an editor it may be others.
Scalar = Annotated[
    Line, WithJsonSchema({"anyOf": [{"type": name} for name in ("string", "number", "boolean")]})
]

# Totals of a run that are the sum of what single requests have.
SUMMED = ("tokens.input.total", "tokens.output.total")


def _of_files(name: str) -> str:
    metric, _ = resolve(name)
    if metric.dimension is None or "measured" not in metric.shown_by:
        raise ValueError(f"{name} is not measured, so no file can have it")
    if name.startswith("requests."):
        raise ValueError(f"{name} stands under requests: of the mapping")
    return name


def _with_statistic(name: str) -> str:
    metric, statistic = resolve(name)
    if metric.distribution and statistic is None:
        raise ValueError(f"{name} has many values; name a statistic, such as {name}.p99")
    return name


def _of_single_requests(name: str) -> str:
    metric, statistic = resolve(name)
    if statistic is not None:
        raise ValueError(
            f"{name} is a statistic, which is worked out from the samples: write {metric.name}"
        )
    if not metric.distribution and name not in SUMMED:
        raise ValueError(f"{name} is of a whole run; a figure has it, no single request")
    return name


class _Found(Part):
    metric: MetricName
    unit: Annotated[Line, AfterValidator(lambda symbol: find_unit(symbol).symbol)]
    at: ExpressionField

    @field_validator("unit")
    @classmethod
    def _measures_the_metric(cls, unit: str, info: ValidationInfo) -> str:
        if "metric" not in info.data:
            return unit
        metric, _ = resolve(info.data["metric"])
        dimension = find_unit(unit).dimension
        if metric.dimension is not None and dimension != metric.dimension:
            fits = ", ".join(units_of(metric.dimension))
            raise ValueError(
                f"{unit} measures {dimension}, but {metric.name} is of {metric.dimension}; "
                f"units that fit: {fits}"
            )
        return unit


class MappedFigure(_Found):
    """A figure of a row: its metric, with a statistic where it has many values, and its unit."""

    metric: Annotated[MetricName, AfterValidator(_of_files), AfterValidator(_with_statistic)]


class MappedValue(_Found):
    """What each single request has of a metric."""

    metric: Annotated[MetricName, AfterValidator(_of_files), AfterValidator(_of_single_requests)]


class MappedRequests(Part):
    """Where a row says how many requests it rests on."""

    completed: CountField | None = None
    failed: CountField | None = None
    attempted: CountField | None = None


class MappedAxes(Part):
    """Where a row states the axes of its envelope (see Axes)."""

    model: ExpressionField | None = None
    model_revision: ExpressionField | None = None
    engine: ExpressionField | None = None
    engine_version: ExpressionField | None = None
    weight_dtype: ExpressionField | None = None
    kv_cache_dtype: ExpressionField | None = None
    device: ExpressionField | None = None
    device_count: ExpressionField | None = None
    tensor_parallel: ExpressionField | None = None
    max_model_len: ExpressionField | None = None
    input_tokens: ExpressionField | None = None
    output_tokens: ExpressionField | None = None
    concurrency: ExpressionField | None = None
    request_rate: ExpressionField | None = None
    prefix_caching: ExpressionField | None = None
    speculative_decoding: ExpressionField | None = None
    benchmark: ExpressionField | None = None
    python_version: ExpressionField | None = None
    processor: ExpressionField | None = None
    processor_count: ExpressionField | None = None
    operating_system: ExpressionField | None = None


class Samples(Part):
    """The records of single requests, from which statistics are worked out again.

    `each` finds them in a row; without it the row itself is the list. A request completed where it
    has the values of `completed` and nothing under the key `failed`.
    """

    each: ExpressionField | None = None
    completed: dict[Line, Scalar] = {}
    failed: Line | None = None
    values: list[MappedValue] = Field(min_length=1)

    @field_validator("each")
    @classmethod
    def _leaves_none_out(cls, each: Expression | None) -> Expression | None:
        if each is not None and each.chooses:
            raise ValueError(
                "each finds all requests, failed ones too; which of them completed is said by "
                "completed and failed"
            )
        return each

    @field_validator("values")
    @classmethod
    def _each_metric_once(cls, values: list[MappedValue]) -> list[MappedValue]:
        _refuse_twice(value.metric for value in values)
        return values

    @property
    def tells_failures(self) -> bool:
        """Whether it says which requests failed."""
        return bool(self.completed) or self.failed is not None


class Mapping(Part):
    """How the rows of a file are found, and what each says.

    `rows` finds them; without it a JSON file is one row, and each record of JSON lines and CSV is,
    unless those are the single requests of `samples`. `where` keeps the records with these values.
    """

    rows: ExpressionField | None = None
    where: dict[Line, Scalar] = {}
    case: list[ExpressionField] = []
    figures: list[MappedFigure] = []
    samples: Samples | None = None
    requests: MappedRequests = MappedRequests()
    envelope: MappedAxes = MappedAxes()

    @field_validator("figures")
    @classmethod
    def _each_metric_once(cls, figures: list[MappedFigure]) -> list[MappedFigure]:
        _refuse_twice(figure.metric for figure in figures)
        return figures

    @model_validator(mode="after")
    def _has_figures(self) -> Mapping:
        if not self.figures and self.samples is None:
            raise ValueError("a mapping without figures and samples finds nothing; write one")
        return self

    @model_validator(mode="after")
    def _leaves_no_failure_out(self) -> Mapping:
        if self.samples is None or not self.lines_are_requests:
            return self
        telling = {*self.samples.completed, self.samples.failed}
        for key in self.where:
            if key in telling:
                raise ValueError(
                    f"where: {shorten(key)} tells which requests completed, so those that failed "
                    "would be left out; it belongs to samples alone"
                )
        return self

    @property
    def lines_are_requests(self) -> bool:
        """Whether the records of JSON lines or CSV are the single requests of one row."""
        return self.rows is None and self.samples is not None and self.samples.each is None


def _refuse_twice(metrics: object) -> None:
    counted = Counter(metrics)  # type: ignore[call-overload]
    twice = [metric for metric, times in counted.items() if times > 1]
    if twice:
        raise ValueError(f"{twice[0]} stands here twice; keep the one that the file means")
