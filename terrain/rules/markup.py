"""Markup that is safe to build a tree from, whatever it looks like.

The HTML Standard's tree construction is quadratic in places: every `<div>` looks through all open
elements for a `<p>`, every end tag for its start, every attribute is compared with those before
it, and every paragraph opens again all formatting elements (`<b id=1><b id=2>…`) that were left
open, so that kilobytes of markup become gigabytes of nodes. Browsers stop at a depth of 512;
lexbor has no such limit, and a call into it cannot be interrupted. So a document that could cost
too much is first reduced to an *outline*: the same text and links, flat, in linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TAGS: Final = 20_000
"""Tags a tree is built from: the worst arrangement of this many takes under a second."""

MAX_TAGS_IN_ALL: Final = 100_000
"""The same, with those of elements that are closed at once; a matter of memory."""

MAX_REOPENED: Final = 300_000
"""Formatting elements that may be opened again: about 0.4 kB and 1.3 µs for each."""

MAX_REOPENED_BYTES: Final = 64 * 1024 * 1024
"""Bytes of attributes that may be copied on the way: one long `title` opened again a thousand times
is a thousand long titles."""

SMALL_BYTES: Final = 65_536
"""A document this small cannot hold enough attributes to matter (20,000 distinct: a second)."""

MAX_ATTRIBUTES: Final = 512
"""Attributes of one tag in a larger document."""

MAX_ROOT_TAGS: Final = 8
"""`<html>` and `<body>` tags in a larger document: the attributes of all of them are merged."""

MAX_OUTLINE_LINKS: Final = 40_000
"""Distinct `href`s kept in an outline: a tree with more would need more memory than a page may."""

MAX_OUTLINE_HEAD: Final = 200
"""`<meta>`, `<base>` and canonical `<link>` elements kept in an outline."""

MAX_SECTIONS: Final = 64
"""Nested `<nav>`, `<main>` … that an outline keeps track of."""

# HTML Standard, 13.2.4.3; without `a` and `nobr`, of which only one can be open. Both cases spelled
# out: with IGNORECASE every `<` of the document is tried against all of them.
_FORMATTING: Final = re.compile(
    rb"<(?:[bB](?:[iI][gG])?|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[iI]"
    rb"|[sS](?:[mM][aA][lL][lL]|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG]))?|[tT][tT]|[uU])"
    rb"[\t\n\f\r /][^<>]*+>?"
)
# A tag that ends at its first `>` beyond doubt, so that two with the same bytes are the same.
_CLEAR_TAG: Final = re.compile(
    rb"<[a-zA-Z]++(?:[\t\n\f\r /]++"
    rb"""|[^\t\n\f\r />="']++(?:=(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r />="']++))?+)*+>"""
)
# Such an element, or a `<span>`, that is closed where it stands, with nothing but text in it. Its
# tags have no `<` or `>` in their attributes, so they end where they seem to.
_CLOSED_AT_ONCE: Final = re.compile(
    rb"<(b|big|code|em|font|i|s|small|span|strike|strong|tt|u)"
    rb"""(?:[\t\n\f\r ]++[^\t\n\f\r />="'<]++"""
    rb"""(?:="[^"<>]*+"|='[^'<>]*+'|=[^\t\n\f\r />="'<`]++)?+)*+"""
    rb"[\t\n\f\r ]*+>[^<]*+</\1>",
    re.IGNORECASE,
)
CLOSED_PASSES: Final = 6
"""How deep such elements may lie in each other and still be seen to be closed."""

_ROOT_TAG: Final = re.compile(rb"<(?:[hH][tT][mM][lL]|[bB][oO][dD][yY])[\t\n\f\r /]")

