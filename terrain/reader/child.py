"""The reading process: `python -m terrain.reader.child FD` reads pages until its parent is gone."""

from __future__ import annotations

import gc
import pickle
import socket
import sys
from typing import TYPE_CHECKING

from terrain.reader.wire import Packer, frame, unframed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from terrain.reader.facts import FactsOf
    from terrain.reader.wire import Value

HELLO: Value = ("ready",)
"""Said once, when pages may come."""

PIECE = 256 * 1024
"""Bytes asked of the socket at a time."""


def serve(connection: socket.socket) -> None:
    """Answer every page with its facts, in order; the end of the stream is the end."""
    pages = _received(connection)
    first = next(pages, None)
    if first is None:
        return
    facts_of: FactsOf = pickle.loads(first[0])  # noqa: S301 - it comes from our parent
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    packer = Packer()
    connection.sendall(frame(HELLO))
    for page in pages:
        try:
            answer: Value = (True, *packer.packed(facts_of(*page)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one page's problem
            answer = (False, repr(error))
            packer.forget()
        # One by one: if the next page ends this process, it must be known which page that was.
        connection.sendall(frame(answer))


def _received(connection: socket.socket) -> Iterator[Value]:
    buffer = bytearray()
    while data := connection.recv(PIECE):
        buffer += data
        while (value := unframed(buffer)) is not None:
            yield value


def main() -> None:
    """Serve on the socket whose number is the only argument."""
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        try:
            serve(connection)
        except (BrokenPipeError, ConnectionResetError):
            return  # The parent was killed: there is nobody left to read for.


if __name__ == "__main__":
    main()
