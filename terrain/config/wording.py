"""What a field allows, in words: the same words in an error message and in the reference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST = 2**31 - 1
"""No number may be larger: it fits every column and every timer, and nobody can mean more."""


@dataclass(frozen=True)
class Unit:
    """Annotation: what a number counts."""

    word: str
    """In the plural, as in "milliseconds"."""


@dataclass(frozen=True)
class Allowed:
    """Annotation: what is allowed, where the type alone does not say it."""

    text: str
    """Completes "must be …"."""


@dataclass(frozen=True)
class Entry:
    """Annotation: a table that stands in a list."""


@dataclass(frozen=True)
class ByGranularity:
    """Default factory of a `[crawler]` key whose default depends on `granularity`."""

    page: int | None
    """The default for a crawl by page; None: absent."""

    domain: int
    """The default for a crawl by domain."""

    def __call__(self, known: dict[str, Any]) -> Any:
        """Choose by the keys that are validated already, `granularity` among them if it is one."""
        return self.domain if known.get("granularity") == "domain" else self.page


@dataclass(frozen=True)
class Shape:
    """A field's type without optionality, and the annotations that restrict it."""

    type: Any
    """`int`, `tuple[str, ...]`, a section class, …"""

    marks: tuple[Any, ...]
    """`Ge`, `Le`, `MinLen`, Unit, Allowed, …"""

    def mark(self, kind: type[Any]) -> Any:
        """Return the first annotation of that kind, or None."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)


def shape_of(annotation: Any, marks: Iterable[Any] = ()) -> Shape:
    """Unwrap `Annotated` and `… | None`."""
    gathered = list(_flat(marks))
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *inner = get_args(annotation)
            gathered.extend(_flat(inner))
        elif origin in {Union, UnionType}:
            annotation = next(arg for arg in get_args(annotation) if arg is not NoneType)
        else:
            return Shape(annotation, tuple(gathered))


def field_shape(field: FieldInfo) -> Shape:
    """Return the shape of a model's field."""
    return shape_of(field.annotation, field.metadata)


def item_shape(shape: Shape) -> Shape | None:
    """Return the shape of a list's items; None if it is not a list."""
    return shape_of(get_args(shape.type)[0]) if get_origin(shape.type) is tuple else None


def model_of(shape: Shape | None) -> type[BaseModel] | None:
    """Return the section class, if the shape is one."""
    if shape is not None and isinstance(shape.type, type) and issubclass(shape.type, BaseModel):
        return shape.type
    return None


def allowed(shape: Shape) -> str:
    """Say what is allowed; completes "must be …"."""
    said = shape.mark(Allowed)
    if said is not None:
        return str(said.text)
    if shape.type is int:
        return _allowed_number(shape)
    if get_origin(shape.type) is Literal:
        *first, last = (f'"{word}"' for word in get_args(shape.type))
        return f"{', '.join(first)} or {last}"
    if model_of(shape) is not None:
        return "a table"
    if model_of(item_shape(shape)) is not None:
        return "a list of tables, at least one" if shape.mark(MinLen) else "a list of tables"
    names = {bool: "true or false", str: "a string", Path: "a path, as a string"}
    return names.get(shape.type, "a list of strings")


def how_to_write(shape: Shape, key: str, *, as_json: bool) -> str:
    """Say how a table or a list is written, in the file or in a variable; empty for the others."""
    is_list = item_shape(shape) is not None
    if as_json and (is_list or model_of(shape) is not None):
        return ", as JSON"
    if is_list and model_of(item_shape(shape)) is not None:
        return f": write [[{key}]] before each"
    # An entry of [[key]] has the key's name too, and is written with two brackets.
    entry = shape.mark(Entry) is not None
    if model_of(shape) is not None:
        return f": write [[{key}]]" if entry else f": write [{key}]"
    return ""


def _allowed_number(shape: Shape) -> str:
    low, high, unit = shape.mark(Ge), shape.mark(Le), shape.mark(Unit)
    counted = f" of {unit.word}" if unit else ""
    if high.le == LARGEST:
        return f"a whole number{counted}, {low.ge} or more"
    return f"a whole number{counted} from {low.ge} to {high.le}"


def _flat(marks: Iterable[Any]) -> Iterator[Any]:
    for mark in marks:
        if isinstance(mark, FieldInfo):
            yield from mark.metadata
        else:
            yield mark
