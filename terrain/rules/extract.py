"""HTML bytes to page facts and outlinks.

It runs for every page, on markup that anybody may have written: no input raises, and time and
memory are bounded by the size of the body (see `markup` for the trees it refuses to build).
The document is parsed as by a browser without scripting, so that links in `<noscript>` count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from ada_url import join_url
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from terrain.rules.charset import decode
from terrain.rules.digests import blake2b
from terrain.rules.linkrules import NO_RULES
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.markup import INLINE, bounded
from terrain.rules.texts import clean, longest_raw
from terrain.rules.urls import MAX_URL_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

    from terrain.rules.linkrules import LinkRules
    from terrain.rules.urls import Address, UrlRules

MAX_LINKS: Final = 10_000
"""Distinct targets kept of one page, whatever the configuration says."""

MAX_TITLE: Final = 500
"""Characters kept of a title."""

MAX_DESCRIPTION: Final = 1000
"""Characters kept of a description."""

MAX_LANGUAGE: Final = 35
"""Characters kept of a language tag: RFC 5646 4.4.1 asks for that many."""

MAX_META_ROBOTS: Final = 200
"""Characters kept of the robots directives."""

MAX_ANCHOR: Final = 200
"""Characters kept of a link's text."""

MAX_REL: Final = 100
"""Characters kept of a link's `rel`."""

MAX_ANCHOR_NODES: Final = 200
"""Nodes looked at for a link's text: links can be nested, and would share what is inside."""

MAX_PICTURE_DEPTH: Final = 32
"""Elements around a `<title>` that are searched for an `<svg>`; there may be many titles."""

