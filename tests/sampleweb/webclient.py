"""A client for the tests of the sample web: real TLS, down to single bytes."""

import http.client
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass

from terrain.sampleweb.log import Contact, Exchange
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web

PATIENCE = 30.0
"""Seconds after which a test has failed rather than is slow."""


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """Talks to a served web as the address mapping says, trusting its authority only."""

    def __init__(self, served: ServedWeb) -> None:
        self.served = served
        self.since = time.monotonic()
        self._open: list[socket.socket] = []

    def serve(self, hosts: dict[str, Host]) -> None:
        self.served.update(Web(hosts))

    def reach(self, host: str) -> socket.socket:
        """Connect to a host without saying anything."""
        resolve = self.served.resolve
        address, port = resolve.get(host, resolve["*"]).split(":")
        sock = socket.create_connection((address, int(port)), timeout=PATIENCE)
        # a request leaves when it is sent, not when the handshake before it has been confirmed
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.append(sock)
        return sock

    def connect(self, host: str) -> ssl.SSLSocket:
        """Connect to a host with TLS."""
        context = ssl.create_default_context(cafile=str(self.served.ca_file))
        # Else OpenSSL passes such an end over before Python sees it, in Debian's 3.11.2 for one.
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        sock = context.wrap_socket(
            self.reach(host),
            server_hostname=host,
            # an end without the TLS farewell is an error, not an end like any other
            suppress_ragged_eofs=False,
        )
        self._open.append(sock)
        return sock

    def session(self, host: str) -> http.client.HTTPConnection:
        """Connect to a host with an HTTP client on top that keeps the connection."""
        connection = http.client.HTTPConnection(host)
        connection.sock = self.connect(host)
        return connection

    def get(self, host: str, target: str = "/", method: str = "GET") -> Reply:
        return ask(self.session(host), target, method)

    def talk(self, host: str, target: str = "/", method: str = "GET") -> bytes:
        """Return every byte that the server sends until it ends the connection in order."""
        sock = self.connect(host)
        sock.sendall(request(host, target, method))
        return read_all(sock)

    def log(self) -> list[Exchange]:
        """The exchanges of this test."""
        return [record for record in self.served.log() if record.start >= self.since]

    def contacts(self) -> list[Contact]:
        return [contact for contact in self.served.contacts() if contact.time >= self.since]

    def log_when(self, ready: Callable[[list[Exchange]], bool]) -> list[Exchange]:
        """Return the log as soon as it is `ready`: the server notices a client's end by itself."""
        deadline = time.monotonic() + PATIENCE
        while not ready(records := self.log()):
            assert time.monotonic() < deadline, records
        return records

    def close(self) -> None:
        for sock in self._open:
            sock.close()


def request(host: str, target: str = "/", method: str = "GET", extra: str = "") -> bytes:
    head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Probe/1\r\n{extra}\r\n"
    return head.encode()


def read_all(sock: socket.socket) -> bytes:
    return b"".join(iter(lambda: sock.recv(65536), b""))


def ask(session: http.client.HTTPConnection, target: str = "/", method: str = "GET") -> Reply:
    session.request(method, target, headers={"User-Agent": "Probe/1"})
    response = session.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, headers, response.read())
