"""Strangers' titles, URLs and messages come out harmless wherever a person reads them."""

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from terrain.reports.escape import code, code_url, plain
from terrain.reports.picture import draw
from terrain.reports.stats import render_stats
from terrain.reports.summary import render_summary
from terrain.rules.hosts import HostKind
from terrain.rules.states import PageState
from terrain.store.queries import DomainEdge, DomainGraph, DomainNode, open_terrain
from tests.reports.known import SECOND, KnownTerrain
from tests.store.terrains import ended, make_policy, processed

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><h1>Hello",
    "[click](https://evil.test) ![x](https://evil.test/x.png)",
    "https://evil.test www.evil.test me@evil.test @someone #1",
    "a | b \\| c \\\\| d ` e `` f \\` g",
    "**bold** _it_ ~~no~~ $x$ <!-- hide --> &lt;b&gt; &#x3c;",
    "line one\n\n# Heading\r\n- item\n```\ncode\n    indented",
    "\x1b[31mred\x1b[0m\x1b]0;owned\x07\x9b2J\x08\x08\x7f\x00",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u200e",
    "\u05e9\u05dc\u05d5\u05dd \u0627\u0644\u0633\u0644\u0627\u0645",
    "\u2028\u2029\ufeff\ufffe\U000e0041\ue000 \ud800",
    "]]><x/>",
    "x" * 10_240,
    "`" * 10_240,
    "\u0301" * 10_240,
    "   \t\n  ",
]

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ALLOWED = {
    "inline", "text", "code_inline", "softbreak", "paragraph_open", "paragraph_close",
    "heading_open", "heading_close", "table_open", "table_close", "thead_open", "thead_close",
    "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close", "td_open",
    "td_close",
}  # fmt: skip
NOT_TEXT = {"Cc", "Cf", "Cs", "Co", "Cn"}


def tokens(markdown: str) -> list[Token]:
    """All tokens, those inside of lines included."""
    found = []
    for token in MARKDOWN.parse(markdown):
        found += [token, *(token.children or [])]
    return found


def assert_visible(text: str) -> None:
    """Every character is one that a reader sees, or a line's end."""
    strange = {c for c in text if c != "\n" and unicodedata.category(c) in NOT_TEXT}
    assert not strange
    assert not set(text) & {"\u2028", "\u2029", "\r", "\t"}


