"""The types of a record's fields. Scalars arrive as text; what a field means decides its type.

`NO`, `014`, `1.10` and `2026-11-02` are text until a field says that it is a flag, a count, a
version or a date, so that no reader ever turns one into something else on its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from upheld.records import metrics
from upheld.records.shorten import shorten
from upheld.records.units import Quantity, QuantityError, parse_number, parse_quantity

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_COUNT = re.compile(r"0|[1-9][0-9]{0,17}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ADR = r"ADR-[0-9]{3,5}"
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[^\s<>\"'`\\]*)?")


class Part(BaseModel):
    """A piece of a record. Unknown keys are refused, and a record never changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _text_type(check: Callable[[str], Any], schema: dict[str, Any]) -> tuple[Any, ...]:
    def validate(value: object) -> Any:
        if not isinstance(value, str):
            raise ValueError("wants one value, not a list or a mapping")
        return check(value)

    return PlainValidator(validate), PlainSerializer(str), WithJsonSchema(schema)


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError("wants a whole number in plain digits, such as 32")
    return int(text)


def _positive(text: str) -> int:
    value = _count(text)
    if value == 0:
        raise ValueError("wants a whole number of at least 1")
    return value


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"wants true or false, not {shorten(text)!r}")
    return text == "true"


def _iso_date(text: str) -> date:
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"wants a date that exists, as YYYY-MM-DD, such as 2026-11-02; not {shorten(text)!r}"
        ) from None


def _share(text: str) -> Fraction:
    value = parse_number(text)
    if not 0 < value <= 1:
        raise ValueError("wants a share above 0 and at most 1, such as 0.90")
    return value


def _metric(text: str) -> str:
    metrics.resolve(text)
    return text


def _url(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError("wants an http or https address")
    return text


def check_id(text: str) -> str:
    """The text, if it can be an id.

    Raises:
        ValueError: it can't; the message says what an id is.
    """
    if not re.fullmatch(ID_PATTERN, text):
        raise ValueError(
            "wants an id of 1 to 64 ASCII letters, digits, '.', '_' or '-' that begins with a "
            "letter or digit"
        )
    if text.endswith(".") or _RESERVED.fullmatch(text):
        raise ValueError(f"{text!r} can't be a file name on every system; choose another id")
    return text


def _adr_identifier(text: str) -> str:
    if not re.fullmatch(_ADR, text):
        raise ValueError("wants an ADR id such as ADR-009")
    return text


def _of(dimension: str | None) -> Callable[[str], Quantity]:
    def parse(text: str) -> Quantity:
        quantity = parse_quantity(text, dimension)
        if quantity.text.startswith("-"):
            raise QuantityError(f"{shorten(text)!r} is negative")
        return quantity

    return parse


def _tokens(text: str) -> Quantity:
    quantity = _of("tokens")(text)
    if quantity.base < 1 or quantity.base.denominator != 1:
        raise QuantityError(f"{shorten(text)!r} is not a whole number of at least 1 token")
    return quantity


def _schema(pattern: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"pattern": f"^(?:{pattern})$"} if pattern else {}), **more}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


def _one_line(text: str) -> str:
    if "\n" in text:
        raise ValueError("wants a single line")
    return text.strip()


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=50_000), AfterValidator(_not_blank)
]
Line = Annotated[
    str,
    StringConstraints(min_length=1, max_length=500),
    AfterValidator(_not_blank),
    AfterValidator(_one_line),
]
Id = Annotated[str, *_text_type(check_id, _schema(ID_PATTERN))]
AdrId = Annotated[str, *_text_type(_adr_identifier, _schema(_ADR))]
Count = Annotated[int, *_text_type(_positive, {"type": "integer", "minimum": 1})]
Whole = Annotated[int, *_text_type(_count, {"type": "integer", "minimum": 0})]
Flag = Annotated[bool, *_text_type(_flag, {"type": "boolean"})]
Date = Annotated[date, *_text_type(_iso_date, _schema(_DATE.pattern))]
Share = Annotated[Fraction, *_text_type(_share, {"type": "number", "maximum": 1})]
MetricName = Annotated[str, *_text_type(_metric, _schema())]
Url = Annotated[str, *_text_type(_url, _schema(format="uri"))]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,40}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Memory = Annotated[Quantity, *_text_type(_of("memory"), _schema(examples=["80 GiB"]))]
Duration = Annotated[Quantity, *_text_type(_of("time"), _schema(examples=["30 s"]))]
Tokens = Annotated[Quantity, *_text_type(_tokens, _schema(examples=["8192 tokens"]))]
RequestRate = Annotated[
    Quantity, *_text_type(_of("request rate"), _schema(examples=["4 requests/s"]))
]
AnyQuantity = Annotated[Quantity, *_text_type(_of(None), _schema(examples=["3 USD/h"]))]
Bandwidth = Annotated[Quantity, *_text_type(_of("bandwidth"), _schema(examples=["3.35 TB/s"]))]

Basis = metrics.Basis
Depth = Literal["build", "design", "explain"]


class Ref(str):
    """The id of another record. `kinds` says which kinds it may lead to."""

    kinds: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate(value: object) -> Ref:
            if not isinstance(value, str):
                raise ValueError("wants the id of one record")
            return cls(check_id(value))

        return core_schema.no_info_plain_validator_function(
            validate,
            serialization=core_schema.to_string_ser_schema(),
            metadata={"pydantic_js_functions": [lambda _source, _handler: _schema(ID_PATTERN)]},
        )


class AdrRef(Ref):
    """The id of a decision."""

    kinds = ("adr",)


class ModelRef(Ref):
    """The id of a model."""

    kinds = ("model",)


class DeviceRef(Ref):
    """The id of a device."""

    kinds = ("device",)


class DeploymentRef(Ref):
    """The id of a deployment."""

    kinds = ("deployment",)


class PolicyRef(Ref):
    """The id of a policy."""

    kinds = ("policy",)


class RunRef(Ref):
    """The id of a run."""

    kinds = ("run",)


class SourceRef(Ref):
    """The id of a source."""

    kinds = ("source",)


class AssumptionRef(Ref):
    """The id of an assumption."""

    kinds = ("assumption",)


class OriginRef(Ref):
    """Where a fact came from: a source, an assumption or a run."""

    kinds = ("source", "assumption", "run")


class Record(Part):
    """What every record has. A subclass names its kind."""

    id: Id
    title: Line


def check_origins(model: type[Record], origins: dict[str, OriginRef]) -> dict[str, OriginRef]:
    """Where single fields came from; a field that does not exist came from nowhere.

    Raises:
        ValueError: a key that is no field of the model.
    """
    for name in origins:
        if name not in model.model_fields:
            known = ", ".join(model.model_fields)
            raise ValueError(f"{shorten(name)!r} is no field of this record; fields: {known}")
    return origins
