"""The page of the documentation: counts, what each tool is for, how they were asked, each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from engine_report_checks.page import ENGINE_NAMES, FIGURE_NAMES, PART_NAMES
from memory_calculator_checks.cases import SIZE, TOKENS
from memory_calculator_checks.scores import NO_ANSWER, UPHELD, counts, misses

Cases = Sequence[Mapping[str, Any]]

QUESTIONS = {
    TOKENS: "Tokens that the printed memory holds",
    SIZE: "Size of the cache for a printed context",
}
VERDICT_NAMES = {
    "exact": "exact",
    "within": "<strong>wrong</strong>, by less than 1 %",
    "off": "<strong>wrong</strong>",
    NO_ANSWER: "<strong>no answer</strong>",
}
COLUMNS = ("Tool", "Answer", "Verdict")
PURPOSES = {
    "vramscout": """\
Says before a deployment whether a model fits, where the memory goes and how long a context it
leaves, from the Hub's own metadata: questions about the whole of the memory that Upheld answers
only in part. It knows states and caches of many recent families, looks at the GPU that is there,
and reads start-up logs. For a model with states it counts what the tokens need; it is not made to
say what vLLM prints for its pool of them, which is another number.
""",
    "hf-vram-calc": """\
Gives an overview of weights, cache, training and LoRA for a model of the Hub, with a table of GPUs
that it fits on; Upheld says nothing of training. One formula for the cache serves all models, with
the width of a head taken from the hidden size. It is not made for engines' layouts of the cache.
""",
    "llm-mem-planner": """\
Plans the parallelism of large models with latent attention, such as DeepSeek's and GLM's, with a
rough model of time beside the memory, and proposes a split; Upheld does neither. Its cache is the
latent one by design, so that most models here lie outside what it is for.
""",
}
OPENING = """\
# Memory calculators

