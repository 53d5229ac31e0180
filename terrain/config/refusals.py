"""What pydantic refuses, in our words: each error → a problem at its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from terrain.config.keys import fields_by_key, kebab
from terrain.config.problems import NO_VALUE, Path, Problem
from terrain.config.routes import Faults
from terrain.config.wording import LARGEST, Shape, allowed, how_to_write, item_shape, model_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


def refusals(
    model: type[BaseModel], error: ValidationError, from_environment: Collection[Path]
) -> Iterator[Problem]:
    """Yield the problems of a failed validation; keys in `from_environment` are set as JSON."""
    for detail in error.errors(include_url=False):
        if detail["type"] == "default_factory_not_called":
            continue  # The key that the default depends on is wrong, and is told.
        path: Path = tuple(kebab(p) if isinstance(p, str) else p for p in detail["loc"])
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, Faults):
            yield from (
                Problem((*path, *below), said, value) for below, value, said in cause.faults
            )
        # A list that is not empty is "too short" only because its entries are wrong.
        elif detail["type"] != "too_short" or not detail["input"]:
            yield _problem(model, path, detail, as_json=path in from_environment)


def _problem(model: type[BaseModel], path: Path, detail: ErrorDetails, *, as_json: bool) -> Problem:
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] == "value_error":
        return Problem(path, str(context["error"]), detail["input"])
    if detail["type"] == "less_than_equal" and context["le"] == LARGEST:
        return Problem(path, f"must be at most {LARGEST}", detail["input"])
    shape = _shape_at(model, path)
    range_of_values = allowed(shape) + how_to_write(shape, _last_key(path), as_json=as_json)
    if detail["type"] == "missing":
        return Problem(path, f"missing; give {range_of_values}", NO_VALUE)
    return Problem(path, f"must be {range_of_values}", detail["input"])


def _shape_at(model: type[BaseModel], path: Path) -> Shape:
    """Return what stands at a path of the model."""
    shape = Shape(model, ())
    for part in path:
        if isinstance(part, int):
            item = item_shape(shape)
            assert item is not None, "only lists have numbered entries"
            shape = item
        else:
            section = model_of(shape)
            assert section is not None, "only sections have keys"
            shape = fields_by_key(section)[part][1]
    return shape


def _last_key(path: Path) -> str:
    return next(part for part in reversed(path) if isinstance(part, str))
