"""What an address of a sample web answers: the pages themselves, as plain data.

Each is a frozen dataclass whose `kind` names it in the JSON form of a web. A HEAD gets the head of
what a GET would get. Behaviours that wrap another one are in `behaviours.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, NonNegativeInt, PositiveInt


def _bytes_of(value: object) -> object:
    """Read bytes from their JSON form: text in which each character is one byte (Latin-1)."""
    return value.encode("latin-1") if isinstance(value, str) else value


Octets = Annotated[bytes, BeforeValidator(_bytes_of)]
Headers = tuple[tuple[str, str], ...]
StatusCode = Annotated[int, Field(ge=100, le=999)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Region = Literal["body", "main", "nav", "header", "footer", "aside"]
Ending = Literal["keep", "close", "drop", "reset", "hang"]
"""How a connection goes on after an answer: kept alive; closed in order; closed without the TLS
farewell; reset (RST); or left open in silence until the client gives up."""

HTML = "text/html; charset=utf-8"


class Data:
    """Base of everything a web is made of: an unknown key in its JSON form is an error."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Link(Data):
    """One `<a href>` of an `Html` page."""

    href: str
    """As it stands in the document; escaped for HTML, otherwise untouched."""
    text: str = ""
    """Visible text; the href itself when empty."""
    attrs: Mapping[str, str] = field(default_factory=dict)
    """Further attributes of the tag, such as `rel` or `download`."""
    within: Region = "body"
    """The sectioning element that the link stands in; `body` for none."""


def to(*hrefs: str) -> tuple[Link, ...]:
    """Return a plain link to each of `hrefs`."""
    return tuple(Link(href) for href in hrefs)


@dataclass(frozen=True)
class Html(Data):
    """An HTML page."""

    title: str | None = None
    """Text of `<title>`; no such tag when absent."""
    links: tuple[Link, ...] = ()
    """The anchors, in document order within each region."""
    lang: str | None = None
    """The `lang` attribute of the root element."""
    description: str | None = None
    """Content of `<meta name=description>`."""
    meta_robots: str | None = None
    """Content of `<meta name=robots>`."""
    base: str | None = None
    """`<base href>`."""
    canonical: str | None = None
    """`<link rel=canonical>`."""
    text: tuple[str, ...] = ()
    """Paragraphs of visible text."""
    head: str = ""
    """Markup put at the end of `<head>` as it is: styles, scripts, more meta tags."""
    body: str = ""
    """Markup put at the end of `<body>` as it is."""
    size: NonNegativeInt = 0
    """The document is padded with a comment to at least this many bytes."""
    charset: str = "utf-8"
    """The encoding of the document's bytes. What it claims to be is `content_type`'s business."""
    content_type: str | None = HTML
    """The Content-Type header; none is sent when absent."""
    status: StatusCode = 200
    headers: Headers = ()
    kind: Literal["html"] = field(default="html", kw_only=True, repr=False)


@dataclass(frozen=True)
class Redirect(Data):
    """A redirect."""

    location: str | None
    """The Location header as sent; none is sent when absent."""
    status: StatusCode = 302
    headers: Headers = ()
    kind: Literal["redirect"] = field(default="redirect", kw_only=True, repr=False)


@dataclass(frozen=True)
class ToHttps(Data):
    """A redirect to the https address of what was asked: what most sites do on plain http."""

    status: StatusCode = 301
    kind: Literal["to-https"] = field(default="to-https", kw_only=True, repr=False)


@dataclass(frozen=True)
class Status(Data):
    """A status with any headers and body, such as 404, 429 with Retry-After, or a robots.txt."""

    code: StatusCode
    body: Octets = b""
    content_type: str | None = "text/plain; charset=utf-8"
    """The Content-Type header; none is sent when absent."""
    headers: Headers = ()
    kind: Literal["status"] = field(default="status", kw_only=True, repr=False)


@dataclass(frozen=True)
class NonHtml(Data):
    """A file that is not a page: `start`, then zeros up to `size`."""

    content_type: str | None = "application/pdf"
    size: NonNegativeInt = 1024
    start: Octets = b"%PDF-1.7\n"
    headers: Headers = ()
    kind: Literal["non-html"] = field(default="non-html", kw_only=True, repr=False)


@dataclass(frozen=True)
class BigBody(Data):
    """A body of `size` bytes that is made while it is sent, so gigabytes cost no memory here."""

    size: PositiveInt
    content_type: str | None = HTML
    headers: Headers = ()
    kind: Literal["big-body"] = field(default="big-body", kw_only=True, repr=False)


@dataclass(frozen=True)
class GzipBomb(Data):
    """A small gzip-encoded body that unpacks to `size` bytes of HTML, about a thousand to one."""

    size: PositiveInt
    content_type: str | None = HTML
    kind: Literal["gzip-bomb"] = field(default="gzip-bomb", kw_only=True, repr=False)


@dataclass(frozen=True)
class Raw(Data):
    """Exactly these bytes on the wire, for any method: status line, headers and all, or garbage."""

    data: Octets = b""
    ending: Ending = "close"
    kind: Literal["raw"] = field(default="raw", kw_only=True, repr=False)


@dataclass(frozen=True)
class Garbage(Data):
    """Random bytes, the same for the same seed, then a close."""

    size: NonNegativeInt = 4096
    seed: int = 0
    kind: Literal["garbage"] = field(default="garbage", kw_only=True, repr=False)


@dataclass(frozen=True)
class Reset(Data):
    """The connection is reset without a byte of answer."""

    kind: Literal["reset"] = field(default="reset", kw_only=True, repr=False)


@dataclass(frozen=True)
class Hang(Data):
    """No answer at all, until the client gives up."""

    kind: Literal["hang"] = field(default="hang", kw_only=True, repr=False)


@dataclass(frozen=True)
class Endless(Data):
    """A trap: every address below it is a page that links on, to addresses never seen before.

    In an href `{path}` stands for the path asked, `{target}` for path and query, and `{next}` for
    one more than the last whole number in the address asked: `{path}/a` grows,
    `/calendar?month={next}` never ends, `{target}&month={next}` does both.
    """

    hrefs: tuple[str, ...]
    title: str = "Next"
    kind: Literal["endless"] = field(default="endless", kw_only=True, repr=False)


@dataclass(frozen=True)
class Tree(Data):
    """A whole site by rule: `/` links to `/0`, `/1`, …, `/0` to `/0/0`, …; large webs in one line.

    A page at depth d has `fan_out[d]` children; those below the last level are not found.
    """

    fan_out: tuple[NonNegativeInt, ...]
    size: NonNegativeInt = 0
    """Each page is padded to at least this many bytes."""
    kind: Literal["tree"] = field(default="tree", kw_only=True, repr=False)
