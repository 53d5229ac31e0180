"""Behaviour → answer: what goes over the wire, how fast, and what happens to the connection.

Pure: the connection only plays what is worked out here. `Flaky` is settled before, because it
needs a memory (`responder.py`).
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal

from terrain.sampleweb import behaviours as b
from terrain.sampleweb import pages as p
from terrain.sampleweb.bodies import PART, Stream, filler, gzip_bomb, gzipped, in_chunks, shortened
from terrain.sampleweb.html import render

Framing = Literal["length", "chunked", "close", "raw"]
"""As in `Framed`; `raw`: the body is all there is, status line included."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an answer may depend on, of the request."""

    method: str
    host: str
    target: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, ready to be played."""

    status: int | None
    """None: no status line is sent, or an illegible one."""
    headers: tuple[tuple[str, str], ...] = ()
    """Without those that tell the length."""
    body: bytes | Stream = b""
    framing: Framing = "length"
    length_error: int = 0
    """Added to the true Content-Length."""
    sent: int | None = None
    """How many bytes of the body are really sent; None: all."""
    ending: p.Ending = "keep"
    delay: float = 0.0
    """Seconds before the first byte."""
    piece: int | None = None
    """Size of the pieces in which it is sent; None: as large as can be."""
    pause: float = 0.0
    """Seconds between pieces."""

    @property
    def in_one_go(self) -> bool:
        """Whether it is small, immediate and leaves the connection alone."""
        plain = self.ending == "keep" and not self.delay and self.piece is None
        return plain and len(self.body) <= PART

    @property
    def is_whole(self) -> bool:
        """Whether the client gets everything that the head promises."""
        truthful = self.sent is None and not self.length_error
        told = self.ending == "close" and self.framing in {"close", "raw"}
        return truthful and (self.ending == "keep" or told)

    @property
    def has_body(self) -> bool:
        """Whether its status allows a body (RFC 9110, 6.4.1)."""
        return self.status is None or not (self.status < 200 or self.status in {204, 304})

    def head(self) -> bytes:
        """Return the status line and headers, with the empty line after them."""
        if self.framing == "raw" or self.status is None:
            return b""
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.framing == "chunked" and self.has_body:
            lines.append("Transfer-Encoding: chunked")
        elif self.framing == "length" and self.has_body:
            lines.append(f"Content-Length: {max(len(self.body) + self.length_error, 0)}")
        elif self.framing == "close":
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")

    def body_parts(self) -> Iterator[bytes]:
        """Yield the body as it goes over the wire."""
        if not self.has_body:
            return iter(())
        whole = self.body if isinstance(self.body, Stream) else (self.body,)
        parts = in_chunks(whole) if self.framing == "chunked" else iter(whole)
        return parts if self.sent is None else shortened(parts, self.sent)


def answer(behaviour: b.Behaviour, asked: Asked) -> Answer:
    """Return what `behaviour` answers to a request."""
    make = _MAKERS[type(behaviour)]
    made: Answer = make(behaviour, asked)
    return made


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"


def _typed(content_type: str | None, headers: p.Headers) -> p.Headers:
    return headers if content_type is None else (("Content-Type", content_type), *headers)


def _html(page: p.Html, _: Asked) -> Answer:
    return Answer(page.status, _typed(page.content_type, page.headers), render(page))


def _redirect(page: p.Redirect, _: Asked) -> Answer:
    location = () if page.location is None else (("Location", page.location),)
    return Answer(page.status, (*location, *page.headers))


def _to_https(page: p.ToHttps, asked: Asked) -> Answer:
    return Answer(page.status, (("Location", f"https://{asked.host}{asked.target}"),))


def _status(page: p.Status, _: Asked) -> Answer:
    return Answer(page.code, _typed(page.content_type, page.headers), page.body)


def _non_html(page: p.NonHtml, _: Asked) -> Answer:
    body = filler(page.size, start=page.start[: page.size], fill=b"\0")
    return Answer(200, _typed(page.content_type, page.headers), body)


def _big_body(page: p.BigBody, _: Asked) -> Answer:
    start = b"<!DOCTYPE html><title>Big</title><p>"[: page.size]
    body = filler(page.size, start=start, fill=b"big ")
    return Answer(200, _typed(page.content_type, page.headers), body)


def _gzip_bomb(page: p.GzipBomb, _: Asked) -> Answer:
    headers = (("Content-Encoding", "gzip"),)
    return Answer(200, _typed(page.content_type, headers), gzip_bomb(page.size))


def _raw(page: p.Raw, _: Asked) -> Answer:
    return Answer(None, body=page.data, framing="raw", ending=page.ending)


def _garbage(page: p.Garbage, _: Asked) -> Answer:
    data = random.Random(page.seed).randbytes(page.size)  # noqa: S311 - noise, not a secret
    return Answer(None, body=data, framing="raw", ending="close")


def _reset(_: p.Reset, __: Asked) -> Answer:
    return Answer(None, framing="raw", ending="reset")


def _hang(_: p.Hang, __: Asked) -> Answer:
    return Answer(None, framing="raw", ending="hang")


def _endless(page: p.Endless, asked: Asked) -> Answer:
    numbers = re.findall(r"[0-9]+", asked.target)
    # only the last digits: a number may not grow without bound, nor cost more than the page
    following = str(int(numbers[-1][-18:]) + 1) if numbers else "1"
    path = asked.target.partition("?")[0].rstrip("/")
    known = {"{path}": path, "{target}": asked.target, "{next}": following}
    hrefs = [re.sub(r"\{(?:path|target|next)\}", lambda m: known[m[0]], h) for h in page.hrefs]
    return answer(p.Html(f"{page.title} {following}", p.to(*hrefs)), asked)


def _tree(page: p.Tree, asked: Asked) -> Answer:
    steps = [] if asked.target == "/" else asked.target.removeprefix("/").split("/")
    known = len(steps) <= len(page.fan_out) and all(
        step.isascii() and step.isdecimal() and str(int(step)) == step and int(step) < width
        for step, width in zip(steps, page.fan_out, strict=False)
    )
    if not known:
        return answer(p.Status(404, b"Not found\n"), asked)
    width = page.fan_out[len(steps)] if len(steps) < len(page.fan_out) else 0
    here = asked.target.rstrip("/")
    links = p.to(*(f"{here}/{child}" for child in range(width)))
    return answer(p.Html(f"Tree {asked.target}", links, size=page.size), asked)


def _by_method(wrapper: b.ByMethod, asked: Asked) -> Answer:
    return answer(wrapper.head if asked.method == "HEAD" else wrapper.get, asked)


def _slow(wrapper: b.Slow, asked: Asked) -> Answer:
    then = answer(wrapper.then, asked)
    return replace(then, delay=then.delay + wrapper.delay)


def _drip(wrapper: b.Drip, asked: Asked) -> Answer:
    return replace(answer(wrapper.then, asked), piece=wrapper.piece, pause=wrapper.pause)


def _half_body(wrapper: b.HalfBody, asked: Asked) -> Answer:
    then = answer(wrapper.then, asked)
    if asked.method == "HEAD":
        return then
    return replace(then, sent=int(len(then.body) * wrapper.share), ending=wrapper.ending)


def _wrong_length(wrapper: b.WrongLength, asked: Asked) -> Answer:
    then = replace(answer(wrapper.then, asked), length_error=wrapper.by)
    return then if asked.method == "HEAD" else replace(then, ending=wrapper.ending)


def _framed(wrapper: b.Framed, asked: Asked) -> Answer:
    then = answer(wrapper.then, asked)
    if then.framing == "raw":
        return then
    if wrapper.framing == "close" and then.ending == "keep":
        return replace(then, framing="close", ending="close")
    return replace(then, framing=wrapper.framing)


def _gzipped(wrapper: b.Gzipped, asked: Asked) -> Answer:
    then = answer(wrapper.then, asked)
    if isinstance(then.body, Stream) or then.framing == "raw":
        return then
    headers = (*then.headers, ("Content-Encoding", "gzip"))
    return replace(then, headers=headers, body=gzipped(then.body))


def _giant_header(wrapper: b.GiantHeader, asked: Asked) -> Answer:
    then = answer(wrapper.then, asked)
    padding = tuple((f"X-Padding-{n}", "x" * wrapper.size) for n in range(wrapper.lines))
    return replace(then, headers=(*then.headers, *padding))


_MAKERS: dict[type, Callable[..., Answer]] = {
    p.Html: _html,
    p.Redirect: _redirect,
    p.ToHttps: _to_https,
    p.Status: _status,
    p.NonHtml: _non_html,
    p.BigBody: _big_body,
    p.GzipBomb: _gzip_bomb,
    p.Raw: _raw,
    p.Garbage: _garbage,
    p.Reset: _reset,
    p.Hang: _hang,
    p.Endless: _endless,
    p.Tree: _tree,
    b.ByMethod: _by_method,
    b.Slow: _slow,
    b.Drip: _drip,
    b.HalfBody: _half_body,
    b.WrongLength: _wrong_length,
    b.Framed: _framed,
    b.Gzipped: _gzipped,
    b.GiantHeader: _giant_header,
}
"""How each behaviour is answered; a test holds it complete."""
