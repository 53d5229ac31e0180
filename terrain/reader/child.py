"""The reading process: `python -m terrain.reader.child FD` reads pages until its parent is gone."""

from __future__ import annotations

import gc
import pickle
import socket
import sys
from typing import TYPE_CHECKING

from terrain.reader.wire import LENGTH, Packer, frame, unframed

if TYPE_CHECKING:
    from io import BufferedRWPair

    from terrain.reader.facts import FactsOf
    from terrain.reader.wire import Value

HELLO: Value = ("ready",)
"""Said once, when pages may come."""


def serve(stream: BufferedRWPair) -> None:
    """Answer every page with its facts, in order; the end of the stream is the end."""
    first = _received(stream)
    if first is None:
        return
    facts_of: FactsOf = pickle.loads(first[0])  # noqa: S301 - it comes from our parent
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    packer = Packer()
    stream.write(frame(HELLO))
    stream.flush()
    while (page := _received(stream)) is not None:
        try:
            answer: Value = (True, *packer.packed(facts_of(*page)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one page's problem
            answer = (False, repr(error))
            packer.forget()
        stream.write(frame(answer))
        stream.flush()


def _received(stream: BufferedRWPair) -> Value | None:
    header = stream.read(LENGTH)
    if len(header) < LENGTH:
        return None
    return unframed(bytearray(header + stream.read(int.from_bytes(header, "big"))))


def main() -> None:
    """Serve on the socket whose number is the only argument."""
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        try:
            serve(connection.makefile("rwb"))
        except (BrokenPipeError, ConnectionResetError):
            return  # The parent was killed: there is nobody left to read for.


if __name__ == "__main__":
    main()
