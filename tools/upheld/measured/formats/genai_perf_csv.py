"""GenAI-Perf: the CSV summary of a run, whose numbers have two digits after the point.

genai-perf 0.0.16, export_data/csv_exporter.py. What was not measured is N/A.
"""

from __future__ import annotations

from upheld.measured import perf_csv
from upheld.measured.content import Content
from upheld.measured.perf_summary import read_printed
from upheld.measured.reading import Reading

NAME = "genai-perf-csv"
TOOL = "GenAI-Perf"
TITLE = "GenAI-Perf: summary of a run, CSV"


def recognise(content: Content) -> bool:
    """A first table whose percentiles descend, and the latency of requests in it."""
    columns = perf_csv.header(content)
    return (
        columns[4:5] == ["p99"]
        and not {"std", "sum"} & set(columns)
        and "\nRequest Latency (" in content.text
    )


def read(content: Content) -> Reading:
    """The one run that the file is of; none where it was cut."""
    return read_printed(perf_csv.parse(content))
