"""nvbandwidth: the JSON of `-j`, one row a test case.

The matrix holds GB/s (10^9 bytes) as text, `sum` is their sum (nvbandwidth 0.8,
`json_output.cpp`). A test that a machine can't run is waived and has no numbers.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from upheld.corpus.strict_json import Json
from upheld.measured import bandwidth_matrix
from upheld.measured.content import Content
from upheld.measured.draft import NOT_MEASURED, RowDraft
from upheld.measured.printed import exact, half_of_last_digit, is_number, shown
from upheld.measured.reading import Reading, Row
from upheld.records.finding import Finding

NAME = "nvbandwidth-json"
TOOL = "nvbandwidth"
TITLE = "nvbandwidth: result of -j, JSON"


def recognise(content: Content) -> bool:
    """One object whose only content is an `nvbandwidth` object with test cases."""
    if len(content.documents) != 1:
        return False
    value = content.documents[0].value
    result = value.get("nvbandwidth") if isinstance(value, dict) else None
    return isinstance(result, dict) and isinstance(result.get("testcases"), list)


def read(content: Content) -> Reading:
    """One row for each test case that ran; what was waived is said of the file."""
    value = content.documents[0].value
    assert isinstance(value, dict), "recognise() saw an object"
    result = value["nvbandwidth"]
    assert isinstance(result, dict), "recognise() saw an object"
    whole = RowDraft(content, 0, ("nvbandwidth",), result)
    for name, key in (("driver", "Driver Version"), ("cuda_runtime", "CUDA Runtime Version")):
        fact = whole.get(key)
        if isinstance(fact, str | int) and not isinstance(fact, bool):
            whole.stated[name] = shown(str(fact))
    devices = whole.get("GPU Device list")
    if isinstance(devices, list):
        bandwidth_matrix.state_devices(whole, [each for each in devices if isinstance(each, str)])
    cases = result["testcases"]
    assert isinstance(cases, list), "recognise() saw a list"
    rows: list[Row] = []
    waived: list[str] = []
    findings: list[Finding] = []
    for index, case in enumerate(cases):
        if not isinstance(case, dict):
            continue
        draft = RowDraft(content, 0, ("nvbandwidth", "testcases", index), case)
        draft.case = draft.text("name")
        status = draft.text("status")
        if status == "Waived":
            waived.append(draft.case or "a test without a name")
            continue
        if status != "Passed":
            findings.append(
                Finding(
                    NOT_MEASURED,
                    draft.place("status"),
                    f"{shown(draft.case or 'a test')} ended as {shown(str(status))}",
                    "find out why and run it again; it has no figures",
                )
            )
            continue
        draft.envelope.update(whole.envelope)
        draft.stated.update(whole.stated)
        rows.append(_read_case(draft))
    if waived:
        for row in rows:
            assert isinstance(row.stated, dict)
            row.stated["waived"] = shown(f"{len(waived)} tests: {', '.join(waived)}")
    if not rows and not findings:
        findings.append(
            Finding(
                NOT_MEASURED, whole.place("testcases"), "no test ran: all are waived",
                "run nvbandwidth on a machine that has what the tests need",
            )
        )  # fmt: skip
    return Reading(tuple(rows), whole.text("git_version"), tuple(findings))


def _read_case(draft: RowDraft) -> Row:
    description = draft.text("bandwidth_description") or ""
    draft.stated["measures"] = shown(description)
    cells = _cells(draft.get("bandwidth_matrix"))
    if "(GB/s)" not in description:
        draft.find(
            NOT_MEASURED,
            "the test case does not say that its numbers are GB/s, so they are not read",
            "only bandwidths are read",
            "bandwidth_description",
            severity="warning",
        )
    elif cells is None:
        draft.report("bandwidth.sum", "GB/s", "sum")
    else:
        # Each cell is printed rounded, the sum is not.
        total = sum((Fraction(cell) for cell in cells), Fraction(0))
        rounding = sum(map(half_of_last_digit, cells), Fraction(0))
        draft.report("bandwidth.sum", "GB/s", "sum")
        bandwidth_matrix.hold_against(draft, total, rounding, "sum")
    return bandwidth_matrix.finish(draft)


def _cells(matrix: Json) -> list[int | Decimal] | None:
    """The numbers of a matrix, without the pairs that have none; None where it is no matrix."""
    if not isinstance(matrix, list):
        return None
    cells: list[int | Decimal] = []
    for line in matrix:
        for cell in line if isinstance(line, list) else [None]:
            value = exact(cell) if isinstance(cell, str) else cell
            if cell == "N/A":
                continue
            if not is_number(value):
                return None
            assert isinstance(value, int | Decimal)
            cells.append(value)
    return cells or None
