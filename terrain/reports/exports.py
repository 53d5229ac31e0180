"""Rows of any number as a table, as CSV or as JSON: written as they come, nothing is gathered.

What strangers wrote is made harmless for where it goes. On a terminal it is one line of visible
text, cut. In CSV it keeps its length, loses control characters, and a text that a spreadsheet would
take for a formula gets an apostrophe before it. JSON has every text exactly, escaped to ASCII.
"""

import csv
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, TextIO

from rich.cells import cell_len

from terrain.reports.escape import MAX_TEXT, UNSHOWABLE, plain

Value = str | int | None
Row = Sequence[Value]

MEASURED: Final = 500
"""Rows that the widths of a table are taken from; a longer text further down sticks out."""

_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How formulas begin, for spreadsheets of the East too."""

_CONTROLS: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that do something: controls, directions and invisible ones, line ends."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an export."""

    key: str
    """Its name in CSV and JSON: that of the database."""
    title: str | None
    """Its name in a table; None: not shown there."""
    identifier: bool = False
    """A number of 63 bits: a string in JSON, where numbers have 53."""
    most: int = MAX_TEXT
    """Characters of it that a table shows."""


def write_table(columns: Sequence[Column], rows: Iterable[Row], out: TextIO) -> None:
    """Write columns of text, padded; numbers to the right."""
    shown = [place for place, column in enumerate(columns) if column.title is not None]
    titles = [str(columns[place].title) for place in shown]
    source = iter(rows)
    first = list(islice(source, MEASURED))
    right = [bool(first) and isinstance(first[0][place], int) for place in shown]

    def cells(row: Row) -> list[str]:
        return [_cell(row[place], columns[place].most) for place in shown]

    measured = [cells(row) for row in first]
    widths = [max(map(cell_len, column)) for column in zip(titles, *measured, strict=True)]
    rule = ["-" * width for width in widths]
    lines = chain([titles, rule], measured, map(cells, source))
    out.writelines(_line(line, widths, right) for line in lines)


def write_csv(columns: Sequence[Column], rows: Iterable[Row], out: TextIO) -> None:
    """Write CSV with a header: RFC 4180, but lines end as they do on Unix."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in rows:
        writer.writerow([_field(value) for value in row])


def write_json(columns: Sequence[Column], rows: Iterable[Row], out: TextIO) -> None:
    """Write an array with one object to a line: a parser reads the whole, `grep` a line."""
    out.write("[")
    before = "\n"
    for row in rows:
        pairs = zip(columns, row, strict=True)
        fields = {c.key: str(value) if c.identifier else value for c, value in pairs}
        out.write(before + json.dumps(fields, ensure_ascii=True))
        before = ",\n"
    out.write("\n]\n")


WRITERS: Final[dict[str, Callable[[Sequence[Column], Iterable[Row], TextIO], None]]] = {
    "table": write_table,
    "csv": write_csv,
    "json": write_json,
}
"""The formats by name."""


def limited(rows: Iterable[Row], most: int | None) -> Iterator[Row]:
    """Yield at most so many rows; None: all."""
    return islice(rows, most)


def _cell(value: Value, most: int) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else plain(value, most)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_the_right in zip(cells, widths, right, strict=True):
        space = " " * (width - cell_len(cell))
        padded.append(space + cell if to_the_right else cell + space)
    return "  ".join(padded).rstrip() + "\n"


def _field(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    text = "".join(
        UNSHOWABLE if unicodedata.category(character) in _CONTROLS else character
        for character in value
    )
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
