from __future__ import annotations

import pytest

from upheld.importers.names import id_from, title_from


@pytest.mark.parametrize(
    ("name", "id_", "title"),
    [
        ("example-org/Example-8B", "example-8b", "Example-8B"),
        ("Example-8B", "example-8b", "Example-8B"),
        ("/data/models/Example 8B/", "example-8b", None),
        ("C:\\models\\Example", "example", "Example"),
        ("./-x.", "x", None),
        ("con", None, None),
        ("Ünï", "uni", None),
        ("模型", None, None),
        ("", None, None),
        ("x" * 80, "x" * 64, None),
    ],
)
def test_what_a_name_gives(name: str, id_: str | None, title: str | None) -> None:
    assert (id_from(name), title_from(name)) == (id_, title)
