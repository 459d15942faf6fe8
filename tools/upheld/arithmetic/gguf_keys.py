"""The keys of one architecture in a GGUF header: checked, or refused in words that name them."""

from __future__ import annotations

from dataclasses import dataclass, field

from upheld.arithmetic.configs import MAX_COUNT, ConfigError
from upheld.arithmetic.gguf_header import GgufArray, GgufHeader, GgufValue
from upheld.records.shorten import shorten


def gguf_error(message: str, help_text: str = "use the file as it was published") -> ConfigError:
    """What is wrong with the file."""
    return ConfigError(message, help_text)


def says_something(value: GgufValue) -> bool:
    """Whether a value is other than 0, false, or a list of nothing else."""
    if isinstance(value, GgufArray):
        return value.items is None or any(value.items)
    return value not in (0, False)


@dataclass(frozen=True, slots=True)
class GgufKeys:
    """Keys by what follows the architecture's name, such as `attention.head_count`.

    `assumed` are sentences about what the file leaves out, each with the field of a model record
    whose value it is about.
    """

    header: GgufHeader
    architecture: str
    assumed: dict[str, str] = field(default_factory=dict)

    def assume(self, field_name: str, sentence: str) -> None:
        """Notes what was taken for a fact that the file leaves out."""
        self.assumed[sentence] = field_name

    def key(self, suffix: str) -> str:
        """The whole name of a key of the architecture."""
        return f"{self.architecture}.{suffix}"

    def get(self, suffix: str) -> GgufValue:
        """Its value, or None: not there, or of a kind that nothing asks for."""
        return self.header.keys.get(self.key(suffix))

    def has(self, suffix: str) -> bool:
        """Whether the file has it."""
        return self.key(suffix) in self.header.keys

    def says(self, suffix: str) -> bool:
        """Whether the file has it and it is not 0, which llama.cpp writes for what is not there."""
        return says_something(self.header.keys.get(self.key(suffix), 0))

    def count(self, suffix: str, least: int = 1, most: int = MAX_COUNT) -> int:
        """A whole number.

        Raises:
            ConfigError: missing, or no such number.
        """
        if not self.has(suffix):
            raise gguf_error(f"{self.key(suffix)} is missing")
        return self._whole(self.key(suffix), self.get(suffix), least, most)

    def count_or(self, suffix: str, default: int, least: int = 1) -> int:
        """A whole number, or the default where there is none."""
        return self.count(suffix, least) if self.has(suffix) else default

    def _whole(self, key: str, value: object, least: int = 1, most: int = MAX_COUNT) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            shown = "a list" if isinstance(value, GgufArray) else shorten(repr(value))
            raise gguf_error(f"{key} is {shown}, and no whole number from {least:,} to {most:,}")
        return value

    def per_layer(self, suffix: str, blocks: int, default: int | None = None) -> list[int]:
        """A count for each block, from one number for all or a list of as many.

        Raises:
            ConfigError: missing without a default, no count, or a list of another length.
        """
        key, value = self.key(suffix), self.get(suffix)
        if not isinstance(value, GgufArray):
            if not self.has(suffix) and default is not None:
                return [default] * blocks
            return [self.count(suffix, least=0)] * blocks
        if value.length != blocks or value.items is None:
            raise gguf_error(
                f"{key} has {value.length:,} items, and {self.key('block_count')} is {blocks:,}"
            )
        return [self._whole(f"{key}[{at}]", each, 0) for at, each in enumerate(value.items)]
