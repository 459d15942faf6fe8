"""AIPerf: the CSV summary of a run, whose numbers have two digits after the point."""

from __future__ import annotations

from upheld.measured import perf_csv
from upheld.measured.content import Content
from upheld.measured.perf_summary import read_printed
from upheld.measured.reading import Reading

NAME = "aiperf-csv"
TOOL = "AIPerf"
TITLE = "AIPerf: summary of a run, CSV"


def recognise(content: Content) -> bool:
    """A first table with the columns that only AIPerf has, and the latency of requests in it."""
    columns = perf_csv.header(content)
    return bool({"std", "sum"} & set(columns)) and "\nRequest Latency (" in content.text


def read(content: Content) -> Reading:
    """The one run that the file is of; none where it was cut."""
    return read_printed(perf_csv.parse(content))
