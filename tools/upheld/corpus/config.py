"""Configuration: `[tool.upheld]` in pyproject.toml, or upheld.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any

from upheld.corpus.files import FileError, check_relative, read_inside
from upheld.records.shorten import shorten
from upheld.records.verdicts import BLOCKING, VERDICTS, Verdict

MAX_BYTES = 1024 * 1024


class ConfigError(Exception):
    """The configuration can't be used; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a team may set.

    `records`: folders, from the corpus root, that hold records. `accepted` and `proposed`: the
    verdicts that block a decision of that status.
    """

    records: tuple[str, ...] = ("adrs", "evidence")
    accepted: frozenset[Verdict] = BLOCKING
    proposed: frozenset[Verdict] = frozenset()


def read_config(root: Path) -> Config:
    """The configuration of the corpus at `root`; upheld.toml goes before pyproject.toml.

    Raises:
        ConfigError: not TOML, an unknown key, or a value of the wrong kind.
    """
    for name, keys in (("upheld.toml", ()), ("pyproject.toml", ("tool", "upheld"))):
        file = root / name
        if not file.exists() and not file.is_symlink():
            continue
        table: Any = _read_toml(root, name)
        for depth, key in enumerate(keys):
            table = _table(table, name, ".".join(keys[:depth])).get(key, {})
        if table != {}:
            return _config(table, name, ".".join(keys))
    return Config()


def _read_toml(root: Path, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_inside(root, name, MAX_BYTES).decode("utf-8"))
    except FileError as error:
        raise ConfigError(str(error)) from None
    except (ValueError, RecursionError) as error:
        # Beside what tomllib itself raises: text that is not UTF-8, a number of too many digits.
        raise ConfigError(f"{name} is not TOML: {error}") from None


def _config(table: Any, name: str, prefix: str) -> Config:
    _only(table, ("records", "gate"), name, prefix)
    gate = table.get("gate", {})
    _only(gate, ("accepted", "proposed"), name, "gate")
    default = Config()
    return Config(
        records=_folders(table.get("records", list(default.records)), name),
        accepted=_verdicts(gate.get("accepted", sorted(default.accepted)), name, "gate.accepted"),
        proposed=_verdicts(gate.get("proposed", []), name, "gate.proposed"),
    )


def _table(value: Any, name: str, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name}: {key} wants a table")
    return value


def _only(table: Any, known: Iterable[str], name: str, holder: str) -> None:
    for key in _table(table, name, holder):
        if key not in known:
            near = get_close_matches(key, list(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            shown = ".".join(filter(None, (holder, _shown(key))))
            raise ConfigError(f"{name}: unknown key {shown}{hint}")


def _shown(key: str) -> str:
    # As TOML writes it: a key of other characters is quoted.
    return shorten(key) if re.fullmatch(r"[A-Za-z0-9_-]+", key) else repr(shorten(key))


def _strings(value: Any, name: str, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{name}: {key} wants a list of text")
    return value


def _folders(value: Any, name: str) -> tuple[str, ...]:
    folders = _strings(value, name, "records")
    if not folders:
        raise ConfigError(f"{name}: records names no folder")
    for folder in folders:
        try:
            check_relative(folder)
        except FileError as error:
            raise ConfigError(f"{name}: records: {error}") from None
    for first, second in combinations(sorted(folders), 2):
        if f"{second}/".startswith(f"{first}/"):
            raise ConfigError(f"{name}: records: {second!r} is within {first!r} already")
    return tuple(folders)


def _verdicts(value: Any, name: str, key: str) -> frozenset[Verdict]:
    known: dict[str, Verdict] = {verdict: verdict for verdict in VERDICTS}
    for item in _strings(value, name, key):
        if item not in known:
            raise ConfigError(
                f"{name}: {key}: {shorten(item)!r} is no verdict; known: {', '.join(known)}"
            )
        if item == "upheld":
            raise ConfigError(f"{name}: {key}: an upheld claim can't block")
    return frozenset(known[item] for item in value)
