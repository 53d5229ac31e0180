"""What is read from a page, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules import extract as module
from terrain.rules.extract import PageFacts, extract
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.urls import UrlRules

PAGE = "https://example.com/docs/page"
RULES = UrlRules()


def read(html: str | bytes, content_type: str | None = "text/html", **options) -> PageFacts:
    body = html.encode() if isinstance(html, str) else html
    options.setdefault("fetch_url", "https://www.example.com/docs/page")
    return extract(body, content_type=content_type, identity=PAGE, rules=RULES, **options)


def targets(html: str, **options) -> list[str]:
    return [link.address.identity for link in read(html, **options).links]


def only_link(html: str) -> OutLink:
    (link,) = read(html).links
    return link


class TestHeadFacts:
    def test_all_of_them(self):
        facts = read(
            "<!doctype html><html lang='de-CH'><title> A\n title </title>"
            "<meta name=Description content=' What  it is '>"
            "<meta name=ROBOTS content='NoIndex, nofollow'>"
            "<link rel=canonical href=/docs/page?utm_source=x>"
        )
        assert facts.title == "A title"
        assert facts.description == "What it is"
        assert facts.language == "de-CH"
        assert facts.meta_robots == "noindex, nofollow"
        assert facts.canonical_url == "https://www.example.com/docs/page?utm_source=x"
        assert facts.encoding == "utf-8"
        assert facts.note is None

    @pytest.mark.parametrize("html", ["", "<title> </title><meta name=description>", "\0", "x"])
    def test_absent_or_blank_is_none(self, html):
        facts = read(html)
        assert facts.title is facts.description is facts.language is None
        assert facts.canonical_url is facts.meta_robots is facts.note is None
        assert facts.links == ()

    @pytest.mark.parametrize(
        ("html", "title"),
        [
            ("<title>a</title><title>b</title>", "a"),
            ("<svg><title>picture</title></svg>", None),
            ("<svg><title>picture</title></svg><title>page</title>", "page"),
            ("<svg><symbol><title>part</title></symbol></svg><title>page</title>", "page"),
            ("<svg><g><title>part of a picture</title></g></svg>", None),
            ("<svg><foreignObject><title>page</title></foreignObject></svg>", "page"),
            ("<title>a <b>&amp; b</title>", "a <b>& b"),
            ("<title>a\x07\x1b[31mb\x9f&#0;</title>", "a[31mb\ufffd"),
            ("<title>" + "x" * 100_000 + "</title>", "x" * module.MAX_TITLE),
        ],
    )
    def test_title(self, html, title):
        assert read(html).title == title

    @pytest.mark.parametrize(
        ("html", "language"),
        [
            ("<html lang=en><meta http-equiv=content-language content=fr>", "en"),
            ("<html><meta http-equiv=Content-Language content=fr>", "fr"),
            ("<html lang=''><meta http-equiv=content-language content=fr>", "fr"),
            ("<html xml:lang=nl>", "nl"),
        ],
    )
    def test_language(self, html, language):
        assert read(html).language == language

    def test_several_robots_metas_are_joined(self):
        html = "<meta name=robots content=noindex><meta name=robots content=noarchive>"
        assert read(html).meta_robots == "noindex, noarchive"

    def test_the_first_description_that_says_something(self):
        html = "<meta name=description content=''><meta name=description content=b>"
        assert read(html).description == "b"

    def test_the_first_usable_canonical(self):
        html = (
            "<link rel=canonical><link rel=canonical href='https://['>"
            "<link rel=canonical href='mailto:a@b'><link rel='x CANONICAL' href=//other.org/a>"
            "<link rel=canonical href=/late>"
        )
        facts = read(html)
        assert facts.canonical_url == "https://other.org/a"
        assert [link.address.identity for link in facts.links] == ["https://other.org/a"]

    def test_the_declared_charset_is_used(self):
        facts = read("<title>Привет</title>".encode("koi8-r"), "text/html; charset=koi8-r")
        assert (facts.title, facts.encoding) == ("Привет", "koi8-r")


class TestContentHash:
    BASE = "<title>t</title><p>Hello <b>wor</b>ld</p>"

    @pytest.mark.parametrize(
        "same",
        [
            "<title>other</title><p>Hello world</p>",
            "<p>Hello\n\n   world</p>\n",
            "<p>Hello world</p><script>time = 123</script>",
            "<style>p{}</style><p>Hello world<!-- 17:03 --></p>",
            "<p>Hello world</p><noscript>no script?</noscript><template>t</template>",
            "<p id=x data-time=99>Hello world</p><iframe>frame</iframe>",
        ],
    )
    def test_what_no_reader_sees_does_not_count(self, same):
        assert read(same).content_hash == read(self.BASE).content_hash

    @pytest.mark.parametrize("other", ["<p>Hello World</p>", "<p>Hello world!</p>", ""])
    def test_what_a_reader_sees_counts(self, other):
        assert read(other).content_hash != read(self.BASE).content_hash

    def test_the_encoding_does_not_count(self):
        latin = read("<p>café</p>".encode("cp1252"), "text/html; charset=latin1")
        assert latin.content_hash == read("<p>café</p>").content_hash

    def test_is_32_hexadecimal_digits(self):
        assert len(bytes.fromhex(read("x").content_hash)) == 16


class TestWhatIsALink:
    @pytest.mark.parametrize(
        "html",
        [
            "<a href=/x>y</a>",
            "<a href=../x>y</a>",
            "<a href=' /x\n'>y</a>",
            "<a href=//www.example.com/x/#part>y",
            "<a href=http://example.com/x>y</a>",
            "<a href='/x?utm_source=z'>y</a>",
            "<noscript><a href=/x>y</a></noscript>",
            "<table><a href=/x>y</a></table>",
            "<p><a href=/x>y<p>z",
            "<A HREF='&#47;x'>y</A>",
            "<svg><a href=/x>y</a></svg>",
            "<a href=/x></a>",
        ],
    )
    def test_one_link(self, html):
        assert targets(html) == ["https://example.com/x"]

    @pytest.mark.parametrize(
        "html",
        [
            "<a name=x>y</a>",
            "<a href>y</a>",
            "<a href=''>y</a>",
            "<a href='#part'>y</a>",
            "<a href=/docs/page/?utm_source=a#x>itself</a>",
            "<a href=/x download>y</a>",
            "<a href=/x download=file.html>y</a>",
            "<a href='javascript:void(0)'>y</a>",
            "<a href='mailto:a@example.com'>y</a>",
            "<a href='tel:123'>y</a>",
            "<a href='data:text/html,x'>y</a>",
            "<a href='ftp://example.com/x'>y</a>",
            "<a href='https://['>y</a>",
            "<template><a href=/x>y</a></template>",
            "<!-- <a href=/x>y</a> -->",
            "<script>'<a href=/x>y</a>'</script>",
            "<textarea><a href=/x>y</a></textarea>",
            "<link rel=canonical href=/docs/page>",
            "<link rel=alternate href=/x>",
            "<area href=/x>",
        ],
    )
    def test_no_link(self, html):
        assert targets(html) == []

    def test_in_document_order_once_for_each_target(self):
        html = "<a href=/b>1</a><a href=/a>2</a><a href=/b/>3</a><a href=/c>4</a><a href=/a>5</a>"
        links = read(html).links
        assert [(link.address.identity[-1], link.anchor) for link in links] == [
            ("b", "1"),
            ("a", "2"),
            ("c", "4"),
        ]

    def test_a_download_does_not_hide_a_later_link(self):
        assert targets("<a href=/x download>1</a><a href=/x>2</a>") == ["https://example.com/x"]

    def test_a_canonical_is_a_link_before_those_of_the_body(self):
        first, second = read("<link rel=canonical href=/c><a href=/a>x</a>").links
        assert (first.kind, first.rel, first.anchor) == (LinkKind.CANONICAL, "canonical", "")
        assert first.position is Position.BODY
        assert second.kind is LinkKind.ANCHOR

    def test_an_anchor_to_the_canonical_page_wins(self):
        html = "<link rel=canonical href=/c><a href=/a>1</a><a href=/c>2</a>"
        assert [(link.kind, link.anchor) for link in read(html).links] == [
            (LinkKind.ANCHOR, "1"),
            (LinkKind.ANCHOR, "2"),
        ]


class TestBase:
    @pytest.mark.parametrize(
        ("base", "target"),
        [
            ("<base href=/other/>", "https://example.com/other/x"),
            ("<base href=https://cdn.example.org/a/b>", "https://cdn.example.org/a/x"),
            ("<base target=_top><base href=/1/><base href=/2/>", "https://example.com/1/x"),
            ("<base href='https://['>", "https://example.com/docs/x"),
            ("<base href='data:text/html,x'>", "https://example.com/docs/x"),
            ("<base href=/" + "a" * 100_000 + "/>", "https://example.com/docs/x"),
        ],
    )
    def test_relative_links_follow_it(self, base, target):
        assert targets(base + "<a href=x>y</a>") == [target]

    def test_with_another_scheme_leaves_no_page(self):
        assert targets("<base href=ftp://example.com/><a href=x>y</a>") == []

    def test_the_canonical_follows_it_too(self):
        html = "<link rel=canonical href=c><base href=/other/>"
        assert read(html).canonical_url == "https://www.example.com/other/c"


class TestAnchor:
    @pytest.mark.parametrize(
        ("inner", "anchor"),
        [
            ("plain", "plain"),
            ("  two \n\t words\xa0here ", "two words here"),
            ("<b>b</b>old", "bold"),
            ("<h3>Title</h3><p>Text</p>", "Title Text"),
            ("<span>a</span><br><span>b</span>", "a b"),
            ("<div><span>a</span></div><div><span>b</span></div>", "a b"),
            ("<img alt='A picture'>", "A picture"),
            ("<img alt=logo> Home", "Home"),
            ("<img alt=''>", ""),
            ("<script>x()</script>seen<style>p{}</style>", "seen"),
            ("a<!-- hidden -->b", "ab"),
            ("&lt;b&gt;\x01\x7f", "<b>"),
            ("x" * 500, "x" * 200),
            ("abc " * 500, " ".join(["abc"] * 50)),
            ("", ""),
        ],
    )
    def test_visible_text(self, inner, anchor):
        assert only_link(f"<a href=/x>{inner}</a>").anchor == anchor


class TestRel:
    @pytest.mark.parametrize(
        ("attribute", "rel"),
        [
            ("", ""),
            ("rel", ""),
            ("rel=nofollow", "nofollow"),
            ("rel=' NoFollow\tUGC  sponsored '", "nofollow ugc sponsored"),
            (f"rel='{'token ' * 100}'", ("token " * 16).strip()),
        ],
    )
    def test_tokens_in_their_order(self, attribute, rel):
        assert only_link(f"<a href=/x {attribute}>y</a>").rel == rel


class TestPosition:
    @pytest.mark.parametrize("word", ["nav", "header", "footer", "aside", "main"])
    def test_the_section_around(self, word):
        html = f"<{word}><div><ul><li><a href=/x>y</a></ul></div></{word}>"
        assert only_link(html).position.word == word

    @pytest.mark.parametrize(
        ("html", "position"),
        [
            ("<a href=/x>y</a>", Position.BODY),
            ("<nav></nav><a href=/x>y</a>", Position.BODY),
            ("<header><nav><a href=/x>y</a></nav></header>", Position.NAV),
            ("<main><header><p><a href=/x>y</a></header></main>", Position.HEADER),
            ("<div role=navigation><a href=/x>y</a></div>", Position.NAV),
            ("<div role=Banner><a href=/x>y</a></div>", Position.HEADER),
            ("<div role=contentinfo><a href=/x>y</a></div>", Position.FOOTER),
            ("<div role=complementary><a href=/x>y</a></div>", Position.ASIDE),
            ("<section role=main><a href=/x>y</a></section>", Position.MAIN),
            ("<div role=list><a href=/x>y</a></div>", Position.BODY),
        ],
    )
    def test_the_nearest_counts(self, html, position):
        assert only_link(html).position is position

    def test_each_link_has_its_own(self):
        html = (
            "<header><a href=/0>a</a><nav><a href=/1>a</a></nav><a href=/2>a</a></header>"
            "<main><a href=/3>a</a></main><a href=/4>a</a>"
        )
        words = [link.position.word for link in read(html).links]
        assert words == ["header", "nav", "header", "main", "body"]


class TestLimits:
    HTML = "<link rel=canonical href=/c>" + "".join(f"<a href=/{i}>x</a>" for i in range(5))

    def test_the_first_so_many_are_kept_and_it_is_said(self):
        facts = read(self.HTML, max_links=3)
        assert [link.address.identity[-1] for link in facts.links] == ["c", "0", "1"]
        assert facts.note == "kept the first 3 of more links"

    def test_nothing_is_said_when_all_fit(self):
        facts = read(self.HTML, max_links=6)
        assert len(facts.links) == 6
        assert facts.note is None

    def test_the_same_target_again_does_not_count(self):
        facts = read("<a href=/a>1</a><a href=/a/>2</a><a href=/b>3</a>", max_links=2)
        assert len(facts.links) == 2
        assert facts.note is None


PIECES = """
<a/href=/x> <a/href='//h.org/'/download> </a> <b/id=1> <p> </p> <table> <td> <nav> </nav> <title>
<main/role=navigation> </title> <base/href=/b/> <link/rel=canonical/href=/c> <svg> <math> <select>
<template> </template> <script> </script> <!-- --> <option> <frameset> <noscript> <textarea> <html>
<meta/name=robots/content=none> text &#0; &#xd800; &amp; < > " ' = / \0 é
"""
MARKUP = st.lists(
    st.sampled_from(PIECES.split()) | st.text(max_size=3),
    max_size=40,
).map(lambda parts: " ".join(parts).encode("utf-8", "surrogatepass"))


class TestAnyInput:
    @staticmethod
    def check(facts: PageFacts) -> None:
        texts = [facts.title, facts.description, facts.language, facts.meta_robots]
        texts += [text for link in facts.links for text in (link.anchor, link.rel)]
        for text in filter(None, texts):
            text.encode("utf-8", "strict")
            assert "\0" not in text
            assert text == " ".join(text.split())
        identities = [link.address.identity for link in facts.links]
        assert len(set(identities)) == len(identities)
        assert PAGE not in identities

    @given(st.binary(max_size=500), st.none() | st.text(max_size=30))
    def test_bytes(self, body, content_type):
        self.check(read(body, content_type))

    @given(MARKUP)
    def test_markup(self, body):
        self.check(read(body))

    @given(MARKUP, st.sampled_from(["utf-16", "iso-2022-jp", "gbk", "utf-8", "x"]))
    def test_markup_in_the_wrong_charset(self, body, charset):
        self.check(read(body, f"text/html; charset={charset}"))
