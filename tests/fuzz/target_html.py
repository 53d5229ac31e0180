"""HTML: the first line of an input is its Content-Type header, the rest the body."""

from terrain.rules import extract as limits
from terrain.rules.charset import encoding_for
from terrain.rules.extract import MAX_LINKS, PageFacts, extract
from terrain.rules.links import LinkKind
from terrain.rules.urls import MAX_URL_LENGTH, UrlRules
from tests.fuzz.target import Target, assert_storable, first_line

RULES = UrlRules()
FETCH_URL = "https://www.example.com/docs/?page=1"
IDENTITY = "https://example.com/docs?page=1"
FEW = 3

ELEMENTS = (
    b"html head body title meta base link a p div span b i font nobr nav header footer aside main "
    b"table tr td caption select option template noscript script style iframe textarea svg math "
    b"foreignObject frameset plaintext xmp form button li ul img br applet object"
).split()
WORDS = (
    *(b"<%s>" % name for name in ELEMENTS),
    *(b"</%s>" % name for name in ELEMENTS),
    *(b"<a href=/x>x</a>", b'<a href="', b"<a href='https://", b" href=", b" rel=nofollow", b">"),
    *(b"<link rel=canonical href=/c>", b"<base href=//b/>", b"<base href=data:,>", b" download"),
    *(b"<meta name=robots content=noindex>", b"<meta name=description content=", b"<meta charset="),
    *(b"<html lang=en>", b" role=navigation", b" alt=y", b'"', b"'", b"=", b"/", b"<", b"&", b";"),
    *(b"<!--", b"-->", b"<!doctype html>", b"<![CDATA[", b"]]>", b"<?xml encoding='", b"?>", b"\0"),
    *(b"&amp;", b"&#0;", b"&#xd800;", b"&#x110000;", b"&nbsp", b"\n", b"\t", b" ", b"\xc2\xa0"),
    *(b"text/html", b"; charset=", b"utf-8", b"utf-16le", b"shift_jis", b"iso-2022-jp", b"gb18030"),
    *(b"big5", b"euc-kr", b"x-user-defined", b"replacement", b"windows-1252", b"koi8-r", b"hz"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1b$B", b"\x81", b"\xe9", b"\xed\xa0\x80"),
    *(b"\xf0\x9f\x92\xa9", b"\xd8\xa7", b"\x00<\x00", b"../", b"?a=1&b", b"#x", b"javascript:"),
)


def check(data: bytes) -> None:
    content_type, body = first_line(data)
    facts = _read(body, content_type)
    _small_texts(facts)
    _links(facts)
    assert len(facts.content_hash) == 32
    assert encoding_for(facts.encoding) == facts.encoding
    assert facts.canonical_url is None or facts.canonical_url.startswith("https://")
    if len(facts.links) > FEW:
        fewer = _read(body, content_type, FEW)
        assert fewer.links == facts.links[:FEW]
        assert fewer.note == f"kept the first {FEW} of more links"


def _read(body: bytes, content_type: str, max_links: int | None = None) -> PageFacts:
    return extract(
        body,
        content_type=content_type,
        fetch_url=FETCH_URL,
        identity=IDENTITY,
        rules=RULES,
        max_links=max_links,
    )


def _small_texts(facts: PageFacts) -> None:
    for text, longest in (
        (facts.title, limits.MAX_TITLE),
        (facts.description, limits.MAX_DESCRIPTION),
        (facts.language, limits.MAX_LANGUAGE),
        (facts.meta_robots, limits.MAX_META_ROBOTS),
        (facts.canonical_url, MAX_URL_LENGTH),
        (facts.note, 100),
    ):
        if text is not None:
            assert text
            assert text.split(" ") == text.split()
            assert_storable(text, longest)


def _links(facts: PageFacts) -> None:
    identities = [link.address.identity for link in facts.links]
    assert len(set(identities)) == len(identities) <= MAX_LINKS
    assert IDENTITY not in identities
    for number, link in enumerate(facts.links):
        assert_storable(link.anchor, limits.MAX_ANCHOR)
        assert_storable(link.rel, limits.MAX_REL)
        assert link.kind is LinkKind.ANCHOR or (link.kind, number) == (LinkKind.CANONICAL, 0)
        assert link.address == RULES.address(link.address.fetch_url)


# The limits are for a body of 10 MiB, the largest that is read unless the user says otherwise.
TARGET = Target(
    name="html", check=check, words=WORDS, largest=1024 * 1024, seconds=6.0, megabytes=200
)
