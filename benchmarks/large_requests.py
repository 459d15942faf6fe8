"""How long a large file of single requests takes, beside the bare query over the same file.

    python benchmarks/large_requests.py --megabytes 256

The bare query has no digest, no check and no exact sums: means, deviations and percentiles of two
latencies as DuckDB works them out in floating point. Both run in processes of their own, in turn,
and the ratio of the medians is printed with the most memory that each held.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from upheld.measured.mapping import large
from upheld.measured.mapping.mapped import Mapped
from upheld.measured.read import read_mapped_file
from upheld.records.finding import Place
from upheld.records.mapping import Mapping

BARE = """
SELECT count(*), avg(ttft), stddev_pop(ttft), quantile_cont(ttft, [0.5, 0.9, 0.95, 0.99]),
       avg(latency), stddev_pop(latency), quantile_cont(latency, [0.5, 0.9, 0.95, 0.99])
FROM read_json(?, format = 'newline_delimited',
               columns = {ttft: 'DOUBLE', latency: 'DOUBLE', success: 'BOOLEAN'})
WHERE success
"""
MAPPING = {
    "samples": {
        "completed": {"success": "true"},
        "values": [
            {"metric": "latency.ttft", "unit": "s", "at": "ttft"},
            {"metric": "latency.e2e", "unit": "s", "at": "latency"},
        ],
    }
}


def write_requests(file: Path, megabytes: int) -> None:
    """Requests as a script would write them, a line each, until the file is so large."""
    chance = random.Random(11)
    written = 0
    with file.open("w", encoding="utf-8") as stream:
        while written < megabytes * 10**6:
            written += stream.write(
                json.dumps({
                    "id": chance.getrandbits(40), "success": chance.random() > 0.001,
                    "ttft": chance.lognormvariate(-2, 0.5),
                    "latency": chance.lognormvariate(1, 0.4),
                    "output_tokens": chance.randint(1, 512),
                }) + "\n"
            )  # fmt: skip


def bare(file: Path) -> list[float]:
    """The bare query: count, then mean, deviation and percentiles of each latency."""
    import duckdb

    with duckdb.connect(config={"memory_limit": "512MB", "threads": large.threads()}) as connection:
        found = connection.execute(BARE, [str(file)]).fetchone()
    assert found is not None
    flat = [each if isinstance(each, list) else [each] for each in found]
    return [float(each) for values in flat for each in values]


def by_mapping(file: Path) -> list[float]:
    """The same figures of the file as a run record reads it."""
    mapped = Mapped("jsonl", Mapping.model_validate(MAPPING), lambda path: Place("run.yaml"))
    with file.open("rb") as stream:
        (row,) = read_mapped_file(file.name, stream, mapped).rows
    assert row.requests is not None
    found: list[Fraction | int | None] = [row.requests.completed]
    for metric in ("latency.ttft", "latency.e2e"):
        for statistic in ("mean", "std", "p50", "p90", "p95", "p99"):
            figure = row.figure(f"{metric}.{statistic}")
            found.append(None if figure is None else figure.value)
    return [float(each) for each in found if each is not None]


WAYS = {"bare": bare, "mapping": by_mapping}


def timed(way: str, file: Path) -> dict[str, object]:
    """One reading in this process: seconds, the most memory it held, the figures."""
    large.LARGE_FROM = 0
    start = time.perf_counter()
    figures = WAYS[way](file)
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"seconds": seconds, "peak_bytes": peak, "figures": figures}


def compare(file: Path, rounds: int) -> dict[str, object]:
    """Both ways in turn, each in a process of its own."""
    runs: dict[str, list[dict[str, object]]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, found in runs.items():
            command = [sys.executable, __file__, "--one", way, str(file)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found.append(json.loads(output))
    medians = {
        way: statistics.median(float(str(each["seconds"])) for each in found)
        for way, found in runs.items()
    }
    return {
        "bytes": file.stat().st_size,
        "rounds": rounds,
        "seconds": medians,
        "ratio": medians["mapping"] / medians["bare"],
        "peak_bytes": {
            way: max(int(str(each["peak_bytes"])) for each in found) for way, found in runs.items()
        },
        "figures": {way: found[0]["figures"] for way, found in runs.items()},
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        way, file = chosen.one
        print(json.dumps(timed(way, Path(file))))
        return
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests.jsonl"
        write_requests(requests, chosen.megabytes)
        print(json.dumps(compare(requests, chosen.rounds), indent=2))


if __name__ == "__main__":
    main()
