"""An expression that finds something in a raw file: JMESPath, but for what could make a figure up.

An expression only finds; nothing is worked out or written into it. So a literal may stand in a
filter alone, where it is compared, and there is no sum, no average and no new list or object. What
is left goes down a document and never round, so that it costs no more than the file is large.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from upheld.records.shorten import shorten

if TYPE_CHECKING:
    from jmespath.functions import Functions
    from jmespath.parser import ParsedResult
    from jmespath.visitor import Options

MAX_LENGTH = 200

_FINDING = {
    "current", "field", "filter_projection", "flatten", "identity", "index", "index_expression",
    "or_expression", "pipe", "projection", "slice", "subexpression", "value_projection",
}  # fmt: skip
_COMPARING = {*_FINDING, "and_expression", "comparator", "literal", "not_expression"}
_COMPARING_FUNCTIONS = {"contains", "ends_with", "length", "starts_with"}

# How a refused part is called in a message.
_REFUSED = {
    "expref": "a reference to an expression",
    "literal": "a value of its own",
    "multi_select_dict": "an object that it makes",
    "multi_select_list": "a list that it makes",
}


class ExpressionError(ValueError):
    """The text is no expression that may be used, or it can't be used on a value."""


class Expression:
    """A compiled expression. `of_file`: it begins with `$` and looks at the whole file."""

    __slots__ = ("_parsed", "_tree", "of_file", "text")

    def __init__(self, text: str, of_file: bool, parsed: ParsedResult) -> None:
        self.text = text
        self.of_file = of_file
        self._parsed = parsed
        self._tree = cast("dict[str, Any]", parsed.parsed)

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The keys that it goes down, such as `("usage", "tokens")`; None where it does more."""
        return _keys(self._tree)

    @property
    def chooses(self) -> bool:
        """Whether a filter, an index or a slice leaves some of what is there out."""
        return _holds(self._tree, {"filter_projection", "index", "slice"})

    def find(self, value: Any) -> Any:
        """What it finds in a value, None where there is nothing.

        Raises:
            ExpressionError: a function was given what it does not take.
        """
        from jmespath.exceptions import JMESPathError

        try:
            return self._parsed.search(value, _options())
        except JMESPathError:
            raise ExpressionError("it compares text with something that is no text") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text


def parse_expression(text: object, counting: bool = False) -> Expression:
    """Compile an expression; `counting` ones may end in `length(…)`.

    Raises:
        ExpressionError: too long, no JMESPath, or more than finding.
    """
    if not isinstance(text, str):
        raise ExpressionError("wants one expression, not a list or a mapping")
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"is longer than {MAX_LENGTH} characters")
    of_file = text == "$" or text.startswith("$.")
    parsed = _compile(text[2:] or "@" if of_file else text)
    functions = {"length"} if counting else set()
    _refuse_more_than_finding(cast("dict[str, Any]", parsed.parsed), _FINDING, functions)
    return Expression(text, of_file, parsed)


def quoted(*keys: str) -> str:
    """The expression that goes down these keys."""
    import json
    import re

    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    return ".".join(
        key if plain.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in keys
    )


def _compile(text: str) -> ParsedResult:
    import jmespath
    from jmespath.exceptions import IncompleteExpressionError, JMESPathError, ParseError

    try:
        return jmespath.compile(text)
    except (IncompleteExpressionError, RecursionError):
        raise ExpressionError(
            f"{shorten(text)!r} is no JMESPath: it is cut short or too deep"
        ) from None
    except ParseError as error:
        raise ExpressionError(
            f"{shorten(text)!r} is no JMESPath from character {error.lex_position + 1} on; a key "
            f"with a space or a sign is put in double quotes, such as {quoted('TTFT (ms)')!r}"
        ) from None
    except JMESPathError:
        raise ExpressionError(f"{shorten(text)!r} is no JMESPath") from None


def _refuse_more_than_finding(node: dict[str, Any], known: set[str], functions: set[str]) -> None:
    kind = node["type"]
    if kind == "function_expression":
        if node["value"] not in functions:
            raise ExpressionError(_function_refused(node["value"], functions))
    elif kind not in known:
        what = _REFUSED.get(kind, "a comparison")
        raise ExpressionError(
            f"an expression finds a value in the file: {what} stands in it outside a filter"
        )
    if kind in ("slice", "index", "field", "literal"):
        return
    children = node["children"]
    if kind == "filter_projection":
        *children, condition = children
        _refuse_more_than_finding(condition, _COMPARING, _COMPARING_FUNCTIONS)
    for child in children:
        _refuse_more_than_finding(child, known, functions)


def _function_refused(name: str, functions: set[str]) -> str:
    from jmespath.functions import Functions

    if name not in Functions.FUNCTION_TABLE:
        return (
            f"JMESPath has no function {shorten(name)!r}; a key with a space or a sign is put in "
            f"double quotes, such as {quoted('TTFT (ms)')!r}"
        )
    may = f"; it may use {', '.join(sorted(functions))}" if functions else ""
    return (
        f"an expression finds a value and works none out: {name}() is not for here{may}; "
        "statistics of single requests go to samples"
    )


def _keys(node: dict[str, Any]) -> tuple[str, ...] | None:
    if node["type"] == "field":
        return (node["value"],)
    if node["type"] != "subexpression":
        return None
    parts = [_keys(child) for child in node["children"]]
    return sum((part for part in parts if part), ()) if all(parts) else None


def _holds(node: dict[str, Any], kinds: set[str]) -> bool:
    if node["type"] in kinds:
        return True
    return any(_holds(each, kinds) for each in node["children"] if isinstance(each, dict))


@cache
def _options() -> Options:
    from jmespath import functions
    from jmespath.visitor import Options

    class Found(functions.Functions):
        """A length is that of a list: the characters of a text are no count of anything."""

        @functions.signature({"types": ["array"]})
        def _func_length(self, found: list[Any]) -> int:
            return len(found)

    found: Functions = Found()
    return Options(custom_functions=found)


def _counting(text: object) -> Expression:
    return parse_expression(text, counting=True)


_SCHEMA = {"type": "string", "maxLength": MAX_LENGTH, "examples": ["latency.p99_ms", "$.model"]}
ExpressionField = Annotated[
    Expression, PlainValidator(parse_expression), PlainSerializer(str), WithJsonSchema(_SCHEMA)
]
CountField = Annotated[
    Expression,
    PlainValidator(_counting),
    PlainSerializer(str),
    WithJsonSchema({**_SCHEMA, "examples": ["errors", "length(runs[?ok])"]}),
]