Three other tools on the Python registry work out the memory of a model. Here they and Upheld are
asked for the same figures that engines printed at start-up, in one run.
"""
CAVEAT = """\
Read the counts with this in mind: Upheld was built with these reports at hand and is tested against
them; the others were not. Other reports would give other counts. Only the KV cache is compared, the
part of memory that all four work out; each tool does more than that.
"""
OWN_MISSES = """
What Upheld misses is explained under [engine reports](engine-reports.md#misses).
"""
METHOD = """\
## How they were asked

The figures are those of [engine reports](engine-reports.md) that one of two questions covers:

- **Tokens**: vLLM printed how much memory its cache gets, and how many tokens or blocks that holds
  or how long a context fits. Given the printed memory, how many?
- **Size**: an engine printed the size of its whole cache, or of the cache that one context needs.
  Given the context, how large?

Left out are figures of models whose shape is not known, of caches that an engine prints in several
parts, and of a state beside the cache; the other tools give one sum. Weights are left out too:
vramscout takes their size from the files on the Hub rather than working it out.

Every tool gets the model's shape, the dtype of the cache, the split over devices, and the printed
memory or context. Upheld also gets what it alone has a use for: the engine's version, the size of a
batch, and whether llama.cpp keeps latent attention compressed or expanded.

A size is exact with the digits that the engine printed. A capacity is exact where the printed one
lies in what the rounding of the memory allows. A wrong answer and none are both misses, and are
counted apart. Where there is a choice, the others are read in their favour:

- their own functions are called, so that figures are not rounded on the way;
- capacities count as exact before and after rounding down to whole blocks, for one long sequence
  or for sequences of the longest length, whichever fits;
- contexts are rounded up to whole blocks, as vLLM does;
- a drafter's layers are added to the model's; where vLLM keeps every layer full, so does the shape;
- facts that a cache does not depend on get a stand-in where they are not known;
- vramscout gets the number of parameters that it would ask the Hub for, without which it refuses
  mixtures of experts;
- hf-vram-calc gets the shape without reading a configuration, so that it refuses no family, and its
  split of memory over devices is applied to the cache;
- llm-mem-planner's cache is asked for also where its command refuses a model for a fact that only
  weights depend on.
"""
CLOSING = """\
## Do it again

The run is kept in `tests/corpora/memory-calculators/results.json`. Its versions are pinned in
`benchmarks/memory_calculator_checks/requirements.txt`; none is a dependency of Upheld. This makes
an environment with them (several GB, as hf-vram-calc brings PyTorch), the run and this page:

```sh
make peers
```

A test compares this page with the run, and Upheld's answers in it with what the code says today.
"""


def summary(result: Mapping[str, Any]) -> str:
    """The counts as text."""
    lines = []
    for title, cases in _parts(result):
        lines.append(f"{title}: {len(cases)} figures")
        for tool in _tools(result):
            found = counts(cases, tool)
            lines.append(
                f"  {tool}: {found['exact']} exact, {found['within'] + found['off']} wrong, "
                f"{found[NO_ANSWER]} no answer; misses: {misses(found)}"
            )
    return "\n".join(lines) + "\n"


def page(result: Mapping[str, Any]) -> str:
    """The whole page as Markdown, its tables of cases as HTML that a phone can stack."""
    parts = [OPENING, _lead(result), CAVEAT]
    for title, cases in _parts(result):
        parts += [f"**{title}**, {len(cases)} figures:\n", _counts(result, cases)]
    parts += [_better(result), "## What each tool is for\n"]
    for tool, version in result["versions"].items():
        registry = f"On the registry: <https://pypi.org/project/{tool}/>\n"
        parts += [f"### {tool} {version}\n", PURPOSES[tool], registry]
        parts.append(_missed(result["cases"], tool))
    parts.append(METHOD)
    for question, title in QUESTIONS.items():
        cases = [case for case in result["cases"] if case["question"] == question]
        parts += [f"## {title}\n", _table(title, map(_case, cases))]
    parts.append(CLOSING)
    return "\n".join(parts)


def _tools(result: Mapping[str, Any]) -> list[str]:
    return [UPHELD, *result["versions"]]


def _parts(result: Mapping[str, Any]) -> Iterator[tuple[str, Cases]]:
    yield "All", result["cases"]
    for question, title in QUESTIONS.items():
        yield title, [case for case in result["cases"] if case["question"] == question]


def _lead(result: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{tool} {version}" for tool, version in result["versions"].items())
    missed = ", ".join(f"{tool} {misses(counts(result['cases'], tool))}" for tool in _tools(result))
    return (
        f"**Misses of {len(result['cases'])} figures: {missed}.** Run on {result['made']} with\n"
        f"{versions}.\n"
    )


def _counts(result: Mapping[str, Any], cases: Cases) -> str:
    rows = ["| Tool | Exact | Wrong | No answer | Misses |", "|---|--:|--:|--:|--:|"]
    for tool in _tools(result):
        found = counts(cases, tool)
        wrong = found["within"] + found["off"]
        cells = (tool, found["exact"], wrong, found[NO_ANSWER], misses(found))
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"


def _better(result: Mapping[str, Any]) -> str:
    """The figures where another tool is exact and Upheld is not."""
    lines = []
    for case in result["cases"]:
        exact = [tool for tool in _tools(result) if case["answers"][tool]["verdict"] == "exact"]
        if exact and UPHELD not in exact:
            lines.append(f"- {_text(case['model'])}, {_figure(case)}: {', '.join(exact)}")
    if not lines:
        lines = ["On none of these figures is another tool exact where Upheld is not."]
    return "\n".join(["## Where another tool does better\n", *lines, OWN_MISSES])


def _missed(cases: Cases, tool: str) -> str:
    """What the tool misses, counted by what explains it."""
    found = counts(cases, tool)
    answers = [(case, case["answers"][tool]) for case in cases]
    wrong = Counter(
        f"of the type `{case['given']['model_type']}`"
        for case, answer in answers
        if answer["verdict"] in ("within", "off")
    )
    none = Counter(
        f"because {_text(answer['reason'])}"
        for _, answer in answers
        if answer["verdict"] == NO_ANSWER
    )
    near = f", {found['within']} of them by less than 1 %" if found["within"] else ""
    return (
        f"Wrong on {wrong.total()}{near}:\n\n{_listed(wrong)}\n"
        f"No answer to {none.total()}:\n\n{_listed(none)}"
    )


def _listed(found: Counter[str]) -> str:
    lines = [f"- {number} {words}" for words, number in found.most_common()]
    return "\n".join(lines or ["- none"]) + "\n"


def _table(name: str, bodies: Iterator[str]) -> str:
    heads = "".join(f'<th scope="col">{column}</th>' for column in COLUMNS)
    return "\n".join(
        [
            '<div class="uph">',
            f'<div class="uph-scroll" tabindex="0" role="region" aria-label="{escape(name)}">',
            '<table class="uph-table engine-reports memory-calculators">',
            f"<thead><tr>{heads}</tr></thead>",
            *bodies,
            "</table>",
            "</div>",
            "</div>\n",
        ]
    )


def _case(case: Mapping[str, Any]) -> str:
    """One case as a group of rows: what was printed and given, then a row for each tool."""
    version = case["engine_version"]
    engine = ENGINE_NAMES[case["engine"]]
    origin = f"{engine} · version {version or 'not printed'} · {case['source']}"
    notes = [
        f"<strong>{_figure(case)}, as printed: {escape(case['printed'])}</strong>",
        _given(case["given"]),
    ]
    lines = "".join(f'<span class="uph-note">{line}</span>' for line in [*notes, _text(origin)])
    head = f'<tr><th scope="rowgroup" colspan="3">{_text(case["model"])}{lines}</th></tr>'
    rows = [_row(tool, each) for tool, each in case["answers"].items()]
    return "\n".join(["<tbody>", head, *rows, "</tbody>"])


def _figure(case: Mapping[str, Any]) -> str:
    part, _, figure = case["figure"].rpartition(".")
    return f"{FIGURE_NAMES[figure]}{f' ({PART_NAMES[part]})' if part else ''}"


def _given(given: Mapping[str, Any]) -> str:
    if "context" in given:
        words = [f"for {given['context']:,} tokens"]
    else:
        words = [" … ".join(f"{end:.3f}" for end in given["memory_gib"]) + " GiB"]
    words.append(f"{given['dtype']} cache")
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        if given[name] > 1:
            words.append(f"{name.replace('_', ' ')} {given[name]}")
    return f"Given: {_text(', '.join(words))}"


def _row(tool: str, each: Mapping[str, str]) -> str:
    answer = each.get("answer") or each["reason"]
    return (
        f"<tr><td>{tool}</td>"
        f'<td data-label="Answer">{_text(answer)}</td>'
        f'<td data-label="Verdict">{VERDICT_NAMES[each["verdict"]]}</td></tr>'
    )


def _text(text: str) -> str:
    return escape(text, quote=False)
