"""How keys and values look in a message."""

from __future__ import annotations

import datetime as dt

import pytest

from terrain.config.problems import dotted, show_value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (-1, "-1"),
        (1.5, "1.5"),
        (dt.date(1979, 5, 27), "1979-05-27"),
        ("text", '"text"'),
        ('say "hi"', r'"say \"hi\""'),
        ("bücher", '"bücher"'),
        ("a\nb\x1b[31m\x7f\u202e", r'"a\nb\u001b[31m\u007f\u202e"'),
        ([], "[]"),
        ([1], "[…]"),
        ({}, "{}"),
        ({"a": 1}, "{…}"),
    ],
)
def test_values_as_in_toml_on_one_line(value, shown):
    assert show_value(value) == shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@db/a", "postgresql://***@db/a"),
        ("postgresql://me:se/cr?t#@x@db/a", "postgresql://***@db/a"),
        ("https://token@example.com/", "https://***@example.com/"),
        ("https://a/ https://me:secret@b/ https://c:80", "https://a/ https://***@b/ https://c:80"),
        ("https://medium.com/@name", "https://medium.com/@name"),
        ("me@example.com", "me@example.com"),
    ],
)
def test_no_password_is_shown(address, shown):
    assert show_value(address) == f'"{shown}"'


def test_long_values_are_cut():
    assert show_value("x" * 1000) == '"' + "x" * 77 + '…"'
    assert len(show_value(16**5000)) == 80


def test_a_long_key_is_cut():
    assert len(dotted(("crawler", "x" * 1_000_000))) < 100


def test_paths():
    assert dotted(("quality", 0, "seeds", 1)) == "quality[0].seeds[1]"
    assert dotted(("network", "resolve", "*.test")) == 'network.resolve."*.test"'


def test_a_long_value_without_a_password_is_looked_at_once():
    # Where the search goes to the end from every "://", this takes minutes.
    assert show_value("://:" * 250_000).startswith('"://:')
