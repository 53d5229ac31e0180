"""The line of every key, item and table, whatever the document looks like."""

from __future__ import annotations

import tomllib
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from terrain.config.positions import key_lines


def lines_of(toml: str) -> dict:
    text = dedent(toml).lstrip("\n")
    tomllib.loads(text)
    return key_lines(text)


def paths_of(value, path=()):
    """Every path of a parsed document."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths_of(inner, (*path, index))


def test_tables_and_keys():
    assert lines_of("""
        # a comment = 1

        [crawler]            # [not.this]
        max-depth = 3
        head-probe = "auto"  # max-depth = 4

        [a.b]
        c = 1
        """) == {
        ("crawler",): 3,
        ("crawler", "max-depth"): 4,
        ("crawler", "head-probe"): 5,
        ("a",): 7,
        ("a", "b"): 7,
        ("a", "b", "c"): 8,
    }


def test_lists_of_tables():
    assert lines_of("""
        [[quality]]
        domain = "a"
        [quality.more]
        x = 1

        [[quality]]
        domain = "b"
        [[quality.inner]]
        y = 1
        [[quality.inner]]
        y = 2
        """) == {
        ("quality",): 1,
        ("quality", 0): 1,
        ("quality", 0, "domain"): 2,
        ("quality", 0, "more"): 3,
        ("quality", 0, "more", "x"): 4,
        ("quality", 1): 6,
        ("quality", 1, "domain"): 7,
        ("quality", 1, "inner"): 8,
        ("quality", 1, "inner", 0): 8,
        ("quality", 1, "inner", 0, "y"): 9,
        ("quality", 1, "inner", 1): 10,
        ("quality", 1, "inner", 1, "y"): 11,
    }


def test_lists_over_several_lines():
    assert lines_of("""
        seeds = [ "a", # "b",
          # "c",
          "]",

          ["d",
           "e"], ]
        after = 1
        """) == {
        ("seeds",): 1,
        ("seeds", 0): 1,
        ("seeds", 1): 3,
        ("seeds", 2): 5,
        ("seeds", 2, 0): 5,
        ("seeds", 2, 1): 6,
        ("after",): 7,
    }


def test_inline_tables():
    assert lines_of("""
        [network]
        resolve = { "*.test" = "127.0.0.1:8443", 'a}' = "x", b.c = {} }
        quality = [
          { domain = "a" },
          { domain = "b", own = true },
        ]
        """) == {
        ("network",): 1,
        ("network", "resolve"): 2,
        ("network", "resolve", "*.test"): 2,
        ("network", "resolve", "a}"): 2,
        ("network", "resolve", "b"): 2,
        ("network", "resolve", "b", "c"): 2,
        ("network", "quality"): 3,
        ("network", "quality", 0): 4,
        ("network", "quality", 0, "domain"): 4,
        ("network", "quality", 1): 5,
        ("network", "quality", 1, "domain"): 5,
        ("network", "quality", 1, "own"): 5,
    }


def test_strings_that_look_like_toml():
    assert lines_of('''
        a = """
        b = 1
        \\""" [x]
        ""quoted"""""
        c = \'\'\'
        d = 1 # \'\'
        \'\'\'
        e = "\\"f = 1 ["
        "g h" . \'i.j\' = \'\\\'
        "\\u006B" = 2
        ''') == {
        ("a",): 1,
        ("c",): 5,
        ("e",): 8,
        ("g h",): 9,
        ("g h", "i.j"): 9,
        ("k",): 10,
    }


def test_plain_values():
    assert lines_of("""
        date = 1979-05-27 07:32:00Z # when
        numbers = [1_000, 0x1F,-inf,
          1e5]
        flag=true
        """) == {
        ("date",): 1,
        ("numbers",): 2,
        ("numbers", 0): 2,
        ("numbers", 1): 2,
        ("numbers", 2): 2,
        ("numbers", 3): 3,
        ("flag",): 4,
    }


def test_dos_line_ends_and_no_line_end_at_the_end():
    assert key_lines("[a]\r\nb = 1\r\n\r\nc = [\r\n1]") == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "c"): 4,
        ("a", "c", 0): 5,
    }


# --- any document ---

keys = st.sampled_from(["a", "b-c", "3", '"x y"', "'q\"'", '"\\u00e9]"', "d . e"])
scalars = st.sampled_from(
    ["1", "-1.5e3", "true", "1979-05-27 07:32:00", '"x # ] }"', "'[\"'", '"""\na = 1\n"b" """',
     "'''\n[[x]]'''", '""', '"""a\\""""""']
)  # fmt: skip
gaps = st.sampled_from(["", " ", "\n", " # no = 1 ]\n", "\r\n\t"])


def lists(values):
    items = st.lists(st.tuples(gaps, values, gaps), max_size=3)
    return st.builds(
        lambda parts, end: "[" + ",".join("".join(p) for p in parts) + end + "]", items, gaps
    )


def inline_tables(values):
    pairs = st.lists(st.tuples(keys, values), max_size=3, unique_by=lambda pair: pair[0])
    return pairs.map(lambda parts: "{ " + ", ".join(f"{k} = {v}" for k, v in parts) + " }")


values = st.recursive(scalars, lambda inner: lists(inner) | inline_tables(inner), max_leaves=6)
statements = st.one_of(
    st.tuples(keys, values).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    keys.map(lambda key: f"[ {key} ]"),
    keys.map(lambda key: f"[[{key}]]"),
    st.tuples(keys, keys).map(lambda pair: f"[{pair[0]}.{pair[1]}] # [no]"),
    st.sampled_from(["", "# no = 1"]),
)


@given(st.lists(statements, max_size=8))
def test_every_path_is_found_and_no_other(parts):
    document = []
    for part in parts:  # leave out what contradicts what stands before
        try:
            tomllib.loads("\n".join([*document, part]))
        except tomllib.TOMLDecodeError:
            continue
        document.append(part)
    text = "\n".join(document)
    assert set(key_lines(text)) == set(paths_of(tomllib.loads(text)))


@given(st.lists(st.tuples(gaps, values), min_size=1, max_size=8))
def test_every_key_is_on_the_line_where_it_was_written(parts):
    text, expected = "", {}
    for number, (gap, value) in enumerate(parts):
        text += gap
        expected[f"key{number}",] = text.count("\n") + 1
        text += f"key{number} = {value}\n"
    assert len(tomllib.loads(text)) == len(parts)
    lines = key_lines(text)
    assert {path: lines[path] for path in expected} == expected
