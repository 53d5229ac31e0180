"""Documentation packages as a web: a server for their files, and a walk of their links.

The walk shares nothing with Terrain: the standard library's HTML parser and URL functions.
"""

import mimetypes
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

PORTAL = "portal.docs.test"

TREES = {
    "reference.docs.test": ("/usr/share/debian-reference",),
    "postgres.docs.test": ("/usr/share/doc/postgresql-doc-*/html",),
    "python.docs.test": ("/usr/share/doc/python3.*/html",),
}
"""Where the packages put their HTML; versions differ from release to release."""

INDEXES = ("index.html", "index.en.html")

TRACKING = {"ref", "source", "fbclid", "gclid", "mc_eid"}
"""Query parameters that are not part of a page's identity."""


def installed() -> dict[str, Path]:
    """The trees there are, by host name."""
    found: dict[str, Path] = {}
    for host, patterns in TREES.items():
        for pattern in patterns:
            matches = sorted(Path("/").glob(pattern.removeprefix("/")))
            if matches:
                found[host] = matches[-1]
    return found


@dataclass(frozen=True)
class Files:
    """Answers with files, and on the portal with a page that links to every tree."""

    trees: dict[str, Path]

    def __call__(self, host: str, target: str) -> tuple[int, str, bytes]:
        path = urlsplit(target).path
        if host == PORTAL and path == "/":
            links = "".join(f'<li><a href="https://{name}/">{name}</a>' for name in self.trees)
            return 200, "Content-Type: text/html", f"<title>Docs</title><ul>{links}</ul>".encode()
        file = self.file(host, path)
        if file is None:
            return 404, "Content-Type: text/plain", b"Not found\n"
        if file.parent != self._place(host, path).parent and not path.endswith("/"):
            return 301, f"Location: {path}/", b""
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return 200, f"Content-Type: {kind}", file.read_bytes()

    def file(self, host: str, path: str) -> Path | None:
        """The file behind an address, None if there is none."""
        if host not in self.trees:
            return None
        place = self._place(host, path)
        if place.is_dir():
            candidates = (place / index for index in INDEXES)
            return next((each for each in candidates if each.is_file()), None)
        return place if place.is_file() and not path.endswith("/") else None

    def _place(self, host: str, path: str) -> Path:
        steps = [step for step in unquote(path).split("/") if step not in {"", ".", ".."}]
        return self.trees.get(host, Path("/nonexistent")).joinpath(*steps)


class Key(NamedTuple):
    """What makes two addresses one page."""

    host: str
    path: str
    query: str


def key_of(url: str) -> Key:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [pair for pair in pairs if pair[0] not in TRACKING and not pair[0].startswith("utm_")]
    path = unquote(parts.path).rstrip("/") or "/"
    return Key((parts.hostname or "").removeprefix("www."), path, urlencode(sorted(kept)))


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base: str | None = None
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(reversed(attrs))
        href = given.get("href")
        if href is None:
            return
        if tag == "base" and self.base is None:
            self.base = href
        elif tag == "a" and "download" not in given:
            self.hrefs.append(href)


@dataclass
class Walk:
    """What a crawl from the portal must find."""

    files: Files
    states: dict[Key, str] = field(default_factory=dict)
    links: set[tuple[Key, Key]] = field(default_factory=set)

    @cached_property
    def hosts(self) -> set[str]:
        return {PORTAL, *self.files.trees}

    def run(self) -> None:
        start = f"https://{PORTAL}/"
        waiting = deque([start])
        seen = {key_of(start)}
        while waiting:
            url = waiting.popleft()
            key = key_of(url)
            for target in self._visit(key, url):
                to = key_of(target)
                if to.host not in self.hosts:
                    continue
                if to != key:
                    self.links.add((key, to))
                if to not in seen:
                    seen.add(to)
                    waiting.append(target)

    def _visit(self, key: Key, url: str) -> Iterator[str]:
        """Give the page its state; yields where it leads."""
        path = urlsplit(url).path
        status, header, body = self.files(key.host, path)
        if status == 301:
            # To its own name with a slash: the same page.
            url = urljoin(url, f"{path}/")
            status, header, body = self.files(key.host, f"{path}/")
        if status == 404:
            self.states[key] = "dead_link"
        elif "text/html" not in header:
            self.states[key] = "content_mismatch"
        else:
            self.states[key] = "processed"
            parser = _Links()
            parser.feed(body.decode("utf-8", "replace"))
            base = urljoin(url, parser.base or "")
            for href in parser.hrefs:
                target = urljoin(base, href.strip())
                if urlsplit(target).scheme in {"http", "https"}:
                    yield target
