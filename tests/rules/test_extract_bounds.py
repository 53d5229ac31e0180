"""Pages made to hurt: no tree is built that could cost too much, and little is lost by that.

What counts is the size of what is handed to the parser, so these tests do not look at a clock;
benchmarks/bench_extract.py does, with the full sizes.
"""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from terrain.rules import markup
from terrain.rules.extract import MAX_LINKS, PageFacts, extract
from terrain.rules.links import Position
from terrain.rules.markup import MAX_OUTLINE_LINKS, MAX_TAGS, bounded
from terrain.rules.urls import UrlRules

PAGE = "https://example.com/"
RULES = UrlRules()


def read(body: bytes) -> PageFacts:
    return extract(body, content_type="text/html", fetch_url=PAGE, identity=PAGE, rules=RULES)


def depth(html: bytes) -> int:
    """Return how deep a flat outline nests, counting every tag that is not void."""
    deepest = level = 0
    for end, name in re.findall(rb"<(/?)([a-z]+)", html):
        if name not in {b"img", b"meta", b"base", b"link"}:
            level += -1 if end else 1
            deepest = max(deepest, level)
    return deepest


def many_links(count: int) -> bytes:
    return b"".join(b"<a href=/%d>%d</a>" % (i, i) for i in range(count))


def reopened(count: int) -> bytes:
    return b"<p>%s</p>%s" % (
        b"".join(b"<b id=%d>" % i for i in range(count)),
        b"<p>x</p>" * count,
    )


