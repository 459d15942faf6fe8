from __future__ import annotations

from decimal import Decimal

import pytest

from upheld.measured.mapping.csv_file import TableRefusedError, number_in, parse_table


def test_rows_have_the_line_on_which_they_begin() -> None:
    table = parse_table('a;b\r\n1;"two\r\nlines"\r\n\r\n3;4\r\n')
    assert table.columns == ("a", "b")
    assert table.records == ({"a": "1", "b": "two\r\nlines"}, {"a": "3", "b": "4"})
    assert table.lines == (2, 5)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a,b\n1,2\n3\n", 3, "1 cells below a header of 2"),
        ("a,,b\n1,2,3\n", 1, "a column has no name"),
        ("a,b,a\n1,2,3\n", 1, "the column 'a' is there twice"),
        ('a,b\n1,"2\n', 2, "not CSV"),
        ('a,b\n1,"2"3\n', 2, "not CSV"),
        (",".join(f"c{at}" for at in range(1001)) + "\n1\n", 1, "at most 1,000"),
    ],
)
def test_what_is_no_table_is_refused_at_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(TableRefusedError, match=says) as refused:
        parse_table(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12", 12), ("1,146.31", Decimal("1146.31")), ("5.2e-05", Decimal("5.2e-05")),
        ("-1", -1), ("0 %", None), ("76935 MiB", None), ("1,1", None), ("nan", None),
        ("1e999", None), ("", None), ("١", None),
    ],
)  # fmt: skip
def test_a_cell_is_a_number_as_exact_as_it_is_written(cell: str, number: object) -> None:
    assert number_in(cell) == number
