"""llama-server started, and ended once it has printed what its caches take."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SECONDS = 180.0
# Buffers for computing come after the caches.
_ALLOTTED = re.compile(r"sched_reserve: +\S+ compute buffer size =")
_KEPT = re.compile(
    r"(?P<says>llama_context: (?:n_seq_max|n_ctx|n_ctx_seq|n_batch|n_ubatch|flash_attn|kv_unified)"
    r" +=.*|llama_(?:kv_cache|memory_recurrent): .*size = .*|llama_init_from_model: (?!enabling).*)"
)
_HEADER = re.compile(
    r"llama_model_loader: - kv +\d+: +(?P<key>general\.architecture|[\w-]+\.(?:block_count"
    r"|embedding_length|attention\.(?:head_count|head_count_kv|key_length|value_length"
    r"|key_length_mla|value_length_mla|kv_lora_rank|sliding_window|sliding_window_pattern"
    r"|recurrent_layers|indexer\.key_length|indexer\.types)|context_length|feed_forward_length"
    r"|ssm\.(?:conv_kernel|inner_size|state_size|group_count|time_step_rank)"
    r"|shortconv\.l_cache|kda\.head_dim)) +\S+ += (?P<value>.*)"
)
_WINDOWED = re.compile(r"load_tensors: layer +\d+ assigned to device \S+, is_swa = (?P<is>[01])")


def options_of(settings: Mapping[str, Any]) -> list[str]:
    """The settings as options of llama-server."""
    named = {
        "n_ctx": "--ctx-size",
        "n_batch": "--batch-size",
        "n_ubatch": "--ubatch-size",
        "k_type": "--cache-type-k",
        "v_type": "--cache-type-v",
    }
    options = ["--parallel", str(settings.get("n_seq", 1))]
    for name, option in named.items():
        if name in settings:
            options += [option, str(settings[name])]
    options.append("--kv-unified" if settings.get("unified") else "--no-kv-unified")
    if settings.get("swa_full"):
        options.append("--swa-full")
    options += ["--flash-attn", "on" if settings.get("flash_attention", True) else "off"]
    return options


def log_of(server: Path, model: Path, settings: Mapping[str, Any], port: int) -> list[str]:
    """All lines that llama-server prints until its caches are there, or until it ends by itself.

    Raises:
        TimeoutError: it did neither in time.
    """
    command = [
        str(server), "--model", str(model), *options_of(settings), "--fit", "off",
        "--no-warmup", "--verbose", "--host", "127.0.0.1", "--port", str(port),
    ]  # fmt: skip
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        running = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            return _until_allotted(running, log)
        finally:
            running.kill()
            running.wait()


def _until_allotted(running: subprocess.Popen[bytes], log: Any) -> list[str]:
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        ended = running.poll() is not None
        log.seek(0)
        text: str = log.read()
        if ended or _ALLOTTED.search(text):
            return text.splitlines()
        time.sleep(0.1)
    raise TimeoutError(f"llama-server allotted nothing in {SECONDS:.0f} seconds")


def lines_of_caches(log: list[str]) -> list[str]:
    """The lines that say how the context and its caches came out, without what precedes them."""
    return [found["says"] for line in log if (found := _KEPT.search(line))]


def header_of(log: list[str]) -> dict[str, str]:
    """The model's own facts, as the engine prints them from the file's header."""
    found = (_HEADER.search(line) for line in log)
    return {each["key"]: each["value"] for each in found if each}


def windows_of(log: list[str]) -> str:
    """A digit a layer as the engine prints them, 1 for one that attends within a window."""
    return "".join(found["is"] for line in log if (found := _WINDOWED.search(line)))


def version_of(server: Path) -> str:
    """What `--version` prints first."""
    done = subprocess.run(
        [str(server), "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "version" in line]
    return lines[0].strip()


def sha256_of(file: Path) -> str:
    """The digest of a model's file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def model_of(server: Path, model: Path, port: int) -> dict[str, Any]:
    """What tells a model's file apart, and the facts in it that its caches follow from."""
    log = log_of(server, model, {"n_ctx": 256}, port)
    return {
        "sha256": sha256_of(model),
        "bytes": model.stat().st_size,
        "header": header_of(log),
        "is_swa": windows_of(log),
    }


def runs_of(
    server: Path, model: Path, name: str, grid: Iterator[tuple[str, Mapping[str, Any]]], port: int
) -> Iterator[dict[str, Any]]:
    """One entry a start: the model's name, what is varied, the settings and the printed lines.

    Raises:
        RuntimeError: it ended before it made a context, and did not refuse the settings.
    """
    for varied, settings in grid:
        log = log_of(server, model, settings, port)
        lines = lines_of_caches(log)
        if not lines:
            raise RuntimeError("llama-server said nothing of a context:\n" + "\n".join(log[-20:]))
        yield {"model": name, "varied": varied, "settings": dict(settings), "lines": lines}
