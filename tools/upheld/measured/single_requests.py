"""The entries of single requests that a client keeps beside its summary, as columns."""

from __future__ import annotations

from decimal import Decimal

from upheld.corpus.strict_json import Json
from upheld.measured.draft import IMPOSSIBLE, UNTOUCHED, RowDraft


class SingleRequests:
    """The entries of single requests that `--save-detailed` keeps: successful ones only.

    An array that is absent, or whose entries can't be told apart by success, is None.
    """

    def __init__(self, draft: RowDraft) -> None:
        self._draft = draft
        self.completed: int | None = None
        self.failed: int | None = None
        arrays = {
            name: entries
            for name in ("ttfts", "itls", "output_lens", "input_lens", "errors")
            if isinstance(entries := draft.get(name), list) and entries
        }
        self._succeeded = self._which_succeeded(arrays)
        self.ttfts = self._numbers("ttfts", arrays.get("ttfts"))
        self.output_lens = self._numbers("output_lens", arrays.get("output_lens"))
        self.input_lens = self._numbers("input_lens", arrays.get("input_lens"))
        self.itls = self._gaps(arrays.get("itls"))

    def _which_succeeded(self, arrays: dict[str, list[Json]]) -> list[bool] | None:
        lengths = {len(entries) for entries in arrays.values()}
        if not lengths:
            return None
        if len(lengths) > 1:
            self._draft.find(
                IMPOSSIBLE,
                f"the arrays of single requests differ in length: {', '.join(sorted(arrays))}",
                f"nothing is recomputed from them; {UNTOUCHED}",
                sorted(arrays)[0],
            )
            return None
        errors = arrays.get("errors")
        if errors is not None:
            succeeded = [error is None or error == "" for error in errors]
            self.completed = sum(succeeded)
            self.failed = len(succeeded) - self.completed
            return succeeded
        entries = lengths.pop()
        return [True] * entries if entries == self._draft.get("completed") else None

    def _numbers(self, name: str, entries: list[Json] | None) -> list[int | Decimal] | None:
        if entries is None or self._succeeded is None:
            return None
        kept = [entry for entry, ok in zip(entries, self._succeeded, strict=True) if ok]
        return self._all_numbers(name, kept)

    def _gaps(self, entries: list[Json] | None) -> list[int | Decimal] | None:
        if entries is None or self._succeeded is None:
            return None
        pooled: list[Json] = []
        for entry, ok in zip(entries, self._succeeded, strict=True):
            if ok:
                pooled += entry if isinstance(entry, list) else [entry]
        return self._all_numbers("itls", pooled)

    def _all_numbers(self, name: str, entries: list[Json]) -> list[int | Decimal] | None:
        numbers = [
            entry
            for entry in entries
            if isinstance(entry, int | Decimal) and not isinstance(entry, bool) and entry >= 0
        ]
        if len(numbers) == len(entries):
            return numbers
        self._draft.find(
            IMPOSSIBLE,
            f"{name} holds {len(entries) - len(numbers)} entries that are no number or negative",
            f"nothing is recomputed from it; {UNTOUCHED}",
            name,
        )
        return None
