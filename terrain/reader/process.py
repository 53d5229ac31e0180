"""The other end of the reading process: pages out, facts in, in the order of asking."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from terrain.reader.wire import Unpacker, Value, frame, unframed

if TYPE_CHECKING:
    from terrain.reader.facts import FactsOf
    from terrain.rules.extract import PageFacts

PATIENCE = 60.0
"""Seconds for one page; the worst that is known takes four."""


class ReaderDied(Exception):  # noqa: N818 - it names what happened
    """The reading process ended on this page, or was not done with it in a minute."""


class AskAgain(Exception):  # noqa: N818 - it says what to do
    """The process ended on another page, before it came to this one."""


class ReadingProcess(asyncio.Protocol):
    """One process. It ends when this one does, however that happens: its socket is closed then."""

    def __init__(self, facts_of: FactsOf) -> None:
        self._facts_of = facts_of
        self._buffer = bytearray()
        self._unpacked = Unpacker().facts
        self._waiting: deque[tuple[asyncio.Future[PageFacts], float, int]] = deque()
        self._transport: asyncio.WriteTransport | None = None
        self._outbox: list[bytes] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when pages may come; an exception if it never gets as far."""
        self.bytes_waiting = 0
        """Bytes of the pages that are out and not back."""
        self.gone = False
        """True once nothing may be asked of it."""

    async def start(self) -> None:
        """Start it; it is of use when it is `ready`."""
        ours, its = socket.socketpair()
        try:
            with its:
                self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - takes milliseconds; ours
                    [sys.executable, "-m", "terrain.reader.child", str(its.fileno())],
                    pass_fds=[its.fileno()],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Ctrl-C is for the crawl, which then sees its pages through.
                    start_new_session=True,
                )
        except OSError:
            ours.close()
            raise
        await asyncio.get_running_loop().create_connection(lambda: self, sock=ours)
        self._send(frame((pickle.dumps(self._facts_of),)))

    def read(
        self, body: bytes, content_type: str | None, fetch_url: str, identity: str
    ) -> asyncio.Future[PageFacts]:
        """Ask for the facts of a page."""
        loop = asyncio.get_running_loop()
        facts: asyncio.Future[PageFacts] = loop.create_future()
        self._waiting.append((facts, time.monotonic(), len(body)))
        self.bytes_waiting += len(body)
        self._send(frame((body, content_type, fetch_url, identity)))
        if self._watch is None:
            self._watch = loop.call_later(PATIENCE, self._check_patience)
        return facts

    async def close(self) -> None:
        """Let it go, and see that it goes."""
        self.gone = True
        if self._watch is not None:
            self._watch.cancel()
        if self._transport is not None:
            self._transport.abort()
        if self._process is not None:
            await asyncio.get_running_loop().run_in_executor(None, _end, self._process)

    # ---- asyncio's side ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ours to use."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Facts came, or the word that it is ready."""
        self._buffer += data
        while (value := unframed(self._buffer)) is not None:
            if not self.ready.done():
                self.ready.set_result(None)
            else:
                self._answered(value)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """It ended: by us, or on the page that was its turn."""
        self.gone = True
        error = ReaderDied("the reading process ended")
        if not self.ready.done():
            self.ready.set_exception(error)
            self.ready.exception()  # Perhaps nobody waits for it.
        while self._waiting:
            facts, *_ = self._waiting.popleft()
            if not facts.done():
                facts.set_exception(error)
            error = AskAgain()  # type: ignore[assignment]

    def _send(self, packed: bytes) -> None:
        """Write a frame, together with what else this turn of the loop brings.

        Every call into the system gives the interpreter's lock away, and it has to be won back.
        """
        if not self._outbox:
            asyncio.get_running_loop().call_soon(self._flush)
        self._outbox.append(packed)

    def _flush(self) -> None:
        frames, self._outbox = self._outbox, []
        if not self.gone:
            assert self._transport is not None
            self._transport.write(b"".join(frames))

    def _answered(self, value: Value) -> None:
        facts, _, size = self._waiting.popleft()
        self.bytes_waiting -= size
        succeeded, *rest = value
        # Also if nobody waits any more: later pages name addresses that this one brings.
        found = self._unpacked(tuple(rest)) if succeeded else None
        if facts.done():
            return
        if found is not None:
            facts.set_result(found)
        else:
            facts.set_exception(RuntimeError(rest[0]))

    def _check_patience(self) -> None:
        self._watch = None
        if not self._waiting or self.gone:
            return
        left = self._waiting[0][1] + PATIENCE - time.monotonic()
        if left > 0:
            self._watch = asyncio.get_running_loop().call_later(left, self._check_patience)
        elif self._process is not None:
            self._process.kill()  # That closes the socket, and all hear of it.


def _end(process: subprocess.Popen[bytes]) -> None:
    """It has nothing to lose, so it need not be asked; nor waited for by the clock."""
    process.kill()
    process.wait()
