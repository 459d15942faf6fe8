from __future__ import annotations

import re
from itertools import groupby

from upheld.records.rules import RULES


def test_codes_and_names_are_well_formed_and_unique() -> None:
    for code, rule in RULES.items():
        assert code == rule.code
        assert re.fullmatch(r"UPH[1-8]\d\d", code)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
        assert rule.finds[0].isupper()
        assert not rule.finds.endswith(".")
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


def test_codes_of_a_hundred_count_up_without_a_gap() -> None:
    for _, codes in groupby(RULES, key=lambda code: code[:4]):
        numbers = [int(code[3:]) for code in codes]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] % 100 == 1