# One attribute or what stands between two, HTML Standard 13.2.5.32-40. Possessive throughout:
# no input can make it go back over what it has read.
_NAME: Final = rb"(?:=?[^\t\n\f\r />=]++|=)"
_VALUE: Final = rb"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+|(?=>))"""
_ATTRIBUTE: Final = (
    rb"(?:[\t\n\f\r /]++|" + _NAME + rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+" + _VALUE + rb")?+)"
)
_MANY_ATTRIBUTES: Final = re.compile(
    rb"<[a-zA-Z][^\t\n\f\r />]*+" + _ATTRIBUTE + rb"{0,%d}+([^>])?" % (2 * MAX_ATTRIBUTES)
)
_REOPENED_START: Final = re.compile(
    rb"<(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\t\n\f\r /]", re.IGNORECASE
)
# A `<` or `>` in a quoted value. Where there is none, every tag ends at its first `>`, because only
# behind a `=` do quotes mean anything (13.2.5.37).
_HIDDEN_END: Final = re.compile(
    rb"""=[\t\n\f\r ]*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""",
)
# Then, what may be opened again and is longer than 256 bytes, and any tag of more than 1,024, which
# is the least that `MAX_ATTRIBUTES` take.
_LONG_TAG: Final = re.compile(
    rb"<(?:[abcefinstuABCEFINSTU][a-zA-Z]{0,5}[\t\n\f\r /][^>]{248}"
    rb"|[a-zA-Z][^>]{%d})" % (2 * MAX_ATTRIBUTES - 2)
)
_REST_OF_TAG: Final = re.compile(_ATTRIBUTE + rb"*+")
_ONE_AT_A_TIME: Final = frozenset({b"a", b"nobr"})
"""A second one closes the first, so that only one of them is ever opened again."""

_TOKEN: Final = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<(/?)([a-zA-Z][^\t\n\f\r />]*+)(" + _ATTRIBUTE + rb"*+)(>?)"
    rb"|<[!?/][^>]*+>?",
    re.DOTALL,
)
_ATTRIBUTE_PARTS: Final = re.compile(
    rb"(" + _NAME + rb")(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    rb"""(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r >"'][^\t\n\f\r >]*+))?+)?+"""
)

SECTIONS: Final = frozenset({b"nav", b"header", b"footer", b"aside", b"main"})
"""The elements that give a link its position."""

_UNSEEN: Final = frozenset(
    {b"script", b"style", b"template", b"iframe", b"noembed", b"noframes", b"xmp"}
)
_RAW_END: Final = {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])[^>]*+>?", re.IGNORECASE)
    for name in (*_UNSEEN, b"title", b"textarea")
}
_KEPT_ATTRIBUTES: Final = {
    b"html": (b"lang", b"xml:lang"),
    b"a": (b"href", b"rel"),
    b"img": (b"alt",),
    b"base": (b"href",),
    b"link": (b"rel", b"href"),
    b"meta": (b"name", b"http-equiv", b"content"),
}
INLINE: Final = frozenset(
    b"a abbr b bdi bdo big cite code del dfn em font i ins kbd mark nobr q s samp small span "
    b"strike strong sub sup time tt u var wbr".split()
)
"""Elements inside a line of text: no blank where one of them begins or ends."""


@dataclass(frozen=True, slots=True)
class Markup:
    """A document that a tree may be built from."""

    html: bytes
    """UTF-8; the document itself, or its outline."""
    links_left_out: bool
    """Whether the outline has fewer links than the document."""


def bounded(html: bytes) -> Markup:
    """Return the document itself if building its tree is cheap, else its outline."""
    if _is_cheap(html):
        return Markup(html, links_left_out=False)
    outline = _Outline()
    outline.read(html)
    return outline.markup()


def _is_cheap(html: bytes) -> bool:
    tags = html.count(b"<")
    if tags > MAX_TAGS_IN_ALL or not _few_tags(html, tags) or not _few_reopened(html, tags):
        return False
    many_bytes = tags * len(html) > MAX_REOPENED_BYTES
    if not many_bytes and len(html) <= SMALL_BYTES:
        return True
    # Nearly all documents pass here, in a fifth of the time that it takes to look into their tags.
    if not _HIDDEN_END.search(html) and not _LONG_TAG.search(html):
        return len(html) <= SMALL_BYTES or _few_roots(html)
    if many_bytes and tags * _reopened_bytes(html) > MAX_REOPENED_BYTES:
        return False
    return len(html) <= SMALL_BYTES or (
        _few_roots(html) and not any(_MANY_ATTRIBUTES.findall(html))
    )


