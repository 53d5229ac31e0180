"""Serves webs that are a formula, not a list: any number of pages at no memory.

A *grid* has some hosts that are crawled, whose page `/k` links to its own pages 25k+1 … 25k+25 and
to 25 pages on other hosts, all modulo how many there are to discover.
"""

import asyncio
import multiprocessing as mp
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from terrain.sampleweb.certificates import Certificates

Respond = Callable[[str, str], tuple[int, str, bytes]]
"""Host and request target to status, one header line (`Name: value`) and body."""

LINKS = 50


@dataclass(frozen=True)
class Grid:
    hosts: int
    """Hosts that are crawled: `s0.test`, `s1.test`, …"""
    discovered: int
    """Addresses there are to discover, half on these hosts and half on others."""
    per_foreign_host: int = 10

    def __call__(self, host: str, path: str) -> tuple[int, str, bytes]:
        site, page = int(host[1 : host.index(".")]), int(path[1:] or 0)
        own = self.discovered // 2 // self.hosts
        foreign = self.discovered // 2
        first = page * (LINKS // 2)
        links = [f"/{(first + step) % own}" for step in range(1, LINKS // 2 + 1)]
        first = (site + page * self.hosts) * (LINKS // 2)
        for step in range(LINKS // 2):
            number = (first + step) % foreign
            links.append(f"https://x{number // self.per_foreign_host}.example/{number}")
        anchors = "".join(f'<p>words and words <a href="{link}">a link</a></p>' for link in links)
        text = f"<!doctype html><title>{site} {page}</title><body>{anchors}</body>"
        return 200, "Content-Type: text/html; charset=utf-8", text.encode()


@dataclass(frozen=True)
class Domains:
    """Hosts `n0.r0.test`, `n1.r1.test`, … whose home pages link to ten hosts each, as in a tree."""

    count: int
    roots: int = 100

    def name(self, number: int) -> str:
        return f"n{number}.r{number % self.roots}.test"

    def __call__(self, host: str, path: str) -> tuple[int, str, bytes]:
        if path != "/":
            return 404, "Content-Type: text/plain", b"Not found"
        number = int(host[1 : host.index(".")])
        links = [f"/about/{step}" for step in range(LINKS // 2)]
        for step in range(1, 11):
            other = (10 * number + step) % self.count
            links += [f"https://{self.name(other)}/page/{place}" for place in range(2)]
        anchors = "".join(f'<p>words and words <a href="{link}">a link</a></p>' for link in links)
        head = f'<title>{host}</title><meta name="description" content="What {number} is about">'
        text = f"<!doctype html>{head}<body>{anchors}</body>"
        return 200, "Content-Type: text/html; charset=utf-8", text.encode()


@contextmanager
def serving(
    respond: Respond, directory: Path, *, latency: float = 0.0
) -> Iterator[tuple[int, Path]]:
    """Serve in a process of its own; gives the port and the certificate to trust.

    `latency` are the seconds that each answer takes.
    """
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_main, args=(respond, directory, latency, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv(), directory / "ca.pem"
    finally:
        process.terminate()
        process.join()


def _main(respond: Respond, directory: Path, latency: float, parent: Connection) -> None:
    asyncio.run(_serve(respond, directory, latency, parent))


async def _serve(respond: Respond, directory: Path, latency: float, parent: Connection) -> None:
    certificates = Certificates(directory)

    def choose(_: ssl.SSLObject, name: str | None) -> ssl.SSLContext | None:
        if name is None:
            return None
        # One certificate for all hosts below a domain: thousands would take memory and minutes.
        rest = name.partition(".")[2]
        return certificates.context(f"*.{rest}" if "." in rest else name, "good")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                request, _, rest = head.partition("\r\n")
                host = rest.lower().partition("host:")[2].partition("\r\n")[0].strip()
                status, header, body = respond(host, request.split()[1])
                if latency:
                    await asyncio.sleep(latency)
                writer.write(
                    f"HTTP/1.1 {status} .\r\n{header}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + (b"" if request.startswith("HEAD") else body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            writer.close()

    entry = certificates.entry((), choose)
    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=entry)
    parent.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()
