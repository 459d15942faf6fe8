"""One field of a config.json at a time: checked, or refused in words that name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

MAX_COUNT = 10**9
# More layers than any model has: a file that says more is not worth a list of that length.
MAX_LAYERS = 10_000

_NO_NAMES: Mapping[str, str] = {}
_NO_DEFAULTS: Mapping[str, int] = {}


class ConfigError(ValueError):
    """The file does not give a shape that is known; `help` says how to go on."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one model; a null is as good as nothing, as in Transformers.

    `names` are other names that the family has for a field, such as GPT-2's n_layer; `defaults`
    are what Transformers takes where the file says nothing. Each default that is used adds a
    sentence to `assumed`.
    """

    values: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)
    defaults: Mapping[str, int] = field(default_factory=lambda: _NO_DEFAULTS)
    assumed: list[str] = field(default_factory=list)

    def has(self, key: str) -> bool:
        """Whether the file says anything, under either name."""
        return self.get(key) is not None

    def get(self, key: str) -> Any:
        """The value as the file has it, or None.

        Raises:
            ConfigError: it is there under two names, with two values.
        """
        other = self.names.get(key)
        value = self.values.get(key)
        if other is None or self.values.get(other) is None:
            return value
        if value is not None and value != self.values[other]:
            raise ConfigError(
                f"{key} is {short(value)} and {other}, which means the same, is "
                f"{short(self.values[other])}",
                "keep the one that is right",
            )
        return self.values[other]

    def assume(self, sentence: str) -> None:
        """Notes what was taken for a fact that the file leaves out; once is enough."""
        if sentence not in self.assumed:
            self.assumed.append(sentence)

    def count(self, key: str, least: int = 1) -> int:
        """A whole number, by default the family's.

        Raises:
            ConfigError: missing without a default, or no such number.
        """
        value = self.get(key)
        if value is None and key in self.defaults:
            default = self.defaults[key]
            self.assume(f"{key} is {default:,}: the file leaves it to Transformers' default")
            return default
        if value is None:
            raise ConfigError(f"{key} is missing", f"add {key} as the model's code has it")
        return whole(key, value, least)

    def count_or_none(self, key: str) -> int | None:
        """A whole number of at least 1, or None where neither the file nor the family says."""
        return self.count(key) if self.has(key) or key in self.defaults else None

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false.

        Raises:
            ConfigError: it is neither.
        """
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ConfigError(f"{key} is {short(value)}", f"{key} wants true or false")
        return value

    def items(self, key: str) -> list[Any]:
        """A list, of anything.

        Raises:
            ConfigError: it is no list.
        """
        value = self.get(key)
        if not isinstance(value, list):
            raise ConfigError(f"{key} is {short(value)}", f"{key} wants a list")
        return value

    def per_layer(self, key: str, layers: int) -> list[Any]:
        """A list with an item for each layer.

        Raises:
            ConfigError: it is no list, or has another length.
        """
        found = self.items(key)
        if len(found) != layers:
            raise ConfigError(
                f"{key} has {len(found):,} items, and num_hidden_layers is {layers:,}",
                "one of the two is wrong",
            )
        return found

    def indices(self, key: str, layers: int, first: int = 0) -> set[int]:
        """Which layers a list names, counted from 0; the file counts them from `first`.

        Raises:
            ConfigError: it is no list of layers that the model has, each named once.
        """
        found = [
            whole(f"{key}[{at}]", value, first, layers - 1 + first) - first
            for at, value in enumerate(self.items(key))
        ]
        if len(set(found)) != len(found):
            raise ConfigError(f"{key} names a layer twice", f"name each layer of {key} once")
        return set(found)


def whole(key: str, value: object, least: int = 1, most: int = MAX_COUNT) -> int:
    """The value as a whole number within bounds.

    Raises:
        ConfigError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ConfigError(
            f"{key} is {short(value)}", f"{key} wants a whole number from {least:,} to {most:,}"
        )
    return value


def short(value: object) -> str:
    """A value of the file as it may be shown: never longer than a line."""
    shown = str(value) if isinstance(value, Decimal) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