_TEXT_TAG: Final = "-text"
_UNSEEN: Final = frozenset({"script", "style", "iframe", "noembed", "noframes"})
_UNSEEN_TAGS: Final = (*sorted(_UNSEEN), "noscript", "template")
_ASCII_SPACE: Final = bytes(byte for byte in range(128) if chr(byte).isspace())
_INLINE: Final = frozenset(name.decode() for name in INLINE)
_WITHIN_A_WORD: Final = _INLINE | {"-comment"}
_SECTION_TAGS: Final = {
    position.word: position for position in Position if position is not Position.BODY
}
_SECTION_ROLES: Final = {
    "navigation": Position.NAV,
    "banner": Position.HEADER,
    "contentinfo": Position.FOOTER,
    "complementary": Position.ASIDE,
    "main": Position.MAIN,
}
_CANONICAL: Final = "canonical"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What one HTML document says about itself, and where it leads.

    Texts have their white space collapsed and hold no control characters; absent or blank is None.
    """

    title: str | None
    """The first `<title>`."""
    description: str | None
    """`<meta name=description>`."""
    language: str | None
    """`<html lang>`, else `<meta http-equiv=content-language>`, as written."""
    canonical_url: str | None
    """The fetch URL of the first `<link rel=canonical>` that names a page."""
    meta_robots: str | None
    """All `<meta name=robots>`, lower case, joined by a comma."""
    content_hash: str
    """Hash of the visible text without its white space; 32 hexadecimal digits."""
    links: tuple[OutLink, ...]
    """Outlinks in document order, one for each target, none to the page itself."""
    encoding: str
    """The WHATWG name of the encoding the bytes were read as."""
    note: str | None
    """What was left out, for a person to read; None when nothing was."""


def extract(
    body: bytes,
    *,
    content_type: str | None,
    fetch_url: str,
    identity: str,
    rules: UrlRules,
    link_rules: LinkRules = NO_RULES,
    max_links: int | None = None,
) -> PageFacts:
    """Read one HTML document.

    `content_type` is the header's value as received. `fetch_url` is where the document came from
    and `identity` which page it is. What `link_rules` skip is as if it were not in the document;
    of the rest `max_links` keeps only the first so many. Under rules by host the links are the
    first anchor to each other host; a canonical link is none of them, as it says where a page
    belongs and not whom its authors point to.
    """
    decoded = decode(body, content_type)
    markup = bounded(decoded.utf8)
    try:
        tree = LexborHTMLParser(markup.html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:  # the parser is out of memory
        return PageFacts(
            None, None, None, None, None, _hash(""), (), decoded.encoding, f"not read: {error}"
        )
    head = _Head(tree, fetch_url, rules, link_rules)
    limit = MAX_LINKS if max_links is None else min(max_links, MAX_LINKS)
    # By page the canonical link may come before all anchors: which are kept is known only then.
    most = limit if rules.by_host else MAX_LINKS
    sections = _Sections(roles=b"role" in markup.html.lower())
    anchors, more = _anchors(tree, sections, head.targets, identity, most)
    links = list(anchors.values())
    canonical = head.canonical
    elsewhere = canonical and canonical.identity != identity and not rules.by_host
    if canonical and elsewhere and canonical.page_id not in anchors:
        links.insert(0, OutLink(canonical, LinkKind.CANONICAL, "", _CANONICAL, Position.BODY))
    more = more or markup.links_left_out or len(links) > limit
    return PageFacts(
        title=head.title,
        description=head.description,
        language=head.language,
        canonical_url=canonical.fetch_url if canonical else None,
        meta_robots=head.meta_robots,
        content_hash=_hash(_visible_text(tree)),  # last: it takes the tree apart
        links=tuple(links[:limit]),
        encoding=decoded.encoding,
        note=f"kept the first {min(limit, len(links))} of more links" if more else None,
    )


def _rel(value: str | None) -> str:
    """Return the tokens of a `rel`, lower case, in their order, as many as fit."""
    text = clean(value, MAX_REL + 1).lower()
    return text if len(text) <= MAX_REL else text[:MAX_REL].rpartition(" ")[0]


class _Head:
    """The facts that stand in the document's head, wherever the document has them."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    meta_robots: str | None = None
    canonical: Address | None = None
    targets: _Targets
    """Where links of this document lead."""
    base: str
    """What the document's relative URLs are relative to."""

    def __init__(
        self, tree: LexborHTMLParser, fetch_url: str, rules: UrlRules, link_rules: LinkRules
    ) -> None:
        root = tree.root
        attributes = root.attributes if root else {}
        lang = clean(attributes.get("lang") or attributes.get("xml:lang"), MAX_LANGUAGE)
        self.language = lang or None
        base: str | None = None
        canonical: list[str] = []
        robots: list[str] = []
        # By tag and not by selector: the parser would build a CSS engine for every document.
        for node in tree.tags("title"):
            self._title(node)
        for node in tree.tags("meta"):
            self._meta(node.attributes, robots)
        for node in tree.tags("base"):
            if base is None:
                base = node.attributes.get("href")
        for node in tree.tags("link"):
            attributes = node.attributes
            if _CANONICAL in (attributes.get("rel") or "").lower().split():
                canonical.append(attributes.get("href") or "")
        self.meta_robots = clean(", ".join(robots), MAX_META_ROBOTS) or None
        self.base = _resolved_base(base, fetch_url)
        self.targets = _Targets(rules, link_rules, self.base)
        for href in canonical:
            address = rules.located(href, self.base) if href.strip() else None
            if address is not None and not self.targets.skipped(href, address):
                self.canonical = address
                break

    def _title(self, node: LexborNode) -> None:
        if self.title is None and not _in_picture(node):
            self.title = clean(node.text(), MAX_TITLE) or None

    def _meta(self, attributes: dict[str, str | None], robots: list[str]) -> None:
        name = (attributes.get("name") or "").strip().lower()
        content = attributes.get("content")
        if name == "description":
            self.description = self.description or clean(content, MAX_DESCRIPTION) or None
        elif name == "robots":
            directives = clean(content, MAX_META_ROBOTS).lower()
            if directives and len(robots) < MAX_META_ROBOTS and directives not in robots:
                robots.append(directives)
        elif self.language is None:
            pragma = (attributes.get("http-equiv") or "").strip().lower()
            if pragma == "content-language":
                self.language = clean(content, MAX_LANGUAGE) or None


def _in_picture(title: LexborNode) -> bool:
    """Tell whether a `<title>` names a picture, or a part of one, and not the page."""
    ancestor = title.parent
    for _ in range(MAX_PICTURE_DEPTH):
        if ancestor is None or (ancestor.tag or "").lower() in {"body", "head", "foreignobject"}:
            return False
        if ancestor.tag == "svg":
            return True
        ancestor = ancestor.parent
    return False


def _resolved_base(href: str | None, fetch_url: str) -> str:
    """Return the base URL; HTML Standard 4.2.3: one that cannot be used is as if absent."""
    # A base of megabytes would be joined to every link.
    if href is None or len(href) > MAX_URL_LENGTH:
        return fetch_url
    try:
        base = join_url(fetch_url, href)
    except ValueError:
        return fetch_url
    return fetch_url if base.startswith(("data:", "javascript:")) else base


