"""The page of the documentation: every printed figure beside its prediction, the misses first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

ENGINE_NAMES = {
    "vllm-v1": "vLLM, V1 engine",
    "vllm-v0": "vLLM, V0 engine",
    "sglang": "SGLang",
    "llama.cpp": "llama.cpp",
    "ik_llama.cpp": "ik_llama.cpp",
    "ollama": "Ollama",
    "tensorrt-llm": "TensorRT-LLM",
    "lmdeploy": "LMDeploy",
}
FIGURE_NAMES = {
    "allocated_bytes": "KV cache, bytes",
    "allocated_gib": "KV cache, GiB",
    "attention_block_size": "attention block, tokens",
    "block_size_mb": "block, MB",
    "cells": "cells",
    "ckv_mib": "latent cache, MiB",
    "conv_gb": "convolution, GB",
    "estimated_max_model_len": "longest context that fits, tokens",
    "gpu_kv_cache_tokens": "KV cache, tokens",
    "k_gb": "keys, GB",
    "k_mib": "keys, MiB",
    "kv_gb": "KV cache, GB",
    "kv_mib": "KV cache, MiB",
    "kv_needed_gib": "KV cache needed, GiB",
    "mamba_padding_percent": "padding of a state's page, %",
    "mamba_page_size_padded": "padded page of a state, bytes",
    "max_concurrency": "maximum concurrency",
    "max_tokens": "KV cache, tokens",
    "max_tokens_in_kv_cache": "KV cache, tokens",
    "max_total_num_tokens": "all tokens",
    "model_loading_gib": "weights, GiB",
    "num_cpu_blocks": "blocks on the CPU",
    "num_gpu_blocks": "blocks on the GPU",
    "padding_layers": "padding layers",
    "primary_blocks": "blocks",
    "r_mib": "convolution, MiB",
    "s_mib": "recurrent part, MiB",
    "ssm_gb": "recurrent part, GB",
    "total_mib": "all, MiB",
    "total_tokens": "tokens in all blocks",
    "v_gb": "values, GB",
    "v_mib": "values, MiB",
}
PART_NAMES = {
    "all": "all layers",
    "full": "full layers",
    "mamba": "states",
    "mla": "latent layers",
    "mla_expanded": "all layers",
    "mtp1": "draft layer",
    "recurrent": "states",
    "sliding": "sliding layers",
}
VERDICT_NAMES = {
    ("exact", "digits"): "exact, same digits",
    ("exact", "interval"): "exact, in the interval",
    ("within", "digits"): "<strong>missed</strong>, by less than 1 %",
    ("within", "interval"): "<strong>missed</strong>, by less than 1 %",
}
FIRST_VERDICTS = {
    "error": "stopped the run with an error at first",
    "not-predicted": "not predicted at first",
    "missed": "missed at first",
    "within": "missed at first, by less than 1 %",
}
MISSED = "<strong>missed</strong>"
NOT_PREDICTED = "<strong>not predicted</strong>"
COLUMNS = ("Figure", "Printed by the engine", "Predicted by arithmetic", "Verdict")

OPENING = """\
# Engine reports

What engines printed about memory when they started, beside what Upheld's arithmetic says of the
same start. The two never mix:

- **Printed** figures come from engines that others ran, out of public logs, issues and notes. This
  project ran none of them. The source stands under each model; of some no address was
  kept, and a number tells them apart.
- **Predicted** figures are arithmetic, from the model's shape and what the engine was started with.
  Where the engine itself works one figure out from another, such as tokens from free memory, the
  arithmetic starts from the one that was printed. A shape is that of the published configuration
  or what the same log prints; some were taken from public knowledge and not read again. The file
  of shapes names the source of each. What weights need beside them stands in
  `benchmarks/engine_report_checks/configurations.yaml`, likewise with its source.

A figure is *exact* in one of two ways, and the table says which:

- **same digits**: the prediction, rounded as the engine rounds it, has the digits that it printed;
- **in the interval**: an input is itself a rounded figure, so it allows a range of predictions, and
  the printed figure lies inside it.

A case is exact where all its figures are. A wrong shape does not pass: the tests add a layer, a KV
head, or width to each head, and most exact cases are lost.
"""
CLOSING = """\
## Do it again

The reports and shapes are in `tests/corpora/engine-reports/`, each with its source. This page is
what the command prints; a test compares the two.

