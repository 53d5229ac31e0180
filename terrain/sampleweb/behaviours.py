"""Behaviours that wrap other ones: slow, flaky, cut short, wrong about themselves.

They nest: `Slow(2, HalfBody(Html("x")))`. `Behaviour` is anything an address can do.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, PositiveInt

from terrain.sampleweb.pages import (
    BigBody,
    Data,
    Ending,
    Endless,
    Garbage,
    GzipBomb,
    Hang,
    Html,
    NonHtml,
    Raw,
    Redirect,
    Reset,
    Seconds,
    Status,
    ToHttps,
    Tree,
)


@dataclass(frozen=True)
class ByMethod(Data):
    """One answer to HEAD, another to GET: a HEAD that lies, or is not allowed."""

    head: "Behaviour"
    get: "Behaviour"
    kind: Literal["by-method"] = field(default="by-method", kw_only=True, repr=False)


@dataclass(frozen=True)
class Flaky(Data):
    """The n-th request gets the n-th of these, later ones the last.

    HEAD and GET are counted apart, so that a probe before each GET does not use up the failures
    meant for the GET. Counting starts anew when a web is loaded.
    """

    then: Annotated[tuple["Behaviour", ...], Field(min_length=1)]
    kind: Literal["flaky"] = field(default="flaky", kw_only=True, repr=False)


@dataclass(frozen=True)
class Slow(Data):
    """Nothing for `delay` seconds, then the answer."""

    delay: Seconds
    then: "Behaviour"
    kind: Literal["slow"] = field(default="slow", kw_only=True, repr=False)


@dataclass(frozen=True)
class Drip(Data):
    """The answer, head and body, in pieces of `piece` bytes with `pause` seconds between them."""

    then: "Behaviour"
    piece: PositiveInt = 1
    pause: Seconds = 0.1
    kind: Literal["drip"] = field(default="drip", kw_only=True, repr=False)


@dataclass(frozen=True)
class HalfBody(Data):
    """A whole head, then only a share of the body it promises, then `ending`.

    A HEAD has no body to cut and gets its head in peace.
    """

    then: "Behaviour"
    share: Annotated[float, Field(ge=0, lt=1)] = 0.5
    ending: Ending = "close"
    kind: Literal["half-body"] = field(default="half-body", kw_only=True, repr=False)


@dataclass(frozen=True)
class WrongLength(Data):
    """A Content-Length that is wrong by `by` bytes: negative promises too little.

    After too long a promise `ending` decides whether the client is told (`close`) or waits
    (`hang`). After too short a one the surplus is sent all the same.
    """

    then: "Behaviour"
    by: int
    ending: Ending = "close"
    kind: Literal["wrong-length"] = field(default="wrong-length", kw_only=True, repr=False)


@dataclass(frozen=True)
class Framed(Data):
    """How the end of the body is told: by Content-Length, by chunks, or by closing."""

    then: "Behaviour"
    framing: Literal["length", "chunked", "close"] = "chunked"
    kind: Literal["framed"] = field(default="framed", kw_only=True, repr=False)


@dataclass(frozen=True)
class Gzipped(Data):
    """The body honestly gzip-encoded. A body that is made while it is sent stays as it is."""

    then: "Behaviour"
    kind: Literal["gzipped"] = field(default="gzipped", kw_only=True, repr=False)


@dataclass(frozen=True)
class GiantHeader(Data):
    """The answer with `lines` further headers of `size` bytes each."""

    then: "Behaviour"
    size: PositiveInt = 1 << 20
    lines: PositiveInt = 1
    kind: Literal["giant-header"] = field(default="giant-header", kw_only=True, repr=False)


Behaviour: TypeAlias = Annotated[
    Html
    | Redirect
    | ToHttps
    | Status
    | NonHtml
    | BigBody
    | GzipBomb
    | Raw
    | Garbage
    | Reset
    | Hang
    | Endless
    | Tree
    | ByMethod
    | Flaky
    | Slow
    | Drip
    | HalfBody
    | WrongLength
    | Framed
    | Gzipped
    | GiantHeader,
    Field(discriminator="kind"),
]
"""Anything an address can do."""
