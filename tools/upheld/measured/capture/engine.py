"""What a running engine answers about itself, over HTTP.

Who it is stands in `owned_by` of `/v1/models`, which vLLM, SGLang and llama.cpp all serve; where
its version stands depends on that. Nothing else of an answer is kept.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

from upheld.corpus.strict_json import Json, JsonRefusedError, parse

TIMEOUT = 3.0
"""Seconds that an engine has for each answer."""

MAX_ANSWER = 4 * 1024 * 1024
_MOST_MODELS = 20
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class _Asked:
    """How an engine calls itself in records, and where its version stands."""

    engine: str
    path: str
    key: str


_BY_OWNER = {
    "vllm": _Asked("vllm", "/version", "version"),
    "sglang": _Asked("sglang", "/get_server_info", "version"),
    "llamacpp": _Asked("llama.cpp", "/props", "build_info"),
}


class EngineUrlError(Exception):
    """The address is not one that can be asked; the message says why."""


def check_url(url: str) -> str:
    """The address without a path, so that paths can be set behind it.

    Raises:
        EngineUrlError: not http or https, no host, a path of its own, or a name and password in
            it, which would be kept with the run.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise EngineUrlError(f"it is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EngineUrlError("it does not begin with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise EngineUrlError("it holds a name or password, which would be kept with the run")
    if parts.path.rstrip("/") not in ("", "/v1") or parts.query or parts.fragment:
        raise EngineUrlError("it goes on after host and port; the paths are the engine's own")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}"


def is_here(url: str) -> bool:
    """Whether the address is of this host, so that its devices may be the engine's."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def ask_engine(url: str) -> dict[str, Any]:
    """Who answers at the address, its version and models; None for what it does not say.

    Args:
        url: as check_url returns it.
    """
    answer: dict[str, Any] = {"url": url, "here": is_here(url), "engine": None, "version": None}
    answer |= {"models": [], "max_model_len": None, "problem": None}
    try:
        cards = _cards(_get(url, "/v1/models"))
        asked = _BY_OWNER.get(_only(_text(card.get("owned_by")) for card in cards) or "")
        answer["models"] = [name for card in cards if (name := _text(card.get("id")))]
        answer["max_model_len"] = _only(_count(card.get("max_model_len")) for card in cards)
        answer["engine"] = asked.engine if asked else None
        about = _get(url, asked.path if asked else "/version")
        key = asked.key if asked else "version"
        answer["version"] = _text(about.get(key)) if isinstance(about, dict) else None
    except _NoAnswer as problem:
        answer["problem"] = str(problem)
    return answer


class _NoAnswer(Exception):
    """An engine did not answer, or not in JSON."""


class _Stay(HTTPRedirectHandler):
    """An answer that leads to another address is none."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _get(url: str, path: str) -> Json:
    until = time.monotonic() + TIMEOUT
    pieces: list[bytes] = []
    size = 0
    try:
        with build_opener(_Stay).open(url + path, timeout=TIMEOUT) as response:
            while piece := response.read1(65_536):
                pieces.append(piece)
                size += len(piece)
                if size > MAX_ANSWER or time.monotonic() > until:
                    raise _NoAnswer(f"{path}: the answer is too long")
        documents = parse(b"".join(pieces).decode("utf-8"))
    except (JsonRefusedError, UnicodeDecodeError):
        raise _NoAnswer(f"{path}: the answer is not JSON") from None
    except URLError as error:
        raise _NoAnswer(f"{path}: no answer: {error.reason}") from None
    except (OSError, HTTPException) as error:
        raise _NoAnswer(f"{path}: no answer: {type(error).__name__}") from None
    return documents[0].value if documents else None


def _cards(models: Json) -> list[Mapping[str, Json]]:
    listed = models.get("data") if isinstance(models, dict) else None
    if not isinstance(listed, list):
        return []
    return [card for card in listed[:_MOST_MODELS] if isinstance(card, dict)]


def _only(values: Any) -> Any:
    """The value that all of them are; None where they differ or there is none."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _text(value: Json) -> str | None:
    fits = isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST_TEXT
    return value if fits and isinstance(value, str) else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
