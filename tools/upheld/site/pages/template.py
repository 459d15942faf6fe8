"""Templates: only those of this package, escaped by default, with the few words they need."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from upheld.records.units import format_bytes, format_number
from upheld.site import paths, words
from upheld.site.pages import view as seen
from upheld.site.pages.page import HEADING_MARK, body_of
from upheld.site.pages.view import View
from upheld.site.user_text import prose, without_controls


def render(template: str, view: View, **values: Any) -> str:
    """The body of a page from a template and what it is about."""
    return body_of(_environment().get_template(template).render(view=view, **values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("upheld.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters.update(
        prose=prose,
        label=seen.label,
        plain=seen.plain,
        day=seen.day,
        expected=seen.expected,
        bytes=format_bytes,
        number=format_number,
        counted=seen.counted,
    )
    environment.globals.update(
        section=_section,
        paths=paths,
        BASES=words.BASES,
        VERDICTS=words.VERDICTS,
        UNCARRIED=words.UNCARRIED,
        KINDS=words.KINDS,
        axes_of=seen.axes_of,
        metric_of=seen.metric_of,
        in_unit=seen.in_unit,
    )
    return environment


def _section(title: str) -> Markup:
    return Markup(f"{HEADING_MARK}{title}{HEADING_MARK}")  # noqa: S704  # only called by templates


def _printable(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return without_controls(value)
    return value