def _few_tags(html: bytes, tags: int) -> bool:
    """Tell whether few enough are left without those that are never looked through again."""
    return tags <= MAX_TAGS or any(
        shorter.count(b"<") <= MAX_TAGS for shorter in _without_closed(html)
    )


def _few_reopened(html: bytes, tags: int) -> bool:
    """Tell whether few enough formatting elements can be opened again.

    With n of the tags formatting, each of the others can open n again: at most (tags / 2)².
    """
    if tags * tags <= 4 * MAX_REOPENED or tags * _formatting(html) <= MAX_REOPENED:
        return True
    return any(tags * _formatting(shorter) <= MAX_REOPENED for shorter in _without_closed(html))


def _few_roots(html: bytes) -> bool:
    return len(_ROOT_TAG.findall(html)) <= MAX_ROOT_TAGS


def _without_closed(html: bytes) -> Iterator[bytes]:
    """Leave out elements that cannot be opened again, as they were closed at once; more each time.

    Their end tag finds them as the current node, so takes them off the list of what is to be opened
    again (13.2.6.4.7); what was inside them and is left out too has done the same before. In a
    comment, a script or an attribute neither tag is one, and none is opened.
    """
    for _ in range(CLOSED_PASSES):
        shorter = _CLOSED_AT_ONCE.sub(b"", html)
        if len(shorter) == len(html):
            break
        yield shorter
        html = shorter


def _formatting(html: bytes) -> int:
    """Return how many formatting elements can be open at once.

    Of those alike in name and attributes it is three ("Noah's Ark clause", 13.2.4.3); a page may
    have thousands of `<i class=icon>`.
    """
    seen = Counter(_FORMATTING.findall(html))
    return sum(min(n, 3) if _CLEAR_TAG.fullmatch(tag) else n for tag, n in seen.items())


def _reopened_bytes(html: bytes) -> int:
    """Return how many bytes of tags one start tag can open again; more rather than less."""
    left = 4 * len(html)
    seen: Counter[bytes] = Counter()
    longest = dict.fromkeys(_ONE_AT_A_TIME, 0)
    for start in _REOPENED_START.finditer(html):
        rest = _REST_OF_TAG.match(html, start.end())
        tag = html[start.start() : rest.end() if rest else start.end()]
        left -= len(tag)
        if left < 0:  # tags that lie in each other's attributes: an attack, or as good as one
            return len(html)
        name = start[1].lower()
        if name in longest:
            longest[name] = max(longest[name], len(tag))
        else:
            seen[tag] += 1
    return sum(longest.values()) + sum(min(n, 3) * len(tag) for tag, n in seen.items())


def _attributes(name: bytes, text: bytes) -> dict[bytes, bytes]:
    """Return the attributes that matter of a start tag; the first of a name counts."""
    kept = _KEPT_ATTRIBUTES[name]
    found: dict[bytes, bytes] = {}
    for match in _ATTRIBUTE_PARTS.finditer(text):
        key = match[1].lower()
        if key in kept or key == b"download":
            found.setdefault(key, match[2] or match[3] or match[4] or b"")
    return found


def _tag(name: bytes, attributes: dict[bytes, bytes]) -> bytes:
    parts = [b' %s="%s"' % (k, v.replace(b'"', b"&quot;")) for k, v in attributes.items()]
    return b"<%s%s>" % (name, b"".join(parts))