HOSTILE = {
    "deep div": b"<div>" * 20_001,
    "deep nav": b"<nav>" * 20_001,
    "deep span and ends": b"<span>" * 10_001 + b"</x>" * 10_000,
    "deep lists": b"<ul><li>" * 10_001,
    "deep a": b"<a href=/x><div>" * 10_001,
    "formatting opened again": reopened(700),
    "formatting behind quotes": b"<p>%s</p>%s"
    % (b"".join(b"<b a='>' b=%d>" % i for i in range(700)), b"<p>x" * 700),
    "formatting in capitals": reopened(700).replace(b"<b", b"<FONT"),
    "long attribute opened again": b"<p><b id='%s'></p>" % (b"x" * 500_000) + b"<p>x</p>" * 200,
    "long link opened again": b"<p><A title=%s></p>" % (b"x" * 500_000) + b"<p>x</p>" * 200,
    "long attribute behind a false start": b"<!--<b x=' --><p><i id='>%s'></p>" % (b"x" * 500_000)
    + b"<p>x</p>" * 200,
    "tags in attributes of tags": b"<b x='" * 9_000 + b"x" * 500_000,
    "attributes": b"<p %s>" % b" ".join(b"a%d" % i for i in range(20_000)),
    "attributes behind quotes": b"<p %s>" % b" ".join(b"a%d='>'" % i for i in range(20_000)),
    "attributes of many bodies": b"".join(
        b"<body %s>" % b" ".join(b"a%d_%d" % (i, j) for j in range(400)) for i in range(40)
    ),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_costly_tree_is_not_built(body):
    html = bounded(body).html
    assert html is not body
    assert depth(html) <= 6
    assert len(html) < 2 * len(body)
    read(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>text</p>" * (MAX_TAGS // 2),
        b'<i class="icon"></i>' * (MAX_TAGS // 2),
        b"<p>" + b"<b class=x>" * 2_000,
        b"<p title='%s'>" % (b"x" * 1_000_000),
        b"x" * 1_000_000,
        b"<p>" + b"".join(b'<p><a href="/%d" title="a > b">x</a>' % n for n in range(5_000)),
        b"<p><b style='color: red'>x</b></p>" * 4_000,
    ],
    ids=[
        *("empty", "many tags", "many icons", "formatting alike", "giant attribute", "giant text"),
        *("many links", "much bold text"),
    ],
)
def test_an_ordinary_document_is_parsed_as_it_is(body):
    assert bounded(body).html is body


ATTRIBUTES = st.sampled_from(
    [b"x", b"a=1", b"t='>'", b't="<>"', b"t=\t'>'", b't = ">"', b"'>", b'="', b"y" * 120,
     b"z" * 260, b"q " * 600, b"/", b"<b", b">", b"title="]
)  # fmt: skip
TAGS = st.builds(
    lambda name, attributes: b"<%s %s>" % (name, b" ".join(attributes)),
    st.sampled_from([b"b", b"A", b"code", b"p", b"!--"]),
    st.lists(ATTRIBUTES, max_size=6),
)


@settings(max_examples=1_000)
@given(st.lists(TAGS, max_size=3).map(b"text".join))
def test_what_passes_the_quick_look_would_pass_the_long_one(body):
    """The quick look is for all tags at once; the long one takes each of them apart."""
    if markup._HIDDEN_END.search(body) or markup._LONG_TAG.search(body):
        return
    assert not any(markup._MANY_ATTRIBUTES.findall(body))
    for start in markup._REOPENED_START.finditer(body):
        rest = markup._REST_OF_TAG.match(body, start.end())
        assert rest is not None
        assert rest.end() - start.start() <= 256


def test_formatting_alike_is_opened_again_three_times_only():
    # The guard counts on the parser to keep the standard's "Noah's Ark clause".
    tree = LexborHTMLParser(b"<p>" + b"<b class=x>" * 500 + b"</p>" + b"<p>x</p>" * 20)
    assert len(tree.css("b")) <= 500 + 20 * 3


class TestManyLinks:
    def test_the_first_ten_thousand_are_kept_and_it_is_said(self):
        facts = read(many_links(100_000))
        assert len(facts.links) == MAX_LINKS
        assert facts.links[-1].address.identity == f"https://example.com/{MAX_LINKS - 1}"
        assert facts.links[-1].anchor == str(MAX_LINKS - 1)
        assert facts.note == "kept the first 10000 of more links"

    def test_the_tree_does_not_grow_with_them(self):
        outline = bounded(many_links(100_000))
        assert outline.html.count(b"<a ") == MAX_OUTLINE_LINKS
        assert outline.links_left_out

    def test_a_hundred_thousand_to_one_page_hide_no_other(self):
        facts = read(b"<a href=/a>a</a>" * 100_000 + b"<a href=/b>b</a>")
        assert [link.anchor for link in facts.links] == ["a", "b"]
        assert facts.note is None

    def test_exactly_ten_thousand_need_no_note(self):
        assert read(many_links(MAX_LINKS)).note is None


class TestDepth:
    def test_a_link_at_the_bottom_is_found(self):
        body = b"<title>t</title>" + b"<div>" * 20_000 + b"<main>" * 5 + b"<a href=/x>deep</a>"
        facts = read(body)
        assert [(link.anchor, link.position) for link in facts.links] == [("deep", Position.MAIN)]
        assert facts.title == "t"

    def test_as_deep_as_a_tree_may_be(self):
        body = b"<div>" * (MAX_TAGS - 10) + b"<nav><a href=/x>deep</a><a href=/y>er</a>"
        assert bounded(body).html is body
        assert [link.position for link in read(body).links] == [Position.NAV] * 2

    def test_links_inside_links_share_a_long_text(self):
        body = b"".join(b"<a href=/%d><object>" % i for i in range(2_000)) + b"word " * 20_000
        facts = read(body)
        assert len(facts.links) == 2_000
        assert all(len(link.anchor) <= 200 for link in facts.links)


@pytest.mark.parametrize("size", [1, 1_000, 1_000_000])
def test_random_bytes(size):
    body = random.Random(size).randbytes(size)
    assert read(body) == read(body)


@pytest.mark.parametrize("byte", [b"\0", b"<", b"&", b"\xff", b" ", b"<!", b"</", b"<a ", b"='"])
def test_one_thing_repeated(byte):
    facts = read(byte * 100_000)
    assert facts.links == ()


PIECES = st.lists(
    st.sampled_from(
        [
            b"<a href=/%d rel='x y'>" % 1,
            b'<A HREF="/2?a=1&amp;b=2">',
            b"<a href='/\"3'>",
            b"<a href=/4 download>",
            b"</a>",
            b"<nav>",
            b"</nav>",
            b"<main>",
            b"</main>",
            b"<p>",
            b"</p>",
            b"<b>",
            b"</b>",
            b"<br>",
            b"<img alt=pic>",
            b"<script>if (a<b) '<a href=/no>'</script>",
            b"<!-- <a href=/no> -->",
            b"<style>a{}</style>",
            b"<title>T &amp; <i></title>",
            b"<meta name=description content=D>",
            b"<base href=/base/>",
            b"<link rel=canonical href=/c>",
            b"<textarea>x<a href=/no></textarea>",
            b"word ",
            b"a < b",
            b"&eacute;",
        ]
    ),
    max_size=30,
).map(b"".join)


class TestOutline:
    """The outline of an ordinary document tells what the document tells."""

    @staticmethod
    def outlined(body: bytes, monkeypatch: pytest.MonkeyPatch) -> PageFacts:
        monkeypatch.setattr(markup, "MAX_TAGS", -1)
        assert bounded(body).html is not body
        return read(body)

    def test_an_ordinary_page(self, monkeypatch):
        body = (
            b"<!doctype html><HTML LANG=en><head><title>A &lt;page&gt;</title>"
            b"<meta name=robots content=noindex><base href=/b/><link rel=canonical href=c>"
            b"<link rel=stylesheet href=s></head><body class=x><header><a href=home>Home</a>"
            b"<nav><a href=1 rel=nofollow>One</a><a href=2><img alt=Two></a></nav></header>"
            b"<main><p>Text with <b>bold</b>, 1 < 2.</p><a href=3><h3>Three</h3><p>more</p></a>"
            b"<a href=4 download>no</a></main><template><a href=no>no</a></template>"
            b"<noscript>unseen <a href=5>Five</a></noscript><textarea>t <a href=no></textarea>"
        )
        expected = read(body)
        facts = self.outlined(body, monkeypatch)
        assert [link.anchor for link in facts.links] == [
            "",
            "Home",
            "One",
            "Two",
            "Three more",
            "Five",
        ]
        assert facts.links == expected.links
        for name in ("title", "language", "canonical_url", "meta_robots", "description"):
            assert getattr(facts, name) == getattr(expected, name)

    @given(PIECES)
    def test_any_document_has_the_same_links_and_head(self, body):
        expected = read(body)
        with pytest.MonkeyPatch.context() as patch:
            facts = self.outlined(body, patch)
        assert [link.address for link in facts.links] == [link.address for link in expected.links]
        assert facts.canonical_url == expected.canonical_url
        assert facts.description == expected.description

    @given(st.binary(max_size=300) | PIECES)
    def test_is_flat_whatever_the_input(self, body):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(markup, "MAX_TAGS", -1)
            html = bounded(body).html
        node = LexborHTMLParser(html).root
        levels = max((_level(link) for link in node.css("*")), default=0)
        assert levels <= 5


def _level(node) -> int:
    level = 0
    while (node := node.parent) is not None:
        level += 1
    return level