def _anchors(
    tree: LexborHTMLParser, sections: _Sections, targets: _Targets, identity: str, most: int
) -> tuple[dict[int, OutLink], bool]:
    """Return the first `<a href>` for each of `most` target pages, and whether there were more."""
    resolve, skipped = targets.resolve, targets.skipped
    links: dict[int, OutLink] = {}
    hrefs: set[str] = set()
    for node in tree.tags("a"):
        attributes = node.attributes
        href = attributes.get("href")
        if not href or href in hrefs or "download" in attributes:
            continue
        hrefs.add(href)
        address = resolve(href)
        if address is None or address.page_id in links or address.identity == identity:
            continue
        if skipped(href, address):
            continue
        if len(links) == most:
            return links, True
        rel = attributes.get("rel")
        links[address.page_id] = OutLink(
            address,
            LinkKind.ANCHOR,
            _anchor_text(node),
            _rel(rel) if rel else "",
            sections.position(node),
        )
    return links, False


class _Targets:
    """Where the hrefs of one document lead, and which of these links the rules skip."""

    def __init__(self, rules: UrlRules, link_rules: LinkRules, base: str) -> None:
        self.resolve: Final = rules.resolver(base)
        self._first_rule = link_rules.first
        # A rule is about the page that a link names, also where hosts are nodes.
        self._page = partial(rules.page, base=base) if rules.by_host else None

    def skipped(self, href: str, address: Address) -> bool:
        """Tell whether a link is to be as if it were not there."""
        page = address if self._page is None else self._page(href) or address
        rule = self._first_rule(page.identity)
        return rule is not None and rule.skips


class _Sections:
    """The nearest section around a node; every ancestor is looked at once for the whole page."""

    def __init__(self, *, roles: bool) -> None:
        """Without `roles` no element of the page has one, and none is looked for."""
        self._roles = roles
        self._known: dict[int, Position] = {}

    def position(self, node: LexborNode) -> Position:
        """Return where in the document a node stands."""
        known, roles = self._known, self._roles
        passed: list[int] = []
        found: Position | None = None
        ancestor = node.parent
        while ancestor is not None:
            key = ancestor.mem_id
            found = known.get(key)
            if found is not None:
                break
            passed.append(key)
            found = self._by_role(ancestor) if roles else None
            if found is None:
                found = _SECTION_TAGS.get(ancestor.tag or "")
            if found is not None:
                break
            ancestor = ancestor.parent
        position = Position.BODY if found is None else found
        for key in passed:
            known[key] = position
        return position

    def _by_role(self, node: LexborNode) -> Position | None:
        """Return the section an element says it is."""
        role = node.attributes.get("role")
        return _SECTION_ROLES.get(role.strip().lower()) if role else None


def _anchor_text(link: LexborNode) -> str:
    """Return a link's visible text, or its pictures' alternative texts if it has none."""
    child = link.first_child
    if child is None:
        return ""
    if child.next is None and child.tag == _TEXT_TAG:  # most links
        return clean(child.text_content, MAX_ANCHOR)
    pictures: list[str] = []
    return clean("".join(_words(link, pictures)), MAX_ANCHOR) or clean(
        " ".join(pictures), MAX_ANCHOR
    )


def _words(link: LexborNode, pictures: list[str]) -> Iterable[str]:
    """Yield the texts inside a link, with a blank between those of different blocks."""
    apart = unseen = False
    before: str | None = "a"
    length = 0
    for node in _first(link.traverse(include_text=True), MAX_ANCHOR_NODES):
        tag = node.tag
        if tag == _TEXT_TAG:
            if unseen:  # the only child of a script or the like, right after it
                unseen = False
                continue
            parent = node.parent.tag if node.parent else None
            if apart or (parent != before and not {parent, before} <= _INLINE):
                yield " "
            apart, before = False, parent
            text = node.text_content or ""
            yield text
            length += len(text)
            if length > longest_raw(MAX_ANCHOR):
                return
        else:
            unseen = tag in _UNSEEN
            apart = apart or tag not in _WITHIN_A_WORD
            if tag == "img" and (alt := node.attributes.get("alt")):
                pictures.append(alt)


def _first(nodes: Iterator[LexborNode], count: int) -> Iterator[LexborNode]:
    for node, _ in zip(nodes, range(count), strict=False):
        yield node


def _visible_text(tree: LexborHTMLParser) -> str:
    """Return the body's text without what a reader never sees; takes it out of the tree."""
    body = tree.body
    if body is None:  # a frameset
        return ""
    for tag in _UNSEEN_TAGS:
        # From the last to the first: what is inside another goes before it, and not twice.
        for node in reversed(tree.tags(tag)):
            node.decompose()
    return body.text()


def _hash(text: str) -> str:
    # All white space goes: indentation, and where a text is cut into elements, is not content.
    if text.isascii():
        letters = text.encode().translate(None, _ASCII_SPACE)
    else:
        letters = "".join(text.split()).encode("utf-8", "replace")
    return blake2b(letters, digest_size=16).hexdigest()
