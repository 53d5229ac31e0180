"""One connection: reads requests, plays their answers, writes the log.

Written on the bare protocol rather than on streams, because it must be able to break every rule
at the level of bytes, and because an ordinary page is then answered in one callback.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
import time
from itertools import chain
from typing import Protocol, cast

from terrain.sampleweb.answers import Answer
from terrain.sampleweb.bodies import PART, in_pieces
from terrain.sampleweb.log import Exchange, Kind, Outcome
from terrain.sampleweb.requests import MAX_HEAD, Request, RequestError, parse, take_head

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER on, for no time: closing sends RST."""

_ILLEGIBLE = Request("", "", "", 0, "", keep_alive=False)
"""Stands in the log for what could not be read."""


class Stoppable(Protocol):
    """A connection that can be ended."""

    def stop(self) -> None:
        """End at once."""


Registry = set[Stoppable]
"""The open connections of a port."""


class Office(Protocol):
    """What a connection needs from the server it belongs to."""

    def next_number(self) -> int:
        """Return a number for a new connection."""

    def server_name(self, tls: ssl.SSLObject) -> str | None:
        """Return the name that the client sent in its TLS hello."""

    def answer(self, request: Request, scheme: str) -> Answer:
        """Return what the web answers, and count the request."""

    def record(self, record: Exchange) -> None:
        """Write to the request log."""


class Connection(asyncio.Protocol):
    """A client's connection, from its first request to its end."""

    def __init__(self, office: Office, registry: Registry) -> None:
        self._office = office
        self._registry = registry
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._exchange: Exchange | None = None
        """The one under way; the protocol allows one at a time, others wait in the buffer."""
        self._keep_alive = True
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._number = office.next_number()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        # only an empty buffer lets the next part go, so that `end` is close to the truth; not 0,
        # because asyncio's TLS takes that for always full
        self._transport.set_write_buffer_limits(high=1)
        tls = transport.get_extra_info("ssl_object")
        self._scheme = "http" if tls is None else "https"
        self._sni = None if tls is None else self._office.server_name(tls)
        self._registry.add(self)

    def data_received(self, data: bytes) -> None:
        """Take in part of a request."""
        self._buffer += data
        if self._exchange is None:
            self._next_request()
        elif len(self._buffer) > MAX_HEAD:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """Stop sending: the operating system takes no more for now."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on sending."""
        self._writable.set()

    def connection_lost(self, _: Exception | None) -> None:
        """Clean up after the end, whoever brought it about."""
        self._registry.discard(self)
        if self._task is not None:
            self._task.cancel()
        if self._exchange is not None:
            self._exchange.end = time.monotonic()
            self._finish("left")

    def stop(self) -> None:
        """End at once, because the server stops or the host vanishes."""
        if self._exchange is not None:
            self._exchange.end = time.monotonic()
            self._finish("stopped")
        if self._task is not None:
            self._task.cancel()
        self._transport.abort()

    def _next_request(self) -> None:
        """Begin the next exchange, if the head of a request is there."""
        while self._buffer and self._exchange is None and not self._transport.is_closing():
            try:
                head = take_head(self._buffer)
                if head is None:
                    return
                request = parse(head, self._scheme)
            except RequestError as error:
                self._open(_ILLEGIBLE)
                self._refuse(error.status, str(error))
            else:
                self._open(request)
                self._answer(request)

    def _open(self, request: Request) -> None:
        """Begin an exchange."""
        now = time.monotonic()
        self._keep_alive = request.keep_alive
        self._exchange = Exchange(
            host=request.host,
            port=request.port,
            scheme=self._scheme,
            sni=self._sni,
            method=request.method,
            target=request.target,
            user_agent=request.user_agent,
            kind=_kind(request),
            connection=self._number,
            start=now,
            end=now,
            status=None,
            bytes=0,
            outcome="done",
        )

    def _answer(self, request: Request) -> None:
        """Answer at once if it can be done in one go, else in a task."""
        if request.method not in {"GET", "HEAD"}:
            self._refuse(405, "only GET and HEAD are answered")
            return
        answer = self._office.answer(request, self._scheme)
        head_only = request.method == "HEAD" and answer.framing != "raw"
        if answer.in_one_go:
            self._send(
                answer.head() + (b"" if head_only else b"".join(answer.body_parts())), answer
            )
            self._finish("done" if answer.is_whole else "cut")
            self._end_connection(answer)
        else:
            self._task = self._loop.create_task(self._play(answer, head_only=head_only))

    def _refuse(self, status: int, reason: str) -> None:
        """Answer what is no request, or none that is served here, and close."""
        headers = (("Content-Type", "text/plain"), ("Allow", "GET, HEAD"))
        answer = Answer(status, headers, reason.encode() + b"\n", "close")
        self._send(b"".join((answer.head(), *answer.body_parts())), answer)
        self._finish("done")
        self._transport.close()

    async def _play(self, answer: Answer, *, head_only: bool) -> None:
        """Send an answer that takes its time, is large, or ends badly."""
        assert self._exchange is not None
        if answer.delay:
            await asyncio.sleep(answer.delay)
        parts = chain((answer.head(),), () if head_only else answer.body_parts())
        for part in in_pieces(parts, answer.piece or PART):
            # even for no time: waiting for what is already so would let nobody else run
            await asyncio.sleep(answer.pause if self._exchange.bytes else 0)
            await self._writable.wait()
            self._send(part, answer)
        if answer.ending == "hang":
            # it ends when the client goes; until then there is nothing to do
            await self._loop.create_future()
        if not self._exchange.bytes:
            self._exchange.end = time.monotonic()
        await self._writable.wait()
        self._finish("done" if answer.is_whole else "cut")
        self._end_connection(answer)
        self._task = None
        self._next_request()

    def _end_connection(self, answer: Answer) -> None:
        """Do to the connection what the answer says."""
        if answer.ending == "reset":
            reset_on_close(self._transport.get_extra_info("socket"))
        if answer.ending in {"drop", "reset"}:
            self._transport.abort()
        elif answer.ending == "close" or not self._keep_alive:
            self._transport.close()

    def _send(self, data: bytes, answer: Answer) -> None:
        """Hand over part of an answer."""
        assert self._exchange is not None
        self._exchange.status = answer.status
        # before, not after: when the write returns, the client may already have read it all
        self._exchange.end = time.monotonic()
        self._exchange.bytes += len(data)
        self._transport.write(data)

    def _finish(self, outcome: Outcome) -> None:
        """Write the exchange to the log, and be ready for the next."""
        assert self._exchange is not None
        exchange, self._exchange = self._exchange, None
        exchange.outcome = outcome
        self._office.record(exchange)
        if not self._transport.is_closing():
            self._transport.resume_reading()


class Silence(asyncio.Protocol):
    """A connection that is accepted and never answered."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._registry.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        """End."""
        self._registry.discard(self)

    def stop(self) -> None:
        """End at once."""
        self._transport.abort()


def reset_on_close(sock: socket.socket) -> None:
    """Let the end of this connection be a reset."""
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)


def _kind(request: Request) -> Kind:
    if request.target.partition("?")[0] == "/robots.txt":
        return "robots"
    if request.method == "HEAD":
        return "head"
    return "get" if request.method == "GET" else "other"
