"""A document into a record of its kind, with findings that say where, what and how to mend it."""

from __future__ import annotations

import typing
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from upheld.corpus.yaml_reader import Document
from upheld.records.finding import Finding
from upheld.records.kinds import KINDS
from upheld.records.shorten import shorten
from upheld.records.types import Part, Record

# Of one record. Nobody reads more, and a hostile file holds a hundred thousand mistakes.
MAX_FINDINGS = 100


def validate(document: Document) -> Record | list[Finding]:
    """The record that the document holds, or all that keeps it from being one."""
    value = document.value
    if not isinstance(value, dict):
        return [
            Finding(
                "UPH106",
                document.place(),
                "a record is a mapping that begins with kind and id",
                f"write kind: and one of {', '.join(KINDS)}",
            )
        ]
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return [_unknown_kind(document, kind)]
    model = KINDS[kind]
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = _missing_together(error.errors())
        findings = [_finding(document, model, detail) for detail in found[:MAX_FINDINGS]]
        if len(found) > MAX_FINDINGS:
            findings.append(
                Finding(
                    "UPH109",
                    document.place(),
                    f"{len(found) - MAX_FINDINGS:,} more values and keys are wrong in this record",
                    "correct those that are listed, then check again",
                )
            )
        return findings


def _unknown_kind(document: Document, kind: Any) -> Finding:
    if kind is None:
        return Finding(
            "UPH106",
            document.place(),
            "the record has no kind",
            f"write kind: and one of {', '.join(KINDS)}",
        )
    if not isinstance(kind, str):
        return Finding(
            "UPH106",
            document.place(("kind",)),
            "kind wants one word, not a list or a mapping",
            f"kinds: {', '.join(KINDS)}",
        )
    near = get_close_matches(kind.casefold(), KINDS, n=1)
    return Finding(
        "UPH106",
        document.place(("kind",)),
        f"there is no kind of record {shorten(kind)!r}",
        f"did you mean {near[0]}?" if near else f"kinds: {', '.join(KINDS)}",
    )


def _finding(document: Document, model: type[Record], detail: ErrorDetails) -> Finding:
    at = detail["loc"]
    field = _show(at)
    match detail["type"]:
        case "extra_forbidden":
            known = _fields_at(model, at[:-1])
            near = get_close_matches(str(at[-1]), known, n=1, cutoff=0.6)
            help_text = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            message = f"unknown key {field}"
            return Finding("UPH107", document.place(at), message, help_text)
        case "missing":
            *others, last = detail["ctx"]["keys"]
            if not others:
                help_text = f"write {last}: here"
                return Finding("UPH108", document.place(at), f"{field} is missing", help_text)
            holder = f"{_show(at[:-1])}: " if at[:-1] else ""
            message = f"{holder}{', '.join(others)} and {last} are missing"
            return Finding("UPH108", document.place(at), message, "write them here")
        case "literal_error":
            wanted = detail["ctx"]["expected"].replace("'", "")
            given = detail["input"]
            near = get_close_matches(str(given), wanted.replace(" or ", ", ").split(", "), n=1)
            help_text = f"did you mean {near[0]}?" if near else f"write one of {wanted}"
            message = (
                f"{field} can't be {shorten(given)!r}"
                if isinstance(given, str)
                else f"{field} wants text, not a list or a mapping"
            )
            return Finding("UPH109", document.place(at), message, help_text)
        case "value_error":
            message = str(detail["ctx"]["error"])
        case "string_too_long":
            message = f"is longer than {detail['ctx']['max_length']:,} characters"
        case "string_too_short":
            message = "is blank"
        case "string_pattern_mismatch":
            message = "wants 64 hexadecimal digits in lower case, as sha256sum prints them"
        case "string_type":
            message = "wants text, not a list or a mapping"
        case "list_type":
            message = "wants a list"
        case "dict_type" | "model_type" | "model_attributes_type":
            message = "wants a mapping of keys to values"
        case "too_short":
            message = "wants at least one entry"
        case _:
            message = detail["msg"][0].lower() + detail["msg"][1:]
    return Finding(
        "UPH109",
        document.place(at),
        f"{field}: {message}" if field else message,
        f"upheld schema {document.value['kind']} says what each field takes",
    )


def _missing_together(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """The errors, with the keys that one mapping lacks as one of them."""
    lacking: dict[tuple[int | str, ...], list[str]] = {}
    for detail in details:
        if detail["type"] == "missing":
            lacking.setdefault(detail["loc"][:-1], []).append(str(detail["loc"][-1]))
    together: list[ErrorDetails] = []
    for detail in details:
        keys = lacking.get(detail["loc"][:-1], []) if detail["type"] == "missing" else []
        if not keys:
            together.append(detail)
        elif keys[0] == detail["loc"][-1]:
            together.append({**detail, "ctx": {"keys": keys}})
    return together


def _fields_at(model: type[Part], at: tuple[int | str, ...]) -> list[str]:
    """The keys that the mapping at this path may have."""
    here: type[Part] = model
    for part in at:
        if isinstance(part, str) and part in here.model_fields:
            inner = _part_in(here.model_fields[part].annotation)
            if inner is None:
                return []
            here = inner
    return list(here.model_fields)


def _part_in(annotation: Any) -> type[Part] | None:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    found = (_part_in(argument) for argument in typing.get_args(annotation))
    return next((part for part in found if part is not None), None)


def _show(at: tuple[int | str, ...]) -> str:
    """`claims[0].within.deployment`, with list items counted from 1 as people do."""
    shown = ""
    for part in at:
        if isinstance(part, int):
            shown += f"[{part + 1}]"
        else:
            shown += f"{'.' if shown else ''}{shorten(part)}"
    return shown
