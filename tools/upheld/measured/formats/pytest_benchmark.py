"""pytest-benchmark: the JSON of `--benchmark-json` and `--benchmark-save`, one row a benchmark.

Times are seconds for one iteration; the standard deviation is of a sample (pytest_benchmark/
stats.py, `Stats`). The single rounds are in `stats.data` only with `--benchmark-save-data`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured.content import Content
from upheld.measured.draft import DISAGREES, IMPOSSIBLE, NOT_MEASURED, UNTOUCHED, RowDraft
from upheld.measured.reading import AxisValue, Reading, Row
from upheld.measured.recompute import TOLERANCE, Values
from upheld.records.finding import Finding

NAME = "pytest-benchmark"
TOOL = "pytest-benchmark"
TITLE = "pytest-benchmark: saved run, JSON"

_STATISTICS = {
    "mean": "time.mean", "median": "time.p50", "min": "time.min", "max": "time.max",
    "stddev": "time.std",
}  # fmt: skip


def recognise(content: Content) -> bool:
    """One object with the machine, and benchmarks that each have a name and statistics."""
    if len(content.documents) != 1:
        return False
    saved = content.documents[0].value
    if not isinstance(saved, dict) or not isinstance(saved.get("machine_info"), dict):
        return False
    benchmarks = saved.get("benchmarks")
    return isinstance(benchmarks, list) and all(
        isinstance(each, dict) and "name" in each and "stats" in each for each in benchmarks
    )


def read(content: Content) -> Reading:
    """One row a benchmark, all on the machine that the file states once."""
    saved = content.documents[0].value
    assert isinstance(saved, dict), "recognise() saw an object"
    whole = RowDraft(content, 0, (), saved)
    _read_machine(whole)
    rows: list[Row] = []
    benchmarks = saved["benchmarks"]
    assert isinstance(benchmarks, list), "recognise() saw a list"
    for index, benchmark in enumerate(benchmarks):
        assert isinstance(benchmark, dict), "recognise() saw objects"
        draft = RowDraft(content, 0, ("benchmarks", index), benchmark, _name(benchmark))
        draft.envelope.update(whole.envelope)
        draft.stated.update(whole.stated)
        rows.append(_read_benchmark(draft))
    findings: tuple[Finding, ...] = ()
    if not rows:
        findings = (
            Finding(
                NOT_MEASURED,
                whole.place("benchmarks"),
                "the file holds no benchmark",
                "run the benchmarks again; a run that selects none writes such a file",
            ),
        )
    return Reading(tuple(rows), whole.text("version"), findings)


def _name(benchmark: dict[str, Json]) -> str | None:
    for key in ("fullname", "name"):
        name = benchmark.get(key)
        if isinstance(name, str) and name:
            return name
    return None


def _read_machine(whole: RowDraft) -> None:
    cpu = ("machine_info", "cpu")
    axes: dict[str, AxisValue | None] = {
        "python_version": whole.text("machine_info", "python_version"),
        "processor": whole.text(*cpu, "brand_raw") or whole.text(*cpu, "brand"),
        "processor_count": whole.count(*cpu, "count") or None,
        "operating_system": whole.text("machine_info", "system"),
    }
    whole.envelope.update({name: value for name, value in axes.items() if value is not None})
    facts = {
        "date": whole.text("datetime"),
        "commit": whole.text("commit_info", "id"),
        "branch": whole.text("commit_info", "branch"),
        "python_implementation": whole.text("machine_info", "python_implementation"),
        "machine": whole.text("machine_info", "machine"),
        "system_release": whole.text("machine_info", "release"),
    }
    whole.stated.update({name: fact for name, fact in facts.items() if fact is not None})
    dirty = whole.get("commit_info", "dirty")
    if isinstance(dirty, bool):
        whole.stated["uncommitted_changes"] = "yes" if dirty else "no"


def _read_benchmark(draft: RowDraft) -> Row:
    if draft.case is not None:
        draft.envelope["benchmark"] = draft.case
    if not isinstance(draft.get("stats"), dict):
        draft.find(
            NOT_MEASURED,
            "the benchmark has no statistics: it did not run to its end",
            "run it again until it passes",
        )
    else:
        _read_statistics(draft)
    for option in ("timer", "disable_gc", "warmup"):
        value = draft.get("options", option)
        if isinstance(value, bool):
            draft.stated[option] = "yes" if value else "no"
        elif isinstance(value, str | int):
            draft.stated[option] = str(value)
    axes = ("benchmark", "python_version", "processor", "processor_count", "operating_system")
    return draft.finish(tuple(axis for axis in axes if axis not in draft.envelope))


def _read_statistics(draft: RowDraft) -> None:
    rounds = draft.count("stats", "rounds")
    iterations = draft.count("stats", "iterations")
    if iterations:
        draft.stated["iterations_a_round"] = f"{iterations:,}"
    values = _single_rounds(draft)
    if values is not None and rounds is not None and rounds != len(values):
        draft.find(
            DISAGREES,
            f"stats.rounds says {rounds}, but stats.data holds {len(values)} rounds",
            f"the recomputed figures are used; {UNTOUCHED}",
            "stats", "rounds",
        )  # fmt: skip
    count = len(values) if values is not None else rounds
    if count == 0:
        draft.find(NOT_MEASURED, "no round was run", "run the benchmark again", "stats", "rounds")
        return
    if count is not None:
        draft.samples["time"] = count
    recomputed = _recomputed(values) if values is not None else {}
    for key, name in _STATISTICS.items():
        if key in recomputed and values is not None:
            draft.recompute(
                name, "s", recomputed[key], "stats", key, magnitude=values.mean
            )  # fmt: skip
        else:
            draft.report(name, "s", "stats", key)
    _refuse_impossible(draft, count)


def _single_rounds(draft: RowDraft) -> Values | None:
    data = draft.get("stats", "data")
    if not isinstance(data, list) or not data:
        return None
    numbers = [
        each
        for each in data
        if isinstance(each, int | Decimal) and not isinstance(each, bool) and each >= 0
    ]
    if len(numbers) != len(data):
        draft.find(
            IMPOSSIBLE,
            f"stats.data holds {len(data) - len(numbers)} entries that are no number or negative",
            f"nothing is recomputed from it; {UNTOUCHED}",
            "stats", "data",
        )  # fmt: skip
        return None
    draft.note_course("time", numbers)
    return Values(numbers)


def _recomputed(values: Values) -> dict[str, Fraction]:
    statistics = {
        "mean": values.mean,
        "median": values.percentile(Fraction(50)),
        "min": values.smallest,
        "max": values.largest,
    }
    if len(values) > 1:
        statistics["stddev"] = values.deviation(ddof=1)
    return statistics


def _refuse_impossible(draft: RowDraft, count: int | None) -> None:
    least, most = draft.value("time.min"), draft.value("time.max")
    if least is None or most is None:
        return

    def refuse(message: str, key: str) -> None:
        draft.find(IMPOSSIBLE, message, UNTOUCHED, "stats", key)

    if least > most:
        refuse("stats.min is greater than stats.max", "min")
        return
    slack = TOLERANCE * most
    for key in ("mean", "median"):
        value = draft.value(_STATISTICS[key])
        if value is not None and not least - slack <= value <= most + slack:
            refuse(f"stats.{key} is not between stats.min and stats.max", key)
    if count == 1 and most - least > slack:
        refuse("one round was run, but stats.min and stats.max differ", "max")
    deviation = draft.value("time.std")
    if deviation is None or count == 1:
        return
    if deviation > 0:
        draft.refuse_far_median("time", "stats", "mean")
    if deviation == 0 and most - least > slack:
        refuse("stats.stddev is 0, but stats.min and stats.max differ", "stddev")
    elif count is not None and _too_wide(deviation, most - least + slack, count):
        refuse("stats.stddev is wider than stats.min and stats.max allow", "stddev")


def _too_wide(deviation: Fraction, span: Fraction, count: int) -> bool:
    """Popoviciu: the variance of a population is at most a quarter of its span, squared."""
    return 4 * deviation**2 * (count - 1) > span**2 * count * (1 + TOLERANCE)
