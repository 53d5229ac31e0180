"""The trap guards: which limit says what, and that they leave the web as it is alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.traps import TrapLimits
from terrain.rules.urls import UrlRules

SMALL = TrapLimits(
    path_length=20, path_segments=5, repeated_segments=2, query_length=12, query_parameters=3
)
WILD = Path(__file__).parents[1] / "data" / "urls-seen-in-the-wild.txt"

CASES = [
    ("/", None),
    ("/" + "x" * 19, None),
    ("/" + "x" * 20, "a path of more than 20 characters"),
    ("/a/b/c/d/e", None),
    ("/a/b/c/d/e/f", "a path of more than 5 segments"),
    ("/a/b/a", None),
    ("/a/a/a", "a segment more than 2 times in the path"),
    ("/a/b/a/b/a", "a segment more than 2 times in the path"),
    ("/a//b//c", None),
    ("/a////b", "a segment more than 2 times in the path"),
    ("/?a=56789012", None),
    ("/?" + "x" * 13, "a query of more than 12 characters"),
    ("/?a&b&c", None),
    ("/?a&b&c&d", "a query of more than 3 parameters"),
    ("/?a=/b/b/b/b", None),
    ("/a&b&c&d&e", None),
]


@pytest.mark.parametrize(("path", "reason"), CASES)
def test_what_each_limit_says(path: str, reason: str | None) -> None:
    expected = None if reason is None else f"trap guard: {reason}"
    assert SMALL.reason(f"https://example.com{path}") == expected


def test_the_host_and_its_port_are_not_judged() -> None:
    assert SMALL.reason(f"https://{'a.' * 100}test:8443/") is None


def test_no_address_seen_in_the_wild_is_taken_for_a_trap() -> None:
    limits, urls = TrapLimits(), UrlRules()
    addresses = filter(None, map(urls.address, WILD.read_text("utf-8").splitlines()))
    assert [a.identity for a in addresses if limits.reason(a.identity)] == []


@pytest.mark.parametrize(
    "href",
    [
        "/2011/11/11/11/eleven",
        "/wiki/" + "%E0%B4%95%E0%B5%87" * 50,
        "/maps/0/0/0/tile",
        "/search?" + "&".join(f"facet{n}=value{n}" for n in range(20)),
    ],
)
def test_the_defaults_are_generous(href: str) -> None:
    assert TrapLimits().reason(UrlRules().identity(f"https://example.com{href}")) is None


@given(st.lists(st.sampled_from("abc"), min_size=1), st.integers(1, 5))
def test_whatever_grows_by_itself_ends(step: list[str], start: int) -> None:
    """A path that repeats itself is cut off after as many rounds as a segment may repeat."""
    limits = TrapLimits()
    for rounds in range(start, 200):
        if limits.reason("https://example.com/" + "/".join(step * rounds)) is not None:
            assert rounds <= limits.repeated_segments + 1
            return
    pytest.fail("it never ended")


@given(st.text("ab/?&=", max_size=60))
def test_quick_and_thorough_agree(rest: str) -> None:
    """The cheap questions that come first may only spare work, never change the answer."""
    identity = f"https://example.com/{rest}"
    path, _, query = f"/{rest}".partition("?")
    parts = path[1:].split("/")
    beyond = [
        len(path) > 20,
        len(parts) > 5,
        max(map(parts.count, parts)) > 2,
        len(query) > 12,
        query.count("&") >= 3,
    ]
    assert (SMALL.reason(identity) is not None) == any(beyond)
