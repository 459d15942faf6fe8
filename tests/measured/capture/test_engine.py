from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from upheld.measured.capture import engine
from upheld.measured.capture.engine import EngineUrlError, ask_engine, check_url, is_here

Serve = Callable[[dict[str, Any]], str]


class _Handler(BaseHTTPRequestHandler):
    """Answers each path as the server's `answers` have it; bytes as they are, else as JSON."""

    def do_GET(self) -> None:
        answer = self.server.answers.get(self.path)  # type: ignore[attr-defined]
        if answer is None:
            self.send_error(404)
            return
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        redirect = isinstance(answer, str)
        self.send_response(302 if redirect else 200)
        if redirect:
            self.send_header("Location", answer)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers = []

    def start(answers: dict[str, Any]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.answers = answers  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def models(owner: str, **more: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "example-8b", "owned_by": owner, **more}]}


@pytest.mark.parametrize(
    ("owner", "path", "about", "name", "version"),
    [
        ("vllm", "/version", {"version": "0.19.0"}, "vllm", "0.19.0"),
        ("sglang", "/get_server_info", {"version": "0.5.3"}, "sglang", "0.5.3"),
        ("llamacpp", "/props", {"build_info": "b11434-1a2b3c4"}, "llama.cpp", "b11434-1a2b3c4"),
        ("somebody", "/version", {"version": "1.0"}, None, "1.0"),
    ],
)
def test_each_engine_says_its_version_in_its_own_place(
    serve: Serve, owner: str, path: str, about: Any, name: str | None, version: str
) -> None:
    answer = ask_engine(serve({"/v1/models": models(owner, max_model_len=8192), path: about}))
    assert (answer["engine"], answer["version"]) == (name, version)
    assert answer["models"] == ["example-8b"]
    assert answer["max_model_len"] == 8192
    assert answer["here"] is True
    assert answer["problem"] is None


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({}, "/v1/models: no answer: Not Found"),
        ({"/v1/models": b"<html>"}, "/v1/models: the answer is not JSON"),
        ({"/v1/models": b"\xff"}, "/v1/models: the answer is not JSON"),
        ({"/v1/models": "http://127.0.0.1/elsewhere"}, "/v1/models: no answer: Found"),
        ({"/v1/models": b"[" * 100_000}, "/v1/models: the answer is not JSON"),
        ({"/v1/models": b" " * 5_000_000}, "/v1/models: the answer is too long"),
        ({"/v1/models": models("vllm")}, "/version: no answer: Not Found"),
    ],
)
def test_an_answer_that_is_none_is_a_problem_and_no_fact(
    serve: Serve, answers: dict[str, Any], problem: str
) -> None:
    answer = ask_engine(serve(answers))
    assert answer["problem"] == problem
    assert answer["version"] is None


@pytest.mark.parametrize(
    "strange",
    [
        [],
        {"data": "no list"},
        {"data": ["no object"]},
        {"data": [{"id": 7, "owned_by": ["vllm"], "max_model_len": -1}]},
        {"data": [{"id": "a\x1b[31m", "owned_by": "x" * 10_000, "max_model_len": True}]},
    ],
)
def test_strange_answers_say_nothing(serve: Serve, strange: Any) -> None:
    answer = ask_engine(serve({"/v1/models": strange, "/version": {"version": {"a": 1}}}))
    assert answer["engine"] is None
    assert answer["version"] is None
    assert answer["models"] == []
    assert answer["max_model_len"] is None


def test_nobody_there_is_said_soon(serve: Serve) -> None:
    answer = ask_engine("http://127.0.0.1:1")
    assert answer["problem"].startswith("/v1/models: no answer:")


def test_an_engine_that_never_finishes_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TIMEOUT", 0.2)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as silent:
        # It listens, and nobody serves.
        answer = ask_engine(f"http://127.0.0.1:{silent.server_port}")
    assert answer["problem"] is not None


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://localhost:8000/v1/", "http://localhost:8000"),
        ("https://[::1]:8000/", "https://[::1]:8000"),
        ("http://gpu-host", "http://gpu-host"),
    ],
)
def test_an_address_is_reduced_to_host_and_port(url: str, checked: str) -> None:
    assert check_url(url) == checked


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "file:///etc/passwd", "http://", "http://a:b@host", "http://host:x",
     "http://host/path", "http://host?key=secret", "http://[::1"],
)  # fmt: skip
def test_an_address_that_cant_be_asked_is_refused(url: str) -> None:
    with pytest.raises(EngineUrlError):
        check_url(url)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:8000", True),
        ("http://127.0.0.2", True),
        ("http://[::1]:8000", True),
        ("http://gpu-host", False),
        ("http://192.0.2.1", False),
    ],
)
def test_an_engine_here_is_one_at_a_loopback_address(url: str, here: bool) -> None:
    assert is_here(url) is here
