"""One problem → one line: where it stands, key, value, what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Place of a value in the file: `("quality", 0, "seeds", 1)`, keys in kebab-case."""

NO_VALUE = object()
"""Stands for the value where there is none to show: a missing key, a whole table."""

_LONGEST = 80
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Up to the last @, because a password may hold anything; `/@name` alone is a path, not a password.
_CREDENTIALS = re.compile(r"(?<=://)(?:[^\s/?#]*|[^\s/?#:]*:.*)@", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """Something the user has to change."""

    path: Path
    """Where; empty for the file as a whole."""

    message: str
    """What is allowed, or what to do."""

    value: object = NO_VALUE
    """What stands there now."""


@dataclass(frozen=True)
class Sources:
    """Where each value came from, so that a problem names the place to change."""

    file: str
    """The file as the user named it."""

    lines: Mapping[Path, int]
    """Line of each key."""

    variables: Mapping[Path, str]
    """Environment variable that set each key."""

    def render_all(self, problems: Iterable[Problem]) -> list[str]:
        """Write a line for each key that has a problem, down the file, then the environment."""
        first: dict[Path, Problem] = {}
        for problem in problems:
            first.setdefault(problem.path, problem)
        return [self._render(problem) for problem in sorted(first.values(), key=self._order)]

    def _render(self, problem: Problem) -> str:
        where, key = self._place(problem.path)
        value = "" if problem.value is NO_VALUE else show_value(problem.value)
        subject = f"{key} = {value}" if key and value else key
        line = ": ".join(part for part in (where, subject, problem.message) if part)
        return printable(line)

    def _order(self, problem: Problem) -> tuple[bool, int, str]:
        of_environment = self._variable(problem.path) is not None
        return of_environment, self._line(problem.path) or 0, dotted(problem.path)

    def _place(self, path: Path) -> tuple[str, str]:
        set_by = self._variable(path)
        if set_by is not None:
            variable, length = set_by
            rest = dotted(path[length:])
            joint = "" if not rest or rest.startswith("[") else "."
            return "environment", f"{variable}{joint}{rest}"
        line = self._line(path)
        return (self.file if line is None else f"{self.file}:{line}"), dotted(path)

    def _variable(self, path: Path) -> tuple[str, int] | None:
        for length in range(len(path), 0, -1):
            if path[:length] in self.variables:
                return self.variables[path[:length]], length
        return None

    def _line(self, path: Path) -> int | None:
        # A missing key is looked for in its table, so the table's line is the place to go.
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def dotted(path: Path) -> str:
    """Write a path as TOML would: `quality[0].seeds[1]`, `network.resolve."*.test"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = _shorten(part) if _BARE_KEY.fullmatch(part) else show_value(part)
            text += f".{name}" if text else name
    return text


def show_value(value: object) -> str:
    """Write a value on one line as TOML would, shortened, harmless, without passwords."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Python refuses to write huge numbers in decimal.
        return _shorten(str(value) if abs(value) < 2**64 else hex(value))
    if isinstance(value, str):
        return _shorten(_quote(_without_credentials(value)), end='…"')
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    return _shorten(str(value))


def show_name(name: str) -> str:
    """Write the name of a variable, which may be anything but empty, on one line."""
    return _shorten(printable(_without_credentials(name)))


def printable(text: str) -> str:
    """Escape what could break the line, colour the terminal or turn the direction of writing."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def _without_credentials(text: str) -> str:
    # Only up to the last @: behind it the pattern would look for one from every :// to the end.
    end = text.rfind("@") + 1
    return _CREDENTIALS.sub("***@", text[:end]) + text[end:]


def _quote(text: str) -> str:
    return printable(json.dumps(text, ensure_ascii=False))


def _shorten(text: str, end: str = "…") -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - len(end)] + end