@pytest.fixture(scope="module")
def hostile_database(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Each text as the title of a quality and of another home page, as a message, in URLs."""
    path = tmp_path_factory.mktemp("hostile") / "t.db"
    policy = make_policy({"*.q.org": 2}, ["https://q.org/"], blacklist=["bad.net"], stub=["st.net"])
    terrain = KnownTerrain(path, policy)
    terrain.store.open_run()
    numbers = range(len(HOSTILE))
    quality = [f"https://s{number}.q.org/" for number in numbers]
    others = [f"https://d{number}.com/" for number in numbers]
    broken = [f"https://d{number}.com/broken" for number in numbers]
    listed = [f"https://{host}/{number}" for number in numbers for host in ("bad.net", "st.net")]
    terrain.record(processed("https://q.org/", *quality, *others, *broken, *listed))
    for number, text in enumerate(HOSTILE):
        stored = text.encode("utf-8", "replace").decode()
        terrain.record(
            processed(quality[number], title=stored),
            processed(others[number], title=stored),
            ended(broken[number], PageState.FAILED, error_message=stored),
        )
    terrain.store.close_run(completed=True)
    terrain.store.close()
    # URLs are normalised before they are stored; reports must not rely on it.
    with closing(sqlite3.connect(path)) as database, database:
        for url in listed:
            start, _, place = url.rpartition("/")
            text = HOSTILE[int(place)].encode("utf-8", "replace").decode()
            database.execute(
                "UPDATE page_address SET url = ? WHERE url = ?", (f"{start}/{text}", url)
            )
    return path, policy


def test_summary(hostile_database: tuple[Path, Any]) -> None:
    path, policy = hostile_database
    with open_terrain(path) as reader:
        text = render_summary(reader, policy, now=SECOND)
    assert_visible(text)
    found = tokens(text)
    assert {token.type for token in found} <= ALLOWED
    # Our headings and no other; every row has as many cells as its table's head.
    headings = [one.content for one, before in zip(found[1:], found, strict=False)
                if before.type == "heading_open"]  # fmt: skip
    assert headings == [
        "Crawl summary", "Overall", "Pages by state", "Depth", "Quality domains", "Other domains",
        "Blacklisted URLs", "Stubbed URLs", "Errors", "Rate limited domains", "Not crawled",
    ]  # fmt: skip
    head = cells = 0
    for token in found:
        if token.type == "tr_open":
            cells = 0
        elif token.type == "th_open":
            head = cells = cells + 1
        elif token.type == "td_open":
            cells += 1
        elif token.type == "tr_close":
            assert cells == head
    # What strangers wrote stands in code spans; the plain words are ours.
    ours = " ".join(token.content for token in found if token.type == "text")
    assert "evil" not in ours
    assert "alert" not in ours
    assert max(map(len, text.splitlines())) < 300


def test_terminal(hostile_database: tuple[Path, Any]) -> None:
    with open_terrain(hostile_database[0]) as reader:
        assert_visible(render_stats(reader, now=SECOND))


@pytest.mark.parametrize("text", HOSTILE)
def test_svg(text: str) -> None:
    nodes = [DomainNode(1, text, 9), DomainNode(2, "a.org", 3)]
    kinds = {text: HostKind.QUALITY, "a.org": HostKind.DISCOVERED}
    policy: Any = SimpleNamespace(host_rules=SimpleNamespace(classify=kinds.__getitem__))
    svg = draw(DomainGraph(nodes, [DomainEdge(1, 2, 4)], 2, 1), policy)
    assert_visible(svg)
    names = {element.tag for element in ET.fromstring(svg).iter()}
    assert names == {
        f"{{http://www.w3.org/2000/svg}}{name}"
        for name in (
            "svg",
            "title",
            "desc",
            "style",
            "rect",
            "text",
            "g",
            "path",
            "polygon",
            "circle",
        )
    }
    allowed = {"class", "id", "x", "y", "width", "height", "rx", "cx", "cy", "r", "d", "points",
               "opacity", "stroke-width", "viewBox", "role", "aria-labelledby"}  # fmt: skip
    for element in ET.fromstring(svg).iter():
        assert set(element.attrib) <= allowed
        assert len(element.text or "") < 600 or element.tag.endswith("style")


@given(st.text(max_size=300), st.integers(2, 80))
def test_plain_text_is_one_visible_line_of_limited_length(text: str, most: int) -> None:
    shown = plain(text, most)
    assert_visible(shown)
    assert "\n" not in shown
    assert len(shown) <= most


@given(st.text("ab`|\\<>&[]()*_~$! \n\u202e", max_size=30))
def test_a_code_span_cannot_be_left(text: str) -> None:
    for span in (code(text), code_url(text)):
        found = tokens(f"| a | b |\n|---|---|\n| {span} | 2 |\n")
        cells = [token for token in found if token.type == "td_open"]
        inside = [token for token in found if token.type == "code_inline"]
        assert len(cells) == 2
        assert len(inside) == (1 if span else 0)
        assert {token.type for token in found} <= ALLOWED
        assert all(token.content == span.strip("`") for token in inside)


@given(st.from_regex(r"https://[a-z]{1,9}\.[a-z]{2,3}/[a-zA-Z0-9/._~%=?&-]{0,60}", fullmatch=True))
def test_an_ordinary_url_is_shown_as_it_is(url: str) -> None:
    assert code_url(url) == f"`{url}`"


def test_what_is_cut_says_so() -> None:
    assert plain("abcdef", 6) == "abcdef"
    assert plain("abcdefg", 6) == "abcde…"
    assert plain("a" + " " * 500 + "b", 6) == "a…"
    assert code_url("https://a.org/" + "x" * 200, 20) == "`https://a.org/xxxxx…`"