class _Outline:
    """Reads a document token by token, and writes one whose tree is flat.

    The output holds a head, and a body of text, links, and around each run of links the nearest
    section. Every tag in it is written here, and a `<` in the text escaped, so nothing in the
    input can make the tree deeper.
    """

    def __init__(self) -> None:
        self._root = b"<html>"
        self._head = bytearray()
        self._body = bytearray()
        self._head_elements = 0
        self._has_title = False
        self._sections: list[bytes] = []
        self._written_section = b""
        self._in_link = False
        self._noscript = 0
        self._hrefs: set[bytes] = set()
        self._links_left_out = False

    def markup(self) -> Markup:
        """Return what has been read as a document."""
        html = b"<!doctype html>%s<head>%s</head><body>%s" % (self._root, self._head, self._body)
        return Markup(html, self._links_left_out)

    def read(self, html: bytes) -> None:
        """Read a whole document."""
        at = 0
        while token := _TOKEN.search(html, at):
            self._text(html[at : token.start()])
            at = token.end()
            name = token[2]
            if name is None or not token[4]:  # a comment, or a tag that the end of file cuts off
                continue
            name = name.lower()
            if token[1]:
                self._end(name)
            elif name in _RAW_END:
                end = _RAW_END[name].search(html, at)
                self._raw(name, html[at : end.start() if end else len(html)])
                at = end.end() if end else len(html)
            else:
                self._start(name, token[3])
        self._text(html[at:])

    def _text(self, text: bytes) -> None:
        if text and (self._in_link or not self._noscript):
            self._body += text.replace(b"<", b"&lt;") if b"<" in text else text

    def _raw(self, name: bytes, text: bytes) -> None:
        if name == b"title" and not self._has_title:
            self._has_title = True
            self._head += b"<title>%s</title>" % text.replace(b"<", b"&lt;")
        elif name == b"textarea":
            self._text(text)

    def _start(self, name: bytes, text: bytes) -> None:
        if name == b"a":
            self._link(_attributes(name, text))
        elif name in SECTIONS:
            if len(self._sections) < MAX_SECTIONS:
                self._sections.append(name)
            self._gap()
        elif name == b"noscript":
            self._noscript += 1
        elif name == b"img":
            if self._in_link:
                self._body += _tag(name, _attributes(name, text))
        elif name == b"html":
            if self._root == b"<html>":
                self._root = _tag(name, _attributes(name, text))
        elif name in _KEPT_ATTRIBUTES:
            self._head_element(name, text)
        elif name not in INLINE:
            self._gap()

    def _end(self, name: bytes) -> None:
        if name == b"a":
            self._close_link()
        elif name in SECTIONS:
            if name in self._sections:
                while self._sections.pop() != name:
                    pass
            self._gap()
        elif name == b"noscript":
            self._noscript = max(0, self._noscript - 1)
        elif name not in INLINE:
            self._gap()

    def _gap(self) -> None:
        """Keep the words of two blocks apart."""
        if not self._body.endswith(b" "):
            self._body += b" "

    def _close_link(self) -> None:
        if self._in_link:
            self._body += b"</a>"
            self._in_link = False

    def _link(self, attributes: dict[bytes, bytes]) -> None:
        self._close_link()
        href = attributes.get(b"href")
        # The first link with an href is the one that counts, so leaving out the others loses none.
        if href is None or b"download" in attributes or href in self._hrefs:
            return
        if len(self._hrefs) >= MAX_OUTLINE_LINKS:
            self._links_left_out = True
            return
        self._hrefs.add(href)
        section = self._sections[-1] if self._sections else b""
        if section != self._written_section:
            if self._written_section:
                self._body += b"</%s>" % self._written_section
            if section:
                self._body += b"<%s>" % section
            self._written_section = section
        self._body += _tag(b"a", attributes)
        self._in_link = True

    def _head_element(self, name: bytes, text: bytes) -> None:
        if self._head_elements >= MAX_OUTLINE_HEAD:
            return
        attributes = _attributes(name, text)
        if name != b"link" or b"canonical" in attributes.get(b"rel", b"").lower():
            self._head_elements += 1
            self._head += _tag(name, attributes)
