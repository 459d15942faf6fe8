"""Where a page is from another: relative addresses, as the generator will lay the pages out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import dirname, join, relpath
from urllib.parse import quote

from upheld.site.paths import download_path, page_path


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses in one site.

    `directory_urls` says whether `a/b.md` is at `a/b/` or at `a/b.html`. `base` is the folder
    that holds all generated pages, `home` the ledger's path in it. `rules` gives, by code, the
    path of each rule's page from the root of the site; a rule without a page gets no link.
    """

    directory_urls: bool = True
    base: str = ""
    home: str = "index.md"
    rules: Mapping[str, str] = field(default_factory=dict)

    def page(self, here: str, there: str, anchor: str = "") -> str:
        """From the generated page `here` to the generated page `there`."""
        return self._between(join(self.base, here), join(self.base, there), anchor)

    def record(self, here: str, kind: str, id_: str, anchor: str = "") -> str:
        """To a record's page."""
        return self.page(here, page_path(kind, id_), anchor)

    def download(self, here: str, raw: str) -> str:
        """To the copy of a raw file."""
        return self.page(here, download_path(raw))

    def rule(self, here: str, code: str) -> str | None:
        """To a rule's page, where there is one."""
        there = self.rules.get(code)
        return None if there is None else self._between(join(self.base, here), there, "")

    def _between(self, here: str, there: str, anchor: str) -> str:
        start, end = self._address(here), self._address(there)
        folder = start.rstrip("/") if start.endswith("/") else dirname(start)
        relative = relpath(end or ".", folder or ".")
        if end == "" or end.endswith("/"):
            relative += "/"
        return quote(relative, safe="/") + (f"#{anchor}" if anchor else "")

    def _address(self, path: str) -> str:
        page = PurePosixPath(path)
        if page.suffix != ".md":
            return path
        if not self.directory_urls:
            return str(page.with_suffix(".html"))
        folder = str(page.parent if page.name == "index.md" else page.with_suffix(""))
        return "" if folder == "." else f"{folder}/"
