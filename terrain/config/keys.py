"""The keys of the file against the fields of the sections: kebab-case in, unknown ones told."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from terrain.config.problems import NO_VALUE, Path, Problem, dotted
from terrain.config.wording import Shape, field_shape, item_shape, model_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel


def kebab(name: str) -> str:
    """Return a field's name as it stands in the file."""
    return name.replace("_", "-")


def fields_by_key(model: type[BaseModel]) -> dict[str, tuple[str, Shape]]:
    """Return the keys of a table: key → field name and shape."""
    return {kebab(name): (name, field_shape(field)) for name, field in model.model_fields.items()}


def known_keys(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """Return every key that may be set by name: sections, lists, and the keys of sections."""
    for key, (_, shape) in fields_by_key(model).items():
        yield (key,)
        section = model_of(shape)
        if section is not None:
            yield from ((key, name) for name in fields_by_key(section))


class KeyReader:
    """Renames the keys of a document to field names, all the way down, and notes unknown keys."""

    def __init__(self, root: type[BaseModel]) -> None:
        self._root = root
        # Reversed, so that of two places for one name the first stays.
        paths = [path for path in known_keys(root) if len(path) == 2]
        self._places = {path[1]: dotted(path) for path in reversed(paths)}
        self._at_top = {
            key
            for key, (_, shape) in fields_by_key(root).items()
            if model_of(shape) is None and item_shape(shape) is None
        }
        self.problems: list[Problem] = []
        """Unknown keys; they are left out of what `read` returns."""

    def read(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document with the names of fields instead of keys."""
        return self._table(self._root, document, ())

    def _table(
        self, model: type[BaseModel], table: Mapping[str, Any], path: Path
    ) -> dict[str, Any]:
        fields = fields_by_key(model)
        renamed: dict[str, Any] = {}
        for key, value in table.items():
            if key in fields:
                name, shape = fields[key]
                renamed[name] = self._value(shape, value, (*path, key))
            else:
                shown = NO_VALUE if isinstance(value, dict | list) else value
                advice = self._advice(key, list(fields))
                self.problems.append(Problem((*path, key), f"unknown key; {advice}", shown))
        return renamed

    def _value(self, shape: Shape, value: Any, path: Path) -> Any:
        section, entry = model_of(shape), model_of(item_shape(shape))
        if section is not None and isinstance(value, dict):
            return self._table(section, value, path)
        if entry is not None and isinstance(value, list):
            return [
                self._table(entry, item, (*path, index)) if isinstance(item, dict) else item
                for index, item in enumerate(value)
            ]
        return value

    def _advice(self, key: str, siblings: list[str]) -> str:
        wanted = kebab(key.lower())
        near = get_close_matches(wanted, siblings, n=1)
        meant = near[0] if near else self._places.get(wanted)
        if meant is None and wanted in self._at_top:
            return f'"{wanted}" stands at the top of the file, before the first [section]'
        if meant is not None:
            return f'did you mean "{meant}"?'
        return f"allowed here: {', '.join(siblings)}"
