"""Serves a web: one asyncio server for all its hosts, told apart by SNI and the Host header."""

import ssl
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self
from weakref import WeakKeyDictionary

from terrain.sampleweb.answers import Answer
from terrain.sampleweb.certificates import Certificates, is_address
from terrain.sampleweb.connection import Office
from terrain.sampleweb.listeners import Port
from terrain.sampleweb.log import Contact, Exchange, LogWriter
from terrain.sampleweb.requests import Request
from terrain.sampleweb.responder import Responder
from terrain.sampleweb.web import Web

LOG_NAME = "requests.jsonl"
"""The request log's name in the server's directory."""


class Server(Office):
    """A web being served on loopback, in the running event loop.

    The directory gets `ca.pem`, the authority's key and the request log. Authority and log are
    gone on with if they are there, so a server restarted on the same `port` is the same web.
    """

    def __init__(self, web: Web, directory: Path, *, port: int = 0) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.log_file = directory / LOG_NAME
        self._certificates = Certificates(directory)
        self.ca_file = self._certificates.ca_file
        self._wanted_port = port
        self._own_ports: dict[str, Port] = {}
        self._names: WeakKeyDictionary[ssl.SSLObject, str] = WeakKeyDictionary()
        self._numbers = count(1)
        self._web = web

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._log = LogWriter(self.log_file)
            stack.callback(self._log.close)
            self._shared = Port(self._wanted_port)
            stack.push_async_callback(self._shared.release)
            stack.push_async_callback(self._release_own_ports)
            self.load(self._web)
            self._shared.open("shared", self)
            self._open = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def _release_own_ports(self) -> None:
        for port in self._own_ports.values():
            await port.release()

    @property
    def port(self) -> int:
        """The shared port."""
        return self._shared.number

    @property
    def resolve(self) -> dict[str, str]:
        """Where to connect for which host: `network.resolve` for a crawl of this web."""
        own = {name: port.address for name, port in self._own_ports.items()}
        return {"*": self._shared.address, **own}

    def load(self, web: Web) -> None:
        """Serve this web from now on; exchanges under way end as they began.

        A host that once had a port of its own keeps it. A host whose way of listening changes has
        its connections ended.
        """
        self._responder = Responder(web)
        self._entry = self._certificates.entry(filter(is_address, web.hosts), self._choose)
        for name, host in web.hosts.items():
            if host.listener != "shared" and name not in self._own_ports:
                self._own_ports[name] = Port()
        for name, port in self._own_ports.items():
            listener = self._responder.host(name).listener
            mode = "own" if listener == "shared" else listener
            if mode != port.mode:
                port.close()
                port.open(mode, self, name)

    @property
    def entry(self) -> ssl.SSLContext:
        """The TLS context that a handshake starts with."""
        return self._entry

    def contact(self, host: str, how: Literal["hello", "accept"]) -> None:
        """Write to the log that a client approached a host."""
        self._log.write(Contact(host, how, time.monotonic()))

    def record(self, record: Exchange) -> None:
        """Write an exchange to the log."""
        self._log.write(record)

    def next_number(self) -> int:
        """Return a number for a new connection."""
        return next(self._numbers)

    def server_name(self, tls: ssl.SSLObject) -> str | None:
        """Return the name that the client sent in its TLS hello."""
        return self._names.get(tls)

    def answer(self, request: Request, scheme: str) -> Answer:
        """Return what the web answers, and count the request."""
        return self._responder.answer(request.host, request.target, request.method, scheme)

    def _choose(self, tls: ssl.SSLObject, name: str | None) -> ssl.SSLContext | None:
        """Return the TLS context for the name in a hello; None: the one for clients without."""
        if name is None:
            return None
        name = name.lower()
        self._names[tls] = name
        self.contact(name, "hello")
        host = self._responder.host(name)
        if host.listener not in {"shared", "own"}:
            raise ValueError("this host has no TLS, at whichever port it is looked for")
        return self._certificates.context(name, host.certificate)
