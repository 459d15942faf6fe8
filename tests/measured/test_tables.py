from __future__ import annotations

import pytest

from upheld.measured.content import Content
from upheld.measured.tables import csv_header, csv_table, markdown_tables


def content(text: str) -> Content:
    return Content("a.txt", text.encode())


def test_cells_of_csv_keep_their_place_and_lose_their_quotes() -> None:
    table = csv_table(content('# a comment\r\n\r\na,b,c\r\n1,"x, ""y""",\r\n'))
    assert (table.line, table.last_line, table.columns) == (3, 4, ("a", "b", "c"))
    (row,) = table.rows
    assert {name: cell.text for name, cell in row.cells.items()} == {
        "a": "1", "b": 'x, "y"', "c": "",
    }  # fmt: skip
    place = row.place(0, ("b",))
    assert (place.line, place.column) == (4, 3)
    assert row.place(0, ("d",)).column == 1
    assert row.record({"a"}) == {"a": 1, "b": 'x, "y"', "c": ""}


@pytest.mark.parametrize("line", ["1,2", "1,2,3,4", '1,2,"3', '1,"2"x,3'])
def test_a_row_that_does_not_fit_empties_the_table(line: str) -> None:
    table = csv_table(content(f"a,b,c\n1,2,3\n{line}\n"))
    assert table.rows == ()
    (finding,) = table.findings
    assert (finding.rule, finding.place.line) == ("UPH503", 3)


def test_what_has_no_header_is_no_table() -> None:
    assert csv_header(content("\n\n# only a comment\n")) is None
    assert csv_table(content("")).columns == ()


def test_markdown_tables_are_found_between_other_lines() -> None:
    text = "| not a table |\n\n| a | b |\n|--:|:-:|\n| 1 | two |\n\ntext\n| c |\n| - |\n| 3 |"
    first, second = markdown_tables(content(text))
    assert (first.line, first.last_line, first.columns) == (3, 5, ("a", "b"))
    assert first.rows[0].cells["b"].text == "two"
    assert first.rows[0].place(0, ("b",)).column == 7
    assert second.rows[0].cells["c"].text == "3"


@pytest.mark.parametrize("line", ["| 1 |", "| 1 | 2 | 3 |", "| 1 | 2"])
def test_a_line_that_does_not_fit_empties_the_markdown_table(line: str) -> None:
    (table,) = markdown_tables(content(f"| a | b |\n|---|---|\n| 1 | 2 |\n{line}\n"))
    assert table.rows == ()
    assert [each.place.line for each in table.findings] == [4]
