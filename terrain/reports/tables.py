"""Markdown tables that can be read as they stand, in a terminal."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

Cell = str
"""Markdown that is safe in a cell: our own words, or what `escape` returned."""


def table(header: Sequence[Cell], rows: Iterable[Sequence[Cell]], *, right: str = "") -> list[str]:
    """Return the lines of a table with padded columns.

    `right` names, by one character per column, those that are aligned right: `" >>"` for the last
    two of three.
    """
    body = [list(row) for row in rows]
    aligned = right.ljust(len(header))
    widths = [
        max(3, *(cell_len(row[place]) for row in [header, *body])) for place in _places(header)
    ]
    rule = [
        "-" * (width - 1) + ":" if aligned[place] == ">" else "-" * width
        for place, width in enumerate(widths)
    ]
    return [_line(row, widths, aligned) for row in [header, rule, *body]]


def _places(row: Sequence[Cell]) -> range:
    return range(len(row))


def _line(row: Sequence[Cell], widths: Sequence[int], aligned: str) -> str:
    cells = []
    for cell, width, side in zip(row, widths, aligned, strict=False):
        # Not str.ljust: a Chinese character takes two places in a terminal.
        space = " " * (width - cell_len(cell))
        cells.append(space + cell if side == ">" else cell + space)
    return f"| {' | '.join(cells)} |"
