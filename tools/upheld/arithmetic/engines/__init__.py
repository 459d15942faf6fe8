"""What each engine computes before it prints, one module an engine, by version where they differ.

Each names the source files that its formulas come from. `ENGINES` are those that a deployment may
name; `engine_of` finds one.
"""

from __future__ import annotations

from collections.abc import Callable

from upheld.arithmetic.engines.engine import Engine
from upheld.arithmetic.engines.llama_cpp_plan import LLAMA_CPP, OLLAMA
from upheld.arithmetic.engines.lmdeploy import LMDEPLOY
from upheld.arithmetic.engines.sglang_plan import SGLANG
from upheld.arithmetic.engines.tensorrt_llm import TENSORRT_LLM
from upheld.arithmetic.engines.transformers_plan import TRANSFORMERS
from upheld.arithmetic.engines.vllm_plan import vllm_of
from upheld.arithmetic.errors import ShapeError
from upheld.records.shorten import shorten

_BY_VERSION: dict[str, Callable[[str | None], Engine]] = {
    "vllm": vllm_of,
    "sglang": lambda version: SGLANG,
    "tensorrt-llm": lambda version: TENSORRT_LLM,
    "lmdeploy": lambda version: LMDEPLOY,
    "llama.cpp": lambda version: LLAMA_CPP,
    "ollama": lambda version: OLLAMA,
    "transformers": lambda version: TRANSFORMERS,
}
_ALIASES = {"llama-cpp": "llama.cpp"}
ENGINES = tuple(_BY_VERSION)


def engine_of(name: str, engine_version: str | None) -> Engine:
    """The engine of that name, in any case and with `_` for `-`, as that version of it is.

    Raises:
        ShapeError: an engine that is not known, or a version that says nothing.
    """
    plain = name.casefold().replace("_", "-")
    found = _BY_VERSION.get(_ALIASES.get(plain, plain))
    if found is None:
        raise ShapeError("engine", f"{shorten(name)!r} is not known; known: {', '.join(ENGINES)}")
    return found(engine_version)