```sh
python benchmarks/engine_reports.py tests/corpora/engine-reports/reports.yaml \\
  tests/corpora/engine-reports/blind.yaml \\
  --shapes tests/corpora/engine-reports/shapes.yaml --markdown
```
"""


def page(reports: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> str:
    """The whole page as Markdown, its tables as HTML that a phone can stack."""
    by_id = {report["id"]: report for report in reports}
    cases = result["cases"]
    missed = [case for case in cases if case["verdict"] != "exact"]
    parts = [OPENING, _count(reports, cases), *_blind(reports, cases)]
    if missed:
        parts += [
            "## Misses\n",
            _table("Misses", (_case(by_id[each["id"]], each, True) for each in missed)),
        ]
    for engine, name in ENGINE_NAMES.items():
        own = [case for case in cases if case["engine"] == engine]
        exact = [case for case in own if case["verdict"] == "exact"]
        if own:
            parts.append(f"## {name}\n")
            parts.append(_counted_of(len(exact), len(own), len(own) - len(exact)))
        if exact:
            parts.append(_table(name, (_case(by_id[each["id"]], each) for each in exact)))
    parts += [*_weights(by_id, result["weights"]), CLOSING]
    return "\n".join(parts)


def _count(reports: Sequence[Mapping[str, Any]], cases: Sequence[Mapping[str, Any]]) -> str:
    checks = [check for case in cases for check in case["checks"]]
    ways = Counter(check["compared"] for check in checks if check["verdict"] == "exact")
    exact = sum(case["verdict"] == "exact" for case in cases)
    inferred = sum(report["basis"] == "inferred" for report in reports)
    return (
        f"**{exact} of {len(cases)} cases are exact.** Of {len(checks)} figures in them, "
        f"{ways['digits']} have the same\ndigits, {ways['interval']} are in the interval, and "
        f"{len(checks) - ways.total()} are missed.\n\n"
        f"In {len(cases) - inferred} cases every input is printed, a default of the engine, or "
        f"part of the model's\nconfiguration. In {inferred} an input was inferred, some from the "
        "printed figures themselves; these\nprove less, and say *inferred input*.\n"
    )


def _blind(
    reports: Sequence[Mapping[str, Any]], cases: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """How the cases fared that were written down before the arithmetic was run on them."""
    blind = [each for each in reports if "first_verdict" in each]
    if not blind:
        return
    exact = {case["id"] for case in cases if case["verdict"] == "exact"}
    yield (
        "## Blind\n\nThese cases were written down, with their shapes, before the arithmetic was "
        "run on any of them.\nThe other cases were at hand while it was written.\n"
    )
    for number in sorted({each["blind_round"] for each in blind}):
        now = [each for each in blind if each["blind_round"] == number]
        first = Counter(each["first_verdict"] for each in now)
        stopped = f", and {first['error']} stopped the run with an error" * bool(first["error"])
        yield (
            f"- **Round {number}: {first['exact']} of {len(now)} exact blind** "
            f"({first['exact'] / len(now):.0%}){stopped}. Today "
            f"{sum(each['id'] in exact for each in now)} are exact."
        )
    added = sum("added_later" in each for each in blind)
    yield (
        "\nAfter a round, misses were mended where their cause is a rule of the engine, so only "
        f"its first score is\nblind. {added} cases were then given an input: the device that their "
        "source names, or what the figures\nask for. A case that was not exact at first says so.\n"
    )


def _counted_of(exact: int, total: int, missed: int) -> str:
    above = f" The {'miss stands' if missed == 1 else 'misses stand'} [above](#misses)."
    cases = "case is" if total == 1 else "cases are"
    return f"{exact} of {total} {cases} exact.{above if missed else ''}\n"


def _weights(by_id: Mapping[str, Mapping[str, Any]], scored: Mapping[str, Any]) -> Iterator[str]:
    rows = scored["rows"]
    if not rows:
        return
    exact = [row for row in rows if row["verdict"] == "exact"]
    unknown = [row for row in rows if row["verdict"] == "not-predicted"]
    missed = [row for row in rows if row not in exact and row not in unknown]
    yield "## Weights\n"
    counts = [f"{len(exact)} of {len(rows)} figures have the same digits"]
    if missed:
        counts.append(f"{len(missed)} {'is' if len(missed) == 1 else 'are'} missed")
    yield (
        f"What loading the model took, in GiB, as vLLM printed it. {', '.join(counts)};\n"
        f"{len(unknown)} are not predicted, because a fact that the figure depends on is not known "
        "here.\n"
    )
    for title, some in (
        ("Missed weights", missed),
        ("Weights that are not predicted", unknown),
        ("Weights that are exact", exact),
    ):
        if some:
            yield f"### {title}\n"
            yield _table(title, (_weight(by_id[row["id"]], row) for row in some))


def _table(name: str, bodies: Iterator[str]) -> str:
    heads = "".join(f'<th scope="col"{_number(column)}>{column}</th>' for column in COLUMNS)
    return "\n".join(
        [
            '<div class="uph">',
            f'<div class="uph-scroll" tabindex="0" role="region" aria-label="{escape(name)}">',
            '<table class="uph-table engine-reports">',
            f"<thead><tr>{heads}</tr></thead>",
            *bodies,
            "</table>",
            "</div>",
            "</div>\n",
        ]
    )


def _number(column: str) -> str:
    return ' class="uph-number"' if column in COLUMNS[1:3] else ""


def _case(report: Mapping[str, Any], case: Mapping[str, Any], missed: bool = False) -> str:
    """One case as a group of rows: what it is of, then one row a figure.

    Among the `missed` each case says of which engine it is, and why it is missed.
    """
    why = ""
    if missed and "does_not_follow" in report:
        why = f"<strong>Why it is missed:</strong> {_text(report['does_not_follow'])}"
    elif "reason" in case:
        why = f"{NOT_PREDICTED}: {_text(case['reason'])}"
    return _group([_head(report, missed, why), *map(_row, case["checks"])])


def _weight(report: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    if report["basis"] == "stated":
        # Its notes are about the cache.
        report = {name: value for name, value in report.items() if name != "notes"}
    why = ""
    if row["verdict"] != "exact" and "weights_do_not_follow" in report:
        why = f"<strong>Why it is missed:</strong> {_text(report['weights_do_not_follow'])}"
    elif "reason" in row:
        why = f"<strong>Why it is not predicted:</strong> {_text(row['reason'])}"
    return _group([_head(report, False, why), _row(row)])


def _group(rows: Sequence[str]) -> str:
    return "\n".join(["<tbody>", *(f"<tr>{row}</tr>" for row in rows), "</tbody>"])


def _head(report: Mapping[str, Any], with_engine: bool, why: str) -> str:
    """Model, version and source of a case, what explains it, and why it is not exact."""
    version = report["engine_version"]
    origin = [f"version {version}" if version else "version not printed", report["source"]]
    if with_engine:
        origin.insert(0, ENGINE_NAMES.get(report["engine"], report["engine"]))
    lines = [_text(" · ".join(origin))]
    said = ["<em>inferred input</em>"] if report["basis"] == "inferred" else []
    if "notes" in report:
        said.append(_text(report["notes"]))
    if said:
        lines.append(": ".join(said))
    if (first := report.get("first_verdict", "exact")) != "exact":
        later = ", and given an input since" if "added_later" in report else ""
        lines.append(f"<em>blind</em>: {FIRST_VERDICTS[first]}{later}")
    if why:
        lines.append(why)
    notes = "".join(f'<span class="uph-note">{line}</span>' for line in lines)
    model = _text(report["model"] or f"not named; shape of {report['model_shape']}")
    return f'<th scope="rowgroup" colspan="4">{model}{notes}</th>'


def _text(text: str) -> str:
    return escape(text, quote=False)


def _row(check: Mapping[str, Any]) -> str:
    part, _, figure = check["name"].rpartition(".")
    words = FIGURE_NAMES[figure] + (f" ({PART_NAMES[part]})" if part else "")
    if check["verdict"] == "not-predicted":
        verdict = NOT_PREDICTED
    else:
        verdict = VERDICT_NAMES.get((check["verdict"], check["compared"]), MISSED)
    return (
        f"<td>{words}</td>"
        f'<td class="uph-number" data-label="Printed">{escape(check["printed"])}</td>'
        f'<td class="uph-number" data-label="Predicted">{escape(check["predicted"] or "none")}</td>'
        f'<td data-label="Verdict">{verdict}</td>'
    )
