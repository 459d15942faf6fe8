"""One row of a mapped file: its figures, its requests and its envelope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

from upheld.corpus.strict_json import Json
from upheld.measured.draft import DISAGREES, IMPOSSIBLE
from upheld.measured.mapping import taking
from upheld.measured.mapping.figures import Figures, Stated, percentiles_of
from upheld.measured.mapping.mapped import NOTHING, Mapped, Path, Problems, keys_help
from upheld.measured.mapping.requests import Column, SingleRequests
from upheld.measured.mapping.taking import Otherwise
from upheld.measured.reading import AxisValue, Requests, Row, distribution_of
from upheld.records.expression import Expression, ExpressionError
from upheld.records.finding import Finding, Place
from upheld.records.mapping import SUMMED, MappedAxes, MappedRequests, MappedValue, Mapping

T = TypeVar("T")

_SERVING = ("latency.", "throughput.", "tokens.", "speculation.", "concurrency.")
# Latencies of which each completed request gives one value.
_ONE_A_REQUEST = ("latency.ttft", "latency.tpot", "latency.e2e")
_SERVING_AXES = (
    "model", "engine", "engine_version", "weight_dtype", "kv_cache_dtype", "device",
    "device_count", "tensor_parallel", "max_model_len", "prefix_caching", "speculative_decoding",
)  # fmt: skip
_RATES = (
    ("throughput.requests", "requests/s", "requests.completed"),
    ("throughput.output_tokens", "tokens/s", "tokens.output.total"),
    ("throughput.input_tokens", "tokens/s", "tokens.input.total"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A row as it was found: its value, the whole file's, where it stands, how it is called."""

    value: Json
    whole: Json
    texts: bool
    place: Place
    case: str | None
    several: bool
    stated: dict[str, str]


def read_row(
    mapped: Mapped, found: Found, single: SingleRequests | None, problems: Problems
) -> Row:
    """The row; `single` are its requests where the mapping says that it has them."""
    return _RowReader(mapped, found, single, problems).read()


