"""Memory calculators on the registry and Upheld, on the same figures that engines printed.

    python benchmarks/memory_calculators.py --python PYTHON [--json | --markdown]
    python benchmarks/memory_calculators.py --results RESULTS.json [--markdown]

PYTHON is an interpreter with some of the tools that memory_calculator_checks/requirements.txt pins;
those that it lacks are named and left out. `make peers` makes one and keeps the run. `--results`
shows a run that was kept. Exit 2: no tool is there, or one failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from memory_calculator_checks.cases import Case, cases
from memory_calculator_checks.page import page, summary
from memory_calculator_checks.peers import ToolFailed, answers, installed
from memory_calculator_checks.scores import result_of

CORPORA = Path(__file__).parents[1] / "tests" / "corpora"


def main() -> None:
    """Run the tools, or read a run that was kept, and print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--python", type=Path, help="an interpreter that has the other tools")
    source.add_argument("--results", type=Path, help="a run that was kept, as --json prints it")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="every case and answer")
    output.add_argument("--markdown", action="store_true", help="docs/memory-calculators.md")
    options = parser.parse_args()
    try:
        result = run(options.python) if options.python else _kept(options.results)
    except ToolFailed as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    if options.json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
    elif options.markdown:
        print(page(result), end="")
    else:
        print(summary(result), end="")


def known() -> tuple[list[Case], dict[str, Any]]:
    """The cases that the tools are asked, and the shapes of their models."""
    reports = _yaml("engine-reports/reports.yaml")
    named = {report["model_shape"] for report in reports}
    shapes = {
        name: shape for name, shape in _yaml("engine-reports/shapes.yaml").items() if name in named
    }
    return cases(reports, shapes, _yaml("memory-calculators/model-types.yaml")), shapes


def run(python: Path) -> dict[str, Any]:
    """One run of every tool that the interpreter has.

    Raises:
        ToolFailed: It has none of them, or one failed.
    """
    asked, shapes = known()
    found = {}
    for tool, is_there in installed(python).items():
        if is_there:
            found[tool] = answers(tool, python, [case.ask for case in asked])
        else:
            print(f"{tool} is left out: {python} does not have it", file=sys.stderr)
    if not found:
        raise ToolFailed(
            f"{python} has none of the tools; install memory_calculator_checks/requirements.txt"
        )
    return result_of(asked, shapes, found, datetime.date.today().isoformat())


def _kept(path: Path) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ToolFailed(f"{path} can't be read: {error}") from error
    if not (isinstance(result, dict) and {"made", "versions", "cases"} <= result.keys()):
        raise ToolFailed(f"{path} is not a run that was kept; --json prints one")
    return result


def _yaml(name: str) -> Any:
    return yaml.safe_load((CORPORA / name).read_text("utf-8"))


if __name__ == "__main__":
    main()
