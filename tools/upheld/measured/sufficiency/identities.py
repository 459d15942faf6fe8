"""UPH516: figures of one row that can't hold together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from upheld.measured.reading import Row
from upheld.measured.sufficiency.lengths import mean_length
from upheld.measured.sufficiency.shortcoming import Shortcoming
from upheld.measured.sufficiency.statistics import refused
from upheld.records.units import format_number

_HELP = "add the file as the tool wrote it; otherwise claim none of these figures"

# Tools divide by clocks of their own, which differ by a few percent of a short run.
_CLOCKS = Fraction(10, 100)
_ONE_LENGTH = Fraction(1, 100)
_MANY_LENGTHS = Fraction(3, 2)


def check(row: Row) -> Iterator[Shortcoming]:
    """Fires for each identity whose figures the row has, and that they break."""
    yield from _whole_is_its_parts(row)
    yield from _rate_times_duration(row)
    yield from _rates_add_up(row)
    yield from _counts_add_up(row)
    yield from _no_longer_than_the_run(row)
    if not refused(row):
        yield from _open_at_once(row)


def _whole_is_its_parts(row: Row) -> Iterator[Shortcoming]:
    """e2e = ttft + tpot × (n - 1): exact in the means where all outputs have one length n.

    Where lengths differ, mean and median of tpot must both be off by half in the same direction:
    a mean over requests weighs short ones as much as long ones. Silent where the reader of the
    format doubts what its tool calls tpot.
    """
    whole, first = row.value("latency.e2e.mean", "ms"), row.value("latency.ttft.mean", "ms")
    length = mean_length(row, "output_tokens")
    later = row.value("latency.tpot.mean", "ms")
    if whole is None or first is None or length is None or length <= 1 or not later:
        return
    left = (whole - first) / (length - 1)
    if "latency.tpot" not in row.doubts and _is_another(left, later, row):
        yield Shortcoming(
            "UPH516",
            f"latency.tpot.mean is {format_number(later, 4)} ms, but latency.e2e.mean of "
            f"{format_number(whole, 5)} ms less latency.ttft.mean of {format_number(first, 5)} ms "
            f"leaves {format_number(left, 4)} ms for each of {format_number(length - 1, 4)} tokens",
            _HELP,
            concerns=("latency.tpot", "latency.itl", "latency.e2e"),
        )


def _is_another(left: Fraction, mean: Fraction, row: Row) -> bool:
    """Whether the time that is left for each token is not the one that is stated."""
    if "output_tokens" in row.envelope:
        return abs(left - mean) > _ONE_LENGTH * mean
    median = row.value("latency.tpot.p50", "ms")
    if not median:
        return False
    least, most = min(mean, median), max(mean, median)
    return left > _MANY_LENGTHS * most or least > _MANY_LENGTHS * left


def _rate_times_duration(row: Row) -> Iterator[Shortcoming]:
    """A throughput times the duration is what was done in it."""
    duration = row.value("duration", "s")
    for name, unit, total in (
        ("throughput.requests", "requests/s", row.value("requests.completed", "requests")),
        ("throughput.output_tokens", "tokens/s", row.value("tokens.output.total", "tokens")),
        ("throughput.input_tokens", "tokens/s", row.value("tokens.input.total", "tokens")),
    ):
        rate = row.value(name, unit)
        if not duration or rate is None or total is None:
            continue
        if abs(rate * duration - total) > _CLOCKS * max(total, rate * duration):
            what = unit.partition("/")[0]
            yield Shortcoming(
                "UPH516",
                f"{name} of {format_number(rate, 5)} {unit} over {format_number(duration, 5)} s "
                f"makes {format_number(rate * duration, 5)} {what}, not {format_number(total)}",
                _HELP,
                concerns=(name,),
            )


def _rates_add_up(row: Row) -> Iterator[Shortcoming]:
    """Input and output tokens per second are the total."""
    parts = [row.value(f"throughput.{each}_tokens", "tokens/s") for each in ("input", "output")]
    total = row.value("throughput.total_tokens", "tokens/s")
    if total is None or parts[0] is None or parts[1] is None:
        return
    whole = parts[0] + parts[1]
    if abs(whole - total) > _ONE_LENGTH * max(total, whole):
        yield Shortcoming(
            "UPH516",
            f"input and output throughput make {format_number(whole, 5)} tokens/s, but "
            f"throughput.total_tokens is {format_number(total, 5)}",
            _HELP,
            concerns=("throughput.",),
        )


def _counts_add_up(row: Row) -> Iterator[Shortcoming]:
    """No more requests complete and fail than are sent."""
    requests = row.requests
    if requests is None or requests.attempted is None or requests.completed is None:
        return
    ended = requests.completed + (requests.failed or 0)
    if ended > requests.attempted:
        yield Shortcoming(
            "UPH516",
            f"{requests.attempted:,} requests were sent, but {requests.completed:,} completed and "
            f"{requests.failed or 0:,} failed",
            _HELP,
        )


def _no_longer_than_the_run(row: Row) -> Iterator[Shortcoming]:
    """A first token comes before the last, and both within the run."""
    first, whole = row.value("latency.ttft.mean", "ms"), row.value("latency.e2e.mean", "ms")
    if first is not None and whole is not None and first > whole * (1 + _ONE_LENGTH):
        yield Shortcoming(
            "UPH516",
            f"latency.ttft.mean of {format_number(first, 5)} ms is longer than latency.e2e.mean "
            f"of {format_number(whole, 5)} ms",
            _HELP,
            concerns=("latency.",),
        )
    duration = row.value("duration", "ms")
    for name in ("latency.ttft.max", "latency.e2e.max"):
        longest = row.value(name, "ms")
        if duration and longest is not None and longest > duration * (1 + _CLOCKS):
            yield Shortcoming(
                "UPH516",
                f"{name} of {format_number(longest, 5)} ms is longer than the run of "
                f"{format_number(duration, 5)} ms",
                _HELP,
                concerns=("latency.", "throughput."),
            )


def _open_at_once(row: Row) -> Iterator[Shortcoming]:
    """Little's law: rate × time in the system is how many are in it, at most the limit."""
    limit = row.envelope.get("concurrency")
    rate = row.value("throughput.requests", "requests/s")
    whole = row.value("latency.e2e.mean", "s")
    if not isinstance(limit, int) or isinstance(limit, bool) or rate is None or whole is None:
        return
    if rate * whole > limit * (1 + _ONE_LENGTH):
        yield Shortcoming(
            "UPH516",
            f"{format_number(rate, 5)} requests/s of {format_number(whole, 5)} s each need "
            f"{format_number(rate * whole, 5)} open at once, but the limit is {limit:,}",
            _HELP,
            concerns=("latency.", "throughput."),
        )
