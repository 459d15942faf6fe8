"""The bytes of Transformers' caches, measured on tiny models, beside what arithmetic says.

    python benchmarks/transformers_caches.py --measure MEASURED.json
    python benchmarks/transformers_caches.py MEASURED.json… [--markdown]

The first needs torch and transformers (see transformers_caches.txt) and writes what it measured, of
all models or of those that `--model` names. The second compares measurements with the arithmetic
and needs neither. `--markdown` is the page of the documentation; its tables are of the first file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from transformers_cache_checks.page import page
from transformers_cache_checks.scores import score


def main() -> None:
    """Measure, or compare, as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=Path, nargs="+")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--measure", action="store_true", help="run the models and write the file")
    asked.add_argument("--markdown", action="store_true", help="the page of the documentation")
    parser.add_argument("--model", action="append", help="measure this one; may be repeated")
    parser.add_argument("--dtype", action="append", help="measure in this one; may be repeated")
    options = parser.parse_args()
    if options.measure:
        from transformers_cache_checks.measuring import DTYPES, MODELS, measure

        found = measure(options.model or tuple(MODELS), options.dtype or tuple(DTYPES))
        options.measured[0].write_text(written(found), "utf-8")
        return
    measurements = [json.loads(each.read_text("utf-8")) for each in options.measured]
    scored = [(each, score(each)) for each in measurements]
    if options.markdown:
        print(page(scored), end="")
        return
    for measurement, rows in scored:
        for row in rows:
            if not row["exact"]:
                print(json.dumps(row))
        exact = sum(row["exact"] for row in rows)
        print(f"{measurement['versions']['transformers']}: {exact} of {len(rows)} rows exact")


def written(measurement: Mapping[str, Any]) -> str:
    """A measurement as JSON, one model and one row a line, so that changes can be read."""
    dumps = partial(json.dumps, separators=(",", ":"))
    head = {key: measurement[key] for key in ("python", "versions")}
    models = (f"{dumps(name)}:{dumps(model)}" for name, model in measurement["models"].items())
    rows = map(dumps, measurement["rows"])
    return (
        dumps(head)[:-1]
        + ',\n"models": {\n' + ",\n".join(models)
        + '\n},\n"rows": [\n' + ",\n".join(rows) + "\n]}\n"
    )  # fmt: skip


if __name__ == "__main__":
    main()
