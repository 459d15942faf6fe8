"""Asks one tool: questions as JSON on standard input, version and answers on standard output."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from importlib.metadata import version

from memory_calculator_checks.adapters.asks import Ask, NoAnswer, answer


def main() -> None:
    adapter = importlib.import_module(f"memory_calculator_checks.adapters.{sys.argv[1]}")
    answers = {}
    with contextlib.redirect_stdout(sys.stderr):
        for given in json.load(sys.stdin):
            ask = Ask(**given)
            try:
                answers[ask.id] = answer(ask, adapter.cache_gib(ask))
            except NoAnswer as refusal:
                answers[ask.id] = {"none": str(refusal)}
    print(json.dumps({"version": version(adapter.DISTRIBUTION), "answers": answers}))


if __name__ == "__main__":
    main()
