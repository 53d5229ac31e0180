"""On which line each key of a TOML document stands; tomllib does not tell.

The text has been parsed by tomllib before, so this only has to find its way through valid TOML 1.0,
not to judge it.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terrain.config.problems import Path

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
# A date may have a space before its time, so a plain value ends only at a separator.
_PLAIN = re.compile(r"[^,\]}#\n]+")


def key_lines(text: str) -> dict[Path, int]:
    """Return the line, from 1, on which each key, table and list item starts."""
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a document once, noting where things start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._lines: dict[Path, int] = {}
        # [[name]] → index of its newest entry.
        self._newest: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)
        return self._lines

    def _header(self) -> Path:
        line = self._line()
        in_list = self._text.startswith("[[", self._at)
        self._at += 2 if in_list else 1
        *parents, last = self._key()
        self._at += 2 if in_list else 1
        path: Path = ()
        for name in parents:
            path = self._enter((*path, name), line)
        path = (*path, last)
        if not in_list:
            return self._enter(path, line)
        self._lines.setdefault(path, line)
        self._newest[path] = self._newest.get(path, -1) + 1
        return self._enter(path, line)

    def _enter(self, path: Path, line: int) -> Path:
        """Note a table; a list of tables is entered at its newest entry."""
        self._lines.setdefault(path, line)
        if path not in self._newest:
            return path
        path = (*path, self._newest[path])
        self._lines.setdefault(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for name in self._key():
            path = (*path, name)
            self._lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        names = []
        while True:
            self._skip(_SPACE)
            if self._text[self._at] in "\"'":
                names.append(tomllib.loads(f"key = {self._take(_STRING)}")["key"])
            else:
                names.append(self._take(_BARE_KEY))
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return names
            self._at += 1

    def _value(self, path: Path) -> None:
        start = self._text[self._at]
        if start == "[":
            self._list(path)
        elif start == "{":
            self._inline_table(path)
        else:
            self._take(_STRING if start in "\"'" else _PLAIN)

    def _list(self, path: Path) -> None:
        self._at += 1
        self._skip(_BLANK)
        index = 0
        while self._text[self._at] != "]":
            item = (*path, index)
            self._lines.setdefault(item, self._line())
            self._value(item)
            self._separator()
            index += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        self._skip(_BLANK)
        while self._text[self._at] != "}":
            self._pair(path)
            self._separator()
        self._at += 1

    def _separator(self) -> None:
        self._skip(_BLANK)
        if self._text[self._at] == ",":
            self._at += 1
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None, "tomllib has accepted the document"
        self._at = match.end()
        return match.group()

    def _line(self) -> int:
        return bisect_right(self._newlines, self._at) + 1
