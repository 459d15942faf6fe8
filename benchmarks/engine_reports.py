"""What engines printed about memory at start-up, against what arithmetic says.

    python benchmarks/engine_reports.py REPORTS.yaml … --shapes SHAPES.yaml [--json | --markdown]

A figure is exact where the prediction, written as the engine writes it, has the same digits; where
an input is itself a rounded figure, such as 5.27 GiB, where the printed value lies in the interval
that the rounding allows. `within` is 1 % of it. Nothing looks at a model's name or a case's id.
What loading the weights took is scored apart, under `weights`. `--markdown` is the page of the
documentation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from engine_report_checks.loading import score_weights
from engine_report_checks.page import page
from engine_report_checks.scores import score, score_all
from engine_report_checks.shapes import PERTURBATIONS

__all__ = ["PERTURBATIONS", "page", "score", "score_all", "score_weights"]


def main() -> None:
    """Score the reports and print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+")
    parser.add_argument("--shapes", type=Path, required=True)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="all figures, for scripts")
    output.add_argument("--markdown", action="store_true", help="the page docs/engine-reports.md")
    parser.add_argument("--perturb", choices=sorted(PERTURBATIONS))
    options = parser.parse_args()
    reports = [each for path in options.reports for each in yaml.safe_load(path.read_text("utf-8"))]
    shapes = yaml.safe_load(options.shapes.read_text("utf-8"))
    result = score_all(reports, shapes, options.perturb)
    if options.json:
        print(json.dumps(result, indent=2))
    elif options.markdown:
        print(page(reports, result), end="")
    else:
        _print_misses(result)


def _print_misses(result: Mapping[str, Any]) -> None:
    for case in result["cases"]:
        if case["verdict"] != "exact":
            print(f"{case['id']}: {case['verdict']} {case.get('reason', '')}")
            for check in case["checks"]:
                figures = f"printed {check['printed']}, predicted {check['predicted']}"
                print(f"  {check['name']}: {figures}: {check['verdict']}")
    for row in result["weights"]["rows"]:
        if row["verdict"] != "exact":
            figures = f"printed {row['printed']}, predicted {row['predicted']}"
            print(f"{row['id']}: weights: {figures}: {row['verdict']} {row.get('reason', '')}")
    print(f"{result['summary']['exact']} of {result['summary']['total']} cases exact")
    print(f"{result['weights']['exact']} of {result['weights']['total']} weights exact")


if __name__ == "__main__":
    main()
