"""What the arithmetic beside a log starts from, each value with where it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from upheld.arithmetic.dtypes import OF_TORCH, CacheDtype, cache_dtype
from upheld.arithmetic.errors import ShapeError
from upheld.arithmetic.facts import CachedModel
from upheld.measured.engine_log import DTYPES
from upheld.measured.reading import AxisValue, Row, Startup
from upheld.records.units import Quantity

LOG = "the log"
_WHOLE = re.compile(r"[1-9]\d{0,11}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Used:
    """An input that the arithmetic used; `assumed` where nobody stated it."""

    name: str
    value: int | str
    origin: str
    assumed: bool = False


class Inputs:
    """Values by name: from the log, else from what was chosen beside it, else a default."""

    def __init__(
        self, row: Row, startup: Startup, chosen: Mapping[str, Any], chosen_by: str
    ) -> None:
        self._row = row
        self._startup = startup
        self._chosen = chosen
        self._chosen_by = chosen_by
        self._used: dict[str, Used] = {}

    @property
    def used(self) -> tuple[Used, ...]:
        """Every input that was asked for and has a value, in that order."""
        return tuple(self._used.values())

    def count(
        self, name: str, default: int | None = None, why: str = "", setting: str | None = None
    ) -> int | None:
        """A whole number of at least 1; `setting` is the engine's own name for it, if another."""
        value = self._take(name, setting)
        if value is None:
            if default is not None:
                self.assume(name, default, why)
            return default
        if isinstance(value, Quantity):
            value = str(value.base)
        if not _WHOLE.fullmatch(str(value)):
            raise ShapeError(name, "is no whole number of at least 1")
        return int(str(value))

    def text(self, name: str, setting: str | None = None) -> str | None:
        """A text, None where nobody states it."""
        value = self._take(name, setting)
        return None if value is None else str(value)

    def flag(self, name: str, default: bool, why: str) -> bool:
        """On or off."""
        value = self._take(name, None)
        if value is None:
            self.assume(name, "on" if default else "off", why)
            return default
        return value is True

    def computed_dtype(self, model: CachedModel) -> str:
        """The dtype that the model computes in: as the log says, else as the model is stored.

        Raises:
            ShapeError: nobody states it.
        """
        settings = self._startup.settings
        printed = [settings.get("dtype"), *(line.get("dtype") for line in self._weights())]
        for name in printed:
            if name in DTYPES:
                self.note("dtype", DTYPES[name], LOG)
                return DTYPES[name]
        stored = model.torch_dtype
        if stored is None:
            raise ShapeError("dtype", "neither the log nor the model says what it computes in")
        self.note("dtype", OF_TORCH.get(stored, stored), model.origin)
        return OF_TORCH.get(stored, stored)

    def cache_dtype(self, model: CachedModel) -> CacheDtype:
        """The dtype of the KV cache; where nobody states it, the one that the model computes in.

        Raises:
            ShapeError: the model's file describes a cache of its own, or the dtype is not known.
        """
        name = self.text("kv_cache_dtype")
        if name is not None:
            return cache_dtype(name)
        quantised = getattr(model, "quantised_cache", None)
        if quantised is not None:
            raise ShapeError(
                "kv_cache_dtype",
                f"the log does not say it, and {model.origin} has {quantised}, which engines "
                "follow in some versions and not in others",
            )
        computed = self.computed_dtype(model)
        self.assume("kv_cache_dtype", computed, "not stated: as the model computes")
        return cache_dtype(computed)

    def _weights(self) -> tuple[Mapping[str, str], ...]:
        return self._startup.printed.get("weights", ())

    def _take(self, name: str, setting: str | None) -> AxisValue | Quantity | None:
        said: AxisValue | None = self._row.envelope.get(name)
        if said is None and setting is not None:
            said = self._startup.settings.get(setting)
            said = None if said == "None" else said
        chosen = self._chosen.get(name)
        if said is not None:
            self.note(name, _shown(said), self._origin(name, said, chosen))
            return said
        if chosen is not None:
            self.note(name, _shown(chosen), self._chosen_by)
        found: AxisValue | Quantity | None = chosen
        return found

    def _origin(self, name: str, said: AxisValue, chosen: Any) -> str:
        """The log; where the record says otherwise, that too. Versions may have fewer parts."""
        if chosen is None or name == "engine_version" or _shown(chosen) == _shown(said):
            return LOG
        return f"{LOG}; {self._chosen_by} says {_shown(chosen)}"

    def note(self, name: str, value: int | str, origin: str) -> None:
        """Note an input that somebody stated, unless it is there already."""
        self._used.setdefault(name, Used(name, value, origin))

    def assume(self, name: str, value: int | str, why: str) -> None:
        """Note an input that nobody stated, and why it is taken for this."""
        self._used.setdefault(name, Used(name, value, why, assumed=True))


def _shown(value: Any) -> int | str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Quantity):
        return int(value.base)
    text = str(value)
    return int(text) if _WHOLE.fullmatch(text) else text
