"""The page of the documentation: how many starts and figures are exact, by what is varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_cpp_cache_checks.comparing import Comparison, compare
from llama_cpp_cache_checks.grid import VARIED

OPENING = """\
# llama.cpp caches

What llama.cpp printed of its caches when this project started it, beside what Upheld's arithmetic
says of the same model and settings. A start is of a real llama-server on a CPU; it allots its
caches as on any device. **Printed** figures are the engine's. **Predicted** figures are
arithmetic, from the model's layers and the settings alone.

A figure is exact where it has the same characters: cells, layers and streams are whole numbers,
sizes are in MiB with the two decimals that the engine prints. There is no tolerance. Settings
that the engine refuses count as one figure, which is exact where the arithmetic refuses them too.
A layer or a KV head more does not pass: the tests change the shape, and the starts with such
layers are lost.
"""
RULES = """\
## What the runs show

- `n_ctx` is padded to 256 tokens. With one cache for each sequence, its share of them is padded
  to 256 again, so `n_ctx` can grow: 1,000 tokens for 5 sequences become 1,280.
- With one cache for all (`--kv-unified`), each sequence may use all of it.
- Layers in a window hold the window and a batch, padded to 256, and never more than the full
  layers; in one cache for all, a window for each sequence. `--swa-full` gives them as much as
  full layers.
- A batch is no longer than the context as it was asked for, before padding.
- Each dtype of keys and values takes blocks of 32 elements: `q8_0` 34 bytes, `q5_1` 24, `q5_0`
  22, `q4_1` 20, `q4_0` and `iq4_nl` 18. Layers in a window have the same dtypes.
- Without flash attention the values of each layer take as much as those of the widest layer, also
  where a layer has no KV heads.
- Quantised values need flash attention. A latent (DeepSeek) has keys alone, of one dtype with
  values.
- A sparse indexer (DeepSeek 3.2, GLM 5) has a cache beside that of the latents: one key a token, of
  the dtype of keys, and no values.
- A window of Phi 3 is left out, and MiniCPM 3 caches the keys and values that its latents expand
  to.
- A recurrent state is of 4-byte elements, one a sequence, however long the context is.
"""
CLOSING = """\
## Not shown

- More than one device, a draft model, and states kept to go back to while drafting (`rs_seq`).
- Caches of RWKV, and of indexers of other kinds (DeepSeek 4, GLM 5 with states, MiniMax M3), which
  the arithmetic does not know.

## Do it again

What was printed is in `tests/corpora/llama-cpp-caches/printed.json`, line by line, and the layers
of each model in `models.yaml` beside it. This page is what the command prints; a test compares
the two.

```sh
python benchmarks/llama_cpp_caches.py tests/corpora/llama-cpp-caches/printed.json \\
  --models tests/corpora/llama-cpp-caches/models.yaml --markdown
```

`make llama-cpp-caches LLAMA_SERVER=… LLAMA_MODEL=… LLAMA_FAMILIES=…` starts the engine anew for
each setting and writes what it prints. The families are files that llama.cpp's own
`test-llama-archs` writes with `--out`, and the one that `benchmarks/llama_cpp_uneven_model.py`
writes; without them the real model alone is started.
"""


@dataclass(frozen=True, slots=True)
class _Scored:
    """One start and its comparisons."""

    run: Mapping[str, Any]
    checks: Sequence[Comparison]

    @property
    def exact(self) -> bool:
        return all(each.exact for each in self.checks)


def page(printed: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """The whole page as Markdown."""
    scored = [_Scored(run, compare(run, models[run["model"]])) for run in printed["runs"]]
    missed = [each for each in scored if not each.exact]
    return "\n".join(
        [
            OPENING,
            _count(scored, printed),
            "| what is varied | starts | exact | figures | exact |",
            "|---|---:|---:|---:|---:|",
            *(
                _row(title, [each for each in scored if each.run["varied"] == varied])
                for varied, title in VARIED.items()
            ),
            "\n## Models\n",
            "| model | starts | exact | figures | exact |",
            "|---|---:|---:|---:|---:|",
            *(
                _row(models[name]["family"], [each for each in scored if each.run["model"] == name])
                for name in printed["models"]
            ),
            "",
            *_misses(missed, models),
            RULES,
            CLOSING,
        ]
    )


def _count(scored: Sequence[_Scored], printed: Mapping[str, Any]) -> str:
    figures = [check for each in scored for check in each.checks]
    exact = sum(each.exact for each in scored)
    refused = sum(each.checks[0].name == "refused" for each in scored)
    return (
        f"**{exact} of {len(scored)} starts are exact**, "
        f"{sum(each.exact for each in figures):,} of {len(figures):,} figures.\n"
        f"In {refused} of the starts the engine refused the settings. "
        f"The engine says of itself `{printed['version']}`.\n"
    )


def _row(title: str, scored: Sequence[_Scored]) -> str:
    figures = [check for each in scored for check in each.checks]
    counts = (
        len(scored),
        sum(each.exact for each in scored),
        len(figures),
        sum(each.exact for each in figures),
    )
    return f"| {title} | " + " | ".join(f"{each:,}" for each in counts) + " |"


def _misses(missed: Sequence[_Scored], models: Mapping[str, Any]) -> Iterator[str]:
    if not missed:
        return
    yield "## Misses\n"
    yield "| model | settings | figure | printed | predicted |"
    yield "|---|---|---|---:|---:|"
    for each in missed:
        settings = ", ".join(f"`{name}` {value}" for name, value in each.run["settings"].items())
        for check in each.checks:
            if not check.exact:
                figures = f"{check.printed or 'none'} | {check.predicted or 'none'}"
                family = models[each.run["model"]]["family"]
                yield f"| {family} | {settings} | {check.name} | {figures} |"
    yield ""
