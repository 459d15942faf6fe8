"""llama.cpp started here over many settings: what it printed of its caches, against arithmetic.

    python benchmarks/llama_cpp_caches.py --run SERVER MODEL [--families FOLDER] > printed.json
    python benchmarks/llama_cpp_caches.py printed.json --models MODELS.yaml [--markdown]

The first starts llama-server once for each setting, with a real model and with tiny ones of other
families, `FOLDER/NAME.gguf`, and keeps the lines it printed. The second compares them, and
`--markdown` is the page of the documentation.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from llama_cpp_cache_checks.comparing import compare
from llama_cpp_cache_checks.grid import of_a_family, of_the_real_model
from llama_cpp_cache_checks.page import page
from llama_cpp_cache_checks.running import model_of, runs_of, version_of

PORT = 18_431


def main() -> None:
    """Run the engine, or compare what it printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("printed", type=Path, nargs="?")
    parser.add_argument("--models", type=Path, help="the shapes of the models")
    parser.add_argument("--markdown", action="store_true", help="the page docs/llama-cpp-caches.md")
    parser.add_argument("--run", type=Path, nargs=2, metavar=("SERVER", "MODEL"))
    parser.add_argument("--families", type=Path, help="a folder of tiny models, for --run")
    options = parser.parse_args()
    if options.run:
        printed = measure(*options.run, options.families)
        print(json.dumps(printed, indent=1))
        return
    if not (options.printed and options.models):
        parser.error("give what was printed and --models, or --run")
    printed = json.loads(options.printed.read_text("utf-8"))
    models = yaml.safe_load(options.models.read_text("utf-8"))
    if options.markdown:
        print(page(printed, models), end="")
    else:
        _print_misses(printed, models)


def measure(server: Path, model: Path, families: Path | None) -> dict[str, Any]:
    """What llama-server prints for each setting of the grid."""
    tiny = sorted(families.glob("*.gguf")) if families else []
    models, runs = {}, []
    for file, grid in ((model, of_the_real_model), *((each, of_a_family) for each in tiny)):
        print(file.stem, file=sys.stderr)
        models[file.stem] = model_of(server, file, PORT)
        runs += runs_of(server, file, file.stem, grid(), PORT)
    return {"engine": "llama.cpp", "version": version_of(server), "models": models, "runs": runs}


def _print_misses(printed: dict[str, Any], models: dict[str, Any]) -> None:
    exact = 0
    for run in printed["runs"]:
        missed = [each for each in compare(run, models[run["model"]]) if not each.exact]
        exact += not missed
        for each in missed:
            print(run["model"], run["settings"], each)
    print(f"{exact} of {len(printed['runs'])} starts exact")


if __name__ == "__main__":
    main()
