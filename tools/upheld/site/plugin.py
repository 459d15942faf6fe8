"""The MkDocs plug-in. It only carries: pages are made elsewhere, MkDocs lays them out.

Events, and why they are hooked:

- `on_config` adds the stylesheet of this package to the theme's own.
- `on_files` loads and judges the corpus, once all hand-written pages are known, and adds what is
  generated from it. Nothing is written into the documentation's folder.
- `on_serve` watches the folders of records and the configuration of the gate, so that
  `mkdocs serve` follows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from importlib.resources import files as package_files
from pathlib import Path
from posixpath import join
from typing import TYPE_CHECKING

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel

from upheld.corpus.config import ConfigError, read_config
from upheld.corpus.load import CorpusError, load
from upheld.judge.judge import judge_corpus
from upheld.judge.judgement import Judged
from upheld.site import paths
from upheld.site.links import Links
from upheld.site.pages import render_all
from upheld.site.pages.view import counted

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer

STYLESHEET = "assets/upheld/upheld.css"
SHOWN_ERRORS = 10

_SECTIONS = frozenset({paths.DECISIONS, paths.EVIDENCE, paths.UNTESTED})

log = get_plugin_logger("upheld")


class UpheldConfig(Config):  # type: ignore[no-untyped-call]  # of mkdocs
    """Options of the plug-in.

    `root`: the corpus root, from the folder of mkdocs.yml; that folder by default.
    `base_path`: the folder of the site that holds all generated pages; the site's root by default.
    `as_of`: the day, as YYYY-MM-DD, on which claims are judged; today by default.
    """

    root = config_options.Type(str, default=".")
    base_path = config_options.Type(str, default="")
    as_of = config_options.Optional(config_options.Type((str, date)))


class UpheldPlugin(BasePlugin[UpheldConfig]):  # type: ignore[no-untyped-call]  # of mkdocs
    """Shows a corpus as pages: each record, each claim, and what each rests on."""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add the stylesheet."""
        if STYLESHEET not in config.extra_css:
            config.extra_css.insert(0, STYLESHEET)
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the pages, the raw files that they offer, and the stylesheet.

        Raises:
            PluginError: there is no corpus, or an option can't be used.
        """
        judged = self._judge(config)
        _report(judged)
        base = self.config.base_path.strip("/")
        home = "ledger.md" if files.get_file_from_path(join(base, "index.md")) else "index.md"
        links = Links(config.use_directory_urls, base, home, _rule_pages(files))
        for page in render_all(judged, links):
            listed = page.path in _SECTIONS or page.path == home
            file = File.generated(
                config,
                join(base, page.path),
                content=page.markdown(hide=["navigation"]),
                inclusion=InclusionLevel.UNDEFINED if listed else InclusionLevel.NOT_IN_NAV,
            )
            files.append(file)
        for path in _unchanged_raw_files(judged):
            files.append(
                File.generated(
                    config,
                    join(base, paths.download_path(path)),
                    abs_src_path=str(judged.corpus.root / path),
                    inclusion=InclusionLevel.NOT_IN_NAV,
                )
            )
        css = package_files("upheld.site").joinpath("assets/upheld.css").read_text("utf-8")
        files.append(File.generated(config, STYLESHEET, content=css))
        return files

    def on_serve(
        self,
        server: LiveReloadServer,
        *,
        config: MkDocsConfig,
        builder: Callable[..., None],
    ) -> LiveReloadServer:
        """Follow the records and the configuration, as far as there are any."""
        root = self._root(config)
        for name in (*read_config(root).records, "upheld.toml", "pyproject.toml"):
            if (root / name).exists():
                server.watch(str(root / name))
        return server

    def _root(self, config: MkDocsConfig) -> Path:
        return (Path(config.config_file_path or ".").parent / self.config.root).resolve()

    def _judge(self, config: MkDocsConfig) -> Judged:
        try:
            as_of = date.fromisoformat(str(self.config.as_of)) if self.config.as_of else None
        except ValueError:
            raise PluginError(
                f"upheld: as_of wants a date as YYYY-MM-DD, not {self.config.as_of!r}"
            ) from None
        try:
            return judge_corpus(load(self._root(config)), as_of)
        except (CorpusError, ConfigError) as error:
            raise PluginError(f"upheld: {error}") from None


def _report(judged: Judged) -> None:
    errors = [finding for finding in judged.findings if finding.severity == "error"]
    log.info(
        "%s of %s",
        counted(len(judged.judgements), "claim"),
        counted(len(judged.corpus.entries), "record"),
    )
    if not errors:
        return
    lines = [f"{each.place}: {each.rule} {each.message}" for each in errors[:SHOWN_ERRORS]]
    if len(errors) > SHOWN_ERRORS:
        lines.append(f"and {len(errors) - SHOWN_ERRORS} more")
    log.warning(
        "%s in the corpus; `upheld check` says how to mend them\n  %s",
        counted(len(errors), "error"),
        "\n  ".join(lines),
    )


def _rule_pages(files: Files) -> dict[str, str]:
    """The hand-written page of each rule, by code, where there is one."""
    pages = (file.src_uri for file in files.documentation_pages())
    return {Path(path).stem: path for path in pages if Path(path).stem.startswith("UPH")}


def _unchanged_raw_files(judged: Judged) -> Iterator[str]:
    found = {reading.path for evidence in judged.runs.values() for reading in evidence.readings}
    yield from sorted(found)
