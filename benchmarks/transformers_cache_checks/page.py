"""The page of the documentation: rows by family and by cache, and each miss with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

IMPLEMENTATIONS = {
    "dynamic": "<code>DynamicCache</code>, filled by forward passes",
    "generate": "the cache that <code>generate</code> makes by default",
    "static": "<code>StaticCache</code>",
    "quanto": "<code>QuantizedCache</code>, quanto, 2 and 4 bits",
    "hqq": "<code>QuantizedCache</code>, hqq, 1 to 8 bits",
    "fp8": "<code>QuantizedCache</code>, fp8",
    "encoder": "no cache",
}
# Why a model is missed, by version. Nothing is scored by it; a test compares the two.
REASONS = {
    "5.24.0": {
        "falcon, new": (
            "With `new_decoder_architecture` Transformers repeats the keys and values for every\n"
            "  head before it caches them; Upheld counts the KV heads that the file states."
        ),
        "recurrent_gemma": (
            "The model_type is unknown to Upheld, so nothing is predicted. Transformers keeps its\n"
            "  recurrent states in the model's modules, outside the cache that is measured here."
        ),
        "pegasus_x": (
            "The model_type is unknown to Upheld, so nothing is predicted, though its cache is\n"
            "  that of other encoder-decoders: what is unknown is never treated as plain attention."
        ),
    },
    "5.8.1": {
        "nemotron_h": (
            "Its static cache gave a counter to the layer without attention as well; the bytes of\n"
            "  tensors are exact."
        ),
    },
}
OPENING = """\
# Caches of Transformers

What Hugging Face Transformers keeps in its cache, measured to the byte, beside what Upheld's
arithmetic says from the model's `config.json` alone. The two never mix:

- **Measured**: {models} tiny models with random weights were run on a CPU, with prompts shorter and
  longer than the windows, one to three sequences, in fp32 and bf16. The bytes are those of the
  tensors in the cache afterwards. Libraries:
  {versions}.
- **Predicted**: the `config.json` that the model saves is read by Upheld's own reader, and
  `arithmetic/engines/transformers.py` works out the bytes. No measured number goes in.

A row is one run. It is *exact* where three figures are the same, to the byte:

- **tensors**: the elements of all tensors with data, in bytes: keys, values, an indexer's keys,
  states, packed elements and their scales;
- **storage**: the memory behind them, each piece once;
- **counters**: whole numbers beside them, such as the tokens that a static layer has seen.

Where the library refuses to quantise a shape, the row is exact if the arithmetic refuses it too;
these are {refused} rows.
"""
FOUND = """\
## What it shows

- A layer with a window of W keeps the last W − 1 tokens in a `DynamicCache`, and W in a
  `StaticCache`. What the dynamic one keeps is a view: right after a prompt its storage is still the
  whole prompt, and from the next token on W tokens.
- Layers that attend in chunks are cached as windows of the chunk's length.
- Latent attention is cached as its latent row, with the indexer's key in the model's dtype. Before
  5.15 keys and values were expanded to all heads before they were cached.
- A layer with states keeps all taps of the convolution in the model's dtype, one more than vLLM
  keeps, and the recurrent state in fp32 whatever the model's dtype is; up to 5.12 in that dtype.
- A quantised cache quantises the whole prompt at once; after that the tokens wait, as they are,
  until `residual_length` of them have come.
- Layers that share another's keys and values cache nothing; neither does an encoder. A decoder with
  cross-attention keeps, beside its own tokens, keys and values of each token of the encoder.
"""
CLOSING = """\
## Do it again

`make transformers-caches` installs the pinned libraries apart from Upheld's own, measures anew and
compares. This page is what the command prints; a test compares the two.

```sh
python benchmarks/transformers_caches.py tests/corpora/transformers-caches/measured.json \\
  tests/corpora/transformers-caches/measured-5.8.1.json --markdown
```
"""


Rows = Sequence[Mapping[str, Any]]
Scored = tuple[Mapping[str, Any], Rows]


def page(scored: Sequence[Scored]) -> str:
    """The whole page as Markdown, its tables as HTML that a phone can stack."""
    measurement, rows = scored[0]
    models = measurement["models"]
    by_cache = (
        _counted(words, [row for row in rows if row.get("backend", row["implementation"]) == name])
        for name, words in IMPLEMENTATIONS.items()
    )
    by_version = (
        _counted(f"Transformers {_version(each)}, {len(each['models'])} models", own)
        for each, own in scored
    )
    return "\n".join(
        [
            OPENING.format(
                models=len(models),
                versions=", ".join(f"{name} {each}" for name, each in _libraries(measurement)),
                refused=sum("refused" in row for row in rows),
            ),
            f"**{_exact(rows)} of {len(rows)} rows are exact** in {_version(measurement)}.\n",
            *_misses(scored),
            FOUND,
            "## By family\n",
            _table("Rows by family", "Model", _families(models, rows)),
            "## By cache\n",
            _table("Rows by cache", "Cache", [_group(by_cache)]),
            "## By version\n",
            "The older version was run with one or two models of each family, in bf16 alone. Of "
            "Falcon-H1 nothing\nwas measured there: the library failed.\n",
            _table("Rows by version", "Version", [_group(by_version)]),
            CLOSING,
        ]
    )


def _version(measurement: Mapping[str, Any]) -> str:
    version: str = measurement["versions"]["transformers"]
    return version


def _libraries(measurement: Mapping[str, Any]) -> list[tuple[str, str]]:
    return list(measurement["versions"].items())


def _families(models: Mapping[str, Mapping[str, Any]], rows: Rows) -> Iterator[str]:
    for group in dict.fromkeys(model["group"] for model in models.values()):
        names = [name for name, model in models.items() if model["group"] == group]
        counted = (_counted(escape(name, quote=False), _of(rows, name)) for name in names)
        yield _group(counted, f'<tr><th scope="rowgroup" colspan="3">{group}</th></tr>')


def _misses(scored: Sequence[Scored]) -> Iterator[str]:
    yield "## Misses\n"
    for measurement, rows in scored:
        version = _version(measurement)
        for name in measurement["models"]:
            own = _of(rows, name)
            missed = len(own) - _exact(own)
            if missed:
                reason = REASONS.get(version, {}).get(name, "No reason is known.")
                yield f"- **{name}** in {version}, {missed} of {len(own)} rows.\n  {reason}"
    yield ""


def _of(rows: Iterable[Mapping[str, Any]], model: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["model"] == model]


def _exact(rows: Iterable[Mapping[str, Any]]) -> int:
    return sum(row["exact"] for row in rows)


def _table(name: str, first: str, bodies: Iterable[str]) -> str:
    heads = f'<th scope="col">{first}</th>' + "".join(
        f'<th scope="col" class="uph-number">{column}</th>' for column in ("Exact", "Rows")
    )
    return "\n".join(
        [
            '<div class="uph">',
            f'<div class="uph-scroll" tabindex="0" role="region" aria-label="{name}">',
            '<table class="uph-table">',
            f"<thead><tr>{heads}</tr></thead>",
            *bodies,
            "</table>",
            "</div>",
            "</div>\n",
        ]
    )


def _group(rows: Iterable[str], head: str = "") -> str:
    return "\n".join(["<tbody>", *([head] if head else []), *rows, "</tbody>"])


def _counted(words: str, rows: Sequence[Mapping[str, Any]]) -> str:
    return (
        f'<tr><td>{words}</td><td class="uph-number" data-label="Exact">{_exact(rows)}</td>'
        f'<td class="uph-number" data-label="Rows">{len(rows)}</td></tr>'
    )
