"""A claim: one checkable sentence of a decision, a deployment or a policy, with its basis."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from upheld.records.derived import Derived
from upheld.records.expectation import ExpectationField
from upheld.records.formulas import FORMULAS
from upheld.records.metrics import resolve
from upheld.records.shorten import shorten
from upheld.records.types import (
    AssumptionRef,
    Basis,
    Commit,
    Count,
    Date,
    DeploymentRef,
    Duration,
    Flag,
    Id,
    Line,
    MetricName,
    Part,
    PolicyRef,
    RequestRate,
    RunRef,
    SourceRef,
    Text,
    Tokens,
)
from upheld.records.units import units_of


class Axes(Part):
    """The axes of an envelope (see envelope.py) as a record states them; absent is not stated."""

    model: Line | None = None
    model_revision: Line | None = None
    engine: Line | None = None
    engine_version: Line | None = None
    weight_dtype: Line | None = None
    kv_cache_dtype: Line | None = None
    device: Line | None = None
    device_count: Count | None = None
    tensor_parallel: Count | None = None
    max_model_len: Tokens | None = None
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    concurrency: Count | None = None
    request_rate: RequestRate | None = None
    prefix_caching: Flag | None = None
    speculative_decoding: Line | None = None
    benchmark: Line | None = None
    python_version: Line | None = None
    processor: Line | None = None
    processor_count: Count | None = None
    operating_system: Line | None = None

    def stated(self) -> dict[str, Any]:
        """The axes that have a value, with plain values: text, numbers and flags."""
        values = {name: getattr(self, name) for name in Axes.model_fields}
        return {
            name: getattr(value, "base", value)
            for name, value in values.items()
            if value is not None
        }


class Within(Axes):
    """Where a claim holds: a deployment, a policy, and axes stated beside or instead of them."""

    deployment: DeploymentRef | None = None
    policy: PolicyRef | None = None


class Evidence(Part):
    """A run that the claim names as its evidence.

    `test` is the full name of a test in the run's report, and `commit` the one at which it must
    have passed: both are for claims with basis `tested`.
    """

    run: RunRef
    test: Line | None = None
    commit: Commit | None = None


class Citation(Part):
    """Where a source says what is claimed: a place in it, and its words if they are short."""

    source: SourceRef
    at: Line
    quote: Line | None = None


class Claim(Part):
    """One checkable sentence.

    Raises:
        ValueError: the basis lacks what it must declare (an owner, a date, a reason), or the
            expectation has another unit than the metric.
    """

    id: Id
    says: Line
    basis: Basis
    metric: MetricName
    expect: ExpectationField | None = None
    within: Within = Within()
    versus: Within | None = None
    derived: Derived | None = None
    evidence: list[Evidence] = []
    sources: list[Citation] = []
    assumes: list[AssumptionRef] = []
    why: Text | None = None
    owner: Line | None = None
    date: Date | None = None
    review: Date | None = None
    max_age: Duration | None = None

    @model_validator(mode="after")
    def _declares_what_its_basis_needs(self) -> Claim:
        needed = {"assumed": ("owner", "date", "why"), "untested": ("why",)}.get(self.basis, ())
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a claim with basis: {self.basis} needs {' and '.join(missing)}")
        return self

    @model_validator(mode="after")
    def _names_tests_where_tests_count(self) -> Claim:
        if self.basis != "tested" and any(each.test or each.commit for each in self.evidence):
            raise ValueError(f"evidence of basis: {self.basis} names no test and no commit")
        return self

    @model_validator(mode="after")
    def _expects_what_its_metric_measures(self) -> Claim:
        metric, _ = resolve(self.metric)
        if self.expect is None:
            if metric.dimension and self.basis in ("arithmetic", "control", "measured"):
                raise ValueError(
                    f"{self.metric} is a quantity, so basis: {self.basis} needs expect, "
                    f"such as '<= 10 {metric.unit}'"
                )
            return self
        if metric.dimension is None:
            raise ValueError(f"{self.metric} holds or does not; it takes no expect")
        self._check_formula(metric.dimension)
        wanted = "ratio" if self.versus else metric.dimension
        found = self.expect.quantity.unit.dimension
        if found != wanted:
            reason = " of one to the other, because of versus" if self.versus else ""
            raise ValueError(
                f"expect '{shorten(str(self.expect))}' is of {found}, but {self.metric} is "
                f"compared as {wanted}{reason}; units that fit: {', '.join(units_of(wanted))}"
            )
        return self

    def _check_formula(self, dimension: str) -> None:
        if self.derived is None:
            return
        if self.versus is not None or self.evidence:
            raise ValueError("a derived claim rests on its inputs: it has no versus or evidence")
        formula = FORMULAS[self.derived.formula]
        if formula.dimension != dimension:
            raise ValueError(
                f"{formula.name} gives {formula.dimension}, but {self.metric} is of {dimension}"
            )
