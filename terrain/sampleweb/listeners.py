"""Listening sockets: the shared port of a web, and the ports that single hosts have of their own.

A port speaks TLS and plain http alike, told apart by the first byte, because a crawler's address
mapping knows one port per host whatever the scheme.
"""

import asyncio
import contextlib
import socket
import ssl
from typing import Literal, Protocol

from terrain.sampleweb.connection import Connection, Office, Registry, Silence, reset_on_close
from terrain.sampleweb.web import Listener

_TLS_HANDSHAKE = b"\x16"
"""The first byte of a TLS hello (RFC 8446, 5.1); no HTTP request begins with it."""

_FAREWELL_SECONDS = 1.0
"""How long a close waits for the client's TLS farewell."""


class Reception(Office, Protocol):
    """What a port needs from the server it belongs to."""

    @property
    def entry(self) -> ssl.SSLContext:
        """The TLS context that a handshake starts with."""

    def contact(self, host: str, how: Literal["hello", "accept"]) -> None:
        """Write to the log that a client approached a host."""


class Port:
    """A loopback port that stays ours for good, whether anything listens on it or not."""

    def __init__(self, number: int = 0) -> None:
        if number:
            # the holder may share its number, so it would not notice that someone listens there
            _bound(number, shared=False).close()
        # bound and never listening: holds the number while the listener is closed
        self._holder = _bound(number)
        self.number: int = self._holder.getsockname()[1]
        self._socket: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: Registry = set()
        self.mode: Listener = "refuse"

    @property
    def address(self) -> str:
        """The address as an entry of an address mapping."""
        return f"127.0.0.1:{self.number}"

    def open(self, mode: Listener, office: Reception, host: str | None = None) -> None:
        """Listen in that mode; `host` is whose port it is, None for all. Must be closed before."""
        self.mode = mode
        if mode == "refuse":
            return
        self._office = office
        self._host = host
        self._socket = _bound(self.number)
        self._socket.listen(1024)
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def close(self) -> None:
        """Stop listening and end all connections; the number stays reserved."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        for task in self._tasks:
            task.cancel()
        for connection in list(self._connections):
            connection.stop()
        self._connections.clear()
        self.mode = "refuse"

    async def release(self) -> None:
        """Close and give the number back."""
        tasks = list(self._tasks)
        self.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._holder.close()

    def _accept(self) -> None:
        assert self._socket is not None
        while True:
            try:
                client, _ = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            client.settimeout(0)
            if self._host is not None and self.mode in {"plain", "reset", "silent"}:
                self._office.contact(self._host, "accept")
            if self.mode == "reset":
                reset_on_close(client)
                client.close()
                continue
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.get_running_loop().create_task(self._serve(client))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: socket.socket) -> None:
        """Find out what the client speaks and hand it over."""
        # a client may leave at any point of this; that is no business of ours
        with contextlib.suppress(OSError):
            loop = asyncio.get_running_loop()
            if self.mode == "silent":
                await loop.connect_accepted_socket(lambda: Silence(self._connections), client)
                return
            speaks_tls = await _first_byte(client) == _TLS_HANDSHAKE
            context = self._office.entry if speaks_tls and self.mode != "plain" else None
            await loop.connect_accepted_socket(
                lambda: Connection(self._office, self._connections),
                client,
                ssl=context,
                ssl_shutdown_timeout=None if context is None else _FAREWELL_SECONDS,
            )


async def _first_byte(client: socket.socket) -> bytes:
    """Wait for the first byte and leave it there; closes the socket if none comes."""
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(client, _set_once, readable)
    try:
        try:
            await readable
        finally:
            loop.remove_reader(client)
        return client.recv(1, socket.MSG_PEEK)
    except BaseException:
        client.close()
        raise


def _set_once(future: asyncio.Future[None]) -> None:
    """Resolve a future, unless it has been already: a reader may be called twice."""
    if not future.done():
        future.set_result(None)


def _bound(number: int, *, shared: bool = True) -> socket.socket:
    """Return a socket bound to a loopback port that, if `shared`, others of ours may bind too."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(shared))
    sock.settimeout(0)
    try:
        sock.bind(("127.0.0.1", number))
    except OSError:
        sock.close()
        raise
    return sock