class _RowReader:
    def __init__(
        self, mapped: Mapped, found: Found, single: SingleRequests | None, problems: Problems
    ) -> None:
        self._mapped = mapped
        self._found = found
        self._single = single
        self._problems = problems
        self._figures = Figures(f", in {found.case}" if found.several else "")

    def read(self) -> Row:
        mapping = self._mapped.mapping
        for index, figure in enumerate(mapping.figures):
            path = ("figures", index, "at")
            number = self._take(path, figure.at, taking.number)
            if number is not None:
                place = self._mapped.place(path)
                stated = Stated(number, figure.unit, str(figure.at), place)
                self._figures.state(figure.metric, stated)
        serving = _is_of_serving(mapping)
        requests = self._requests() if serving else None
        samples = self._samples(requests)
        for rate in _RATES:
            self._figures.rate(*rate)
        figures = self._figures.finish()
        envelope = self._envelope()
        return Row(
            case=self._found.case,
            place=self._found.place,
            figures=figures,
            envelope=envelope,
            stated=self._found.stated,
            not_stated=tuple(axis for axis in _SERVING_AXES if serving and axis not in envelope),
            requests=requests,
            samples=samples,
            findings=tuple(self._figures.findings),
        )

    def _take(self, path: Path, at: Expression, take: Callable[[Json, bool], T]) -> T | None:
        """What the expression finds, as what is wanted; None where it is something else."""
        context = self._found.whole if at.of_file else self._found.value
        try:
            return take(at.find(context), self._found.texts)
        except ExpressionError as error:
            found, nothing = str(error), False
        except Otherwise as otherwise:
            found, nothing = otherwise.found, otherwise.nothing
        message = f"{path[0]}: {at} finds {found}"
        if nothing:
            wanted = at.keys[-1] if at.keys else None
            self._problems.add(path, NOTHING, message, keys_help(wanted, _keys_of(context, at)))
        else:
            help_text = "find the one value that the field wants, or leave it out of the mapping"
            self._problems.add(path, "otherwise", message, help_text)
        return None

    def _requests(self) -> Requests:
        """Counts of requests: those of the records first, and what the file states beside them."""
        stated: dict[str, int | None] = {}
        for name in ("completed", "failed", "attempted"):
            at = getattr(self._mapped.mapping.requests, name)
            path = ("requests", name)
            stated[name] = None if at is None else self._take(path, at, taking.whole)
            count = stated[name]
            if count is not None:
                place = self._mapped.place(path)
                stated_at = Stated(count, "requests", str(at), place)
                self._figures.state(f"requests.{name}", stated_at)
        completed, failed, attempted = (stated[name] for name in stated)
        single = self._single
        if single is not None:
            completed = single.completed
            self._count("completed", completed)
            assert self._mapped.mapping.samples is not None, "it has single requests"
            if self._mapped.mapping.samples.tells_failures:
                failed = single.sent - single.completed
                self._count("failed", failed)
                attempted = single.sent if attempted is None else attempted
        if completed is None and attempted is not None and failed is not None:
            completed = attempted - failed
        elif failed is None and attempted is not None and completed is not None:
            failed = attempted - completed
        self._refuse_impossible_counts(completed, failed, attempted)
        return Requests(completed, failed, attempted)

    def _count(self, name: str, count: int) -> None:
        self._figures.recompute(f"requests.{name}", "requests", Fraction(count))

    def _refuse_impossible_counts(
        self, completed: int | None, failed: int | None, attempted: int | None
    ) -> None:
        if attempted is None or completed is None or failed is None:
            return
        if completed < 0 or failed < 0 or completed + failed != attempted:
            more = min(completed, failed) < 0
            self._figures.findings.append(
                Finding(
                    IMPOSSIBLE if more else DISAGREES,
                    self._mapped.place(("requests", "attempted")),
                    f"{completed:,} completed and {failed:,} failed requests are not the "
                    f"{attempted:,} sent",
                    "map the counts that the script means by these words",
                )
            )

    def _samples(self, requests: Requests | None) -> dict[str, int]:
        samples: dict[str, int] = {}
        mapping = self._mapped.mapping
        for figure in mapping.figures:
            metric = distribution_of(figure.metric)
            completed = None if requests is None else requests.completed
            if metric in _ONE_A_REQUEST and completed is not None:
                samples[metric] = completed
        if self._single is None or mapping.samples is None:
            return samples
        for index, value in enumerate(mapping.samples.values):
            column = self._single.columns[index]
            self._tell_gaps(index, value, column)
            whole = column.absent == 0 or value.metric not in SUMMED
            if column.values is not None and column.odd == 0 and whole:
                percentiles = percentiles_of(value.metric, mapping)
                self._figures.summarise(value.metric, value.unit, column.values, percentiles)
                if value.metric not in SUMMED:
                    samples[value.metric] = len(column.values)
        return samples

    def _tell_gaps(self, index: int, value: MappedValue, column: Column) -> None:
        assert self._single is not None, "it has single requests"
        path = ("samples", "values", index, "at")
        completed = self._single.completed
        finds = f"samples: {value.at} finds"
        if column.odd:
            self._problems.add(
                path,
                "odd",
                f"{finds} {column.example} in {column.odd:,} of {completed:,} completed requests",
                "nothing is worked out from it; find one number in each request",
            )
        elif column.absent and column.absent == completed:
            self._problems.add(
                path,
                NOTHING,
                f"{finds} nothing in any of {completed:,} completed requests",
                keys_help(value.at.keys[-1] if value.at.keys else None, list(self._single.keys)),
            )
        elif column.absent:
            summed = value.metric in SUMMED
            self._problems.add(
                path,
                "some",
                f"{finds} nothing in {column.absent:,} of {completed:,} completed requests"
                + (", so they have no sum" if summed else ""),
                "say by completed or failed which requests completed",
                "error" if summed else "warning",
            )

    def _envelope(self) -> dict[str, AxisValue]:
        envelope: dict[str, AxisValue] = {}
        for name in MappedAxes.model_fields:
            at = getattr(self._mapped.mapping.envelope, name)
            if at is not None:
                taken = self._take(("envelope", name), at, partial(taking.axis, axis_name=name))
                if taken is not None:
                    envelope[name] = taken
        return envelope


def _is_of_serving(mapping: Mapping) -> bool:
    """Whether the rows are of requests to a model, and not of a program or device."""
    values = [] if mapping.samples is None else mapping.samples.values
    metrics = [each.metric for each in (*mapping.figures, *values)]
    stated = mapping.requests != MappedRequests()
    return stated or any(metric.startswith(_SERVING) for metric in metrics)


def _keys_of(context: Json, at: Expression) -> list[str]:
    """The keys where the last step of an expression looks."""
    for key in (at.keys or ())[:-1]:
        if not isinstance(context, dict) or key not in context:
            break
        context = context[key]
    return list(context) if isinstance(context, dict) else []
