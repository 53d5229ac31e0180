"""Bodies that are made while they are sent, and what is done to bodies on their way."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

PART = 1 << 16
"""Bytes of a body made at a time."""

_BLOCK = 1 << 20
"""Bytes that one repeated block of a bomb unpacks to."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A body of known length that is made anew, part by part, whenever it is sent."""

    length: int
    make: Callable[[], Iterable[bytes]]

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.make())


def filler(size: int, *, start: bytes, fill: bytes) -> bytes | Stream:
    """Return a body of `size` bytes: `start`, then `fill` over and over."""
    if size <= PART:
        return (start + fill * (size // len(fill) + 1))[:size]
    part = fill * (PART // len(fill))

    def make() -> Iterator[bytes]:
        yield start
        left = size - len(start)
        while left > 0:
            yield part[:left]
            left -= len(part)

    return Stream(size, make)


def gzipped(data: bytes) -> bytes:
    """Return `data` gzip-encoded, the same bytes every time."""
    return gzip.compress(data, mtime=0)


def gzip_bomb(size: int) -> Stream:
    """Return a valid gzip body that unpacks to `size` bytes, without packing them all.

    A block flushed in full does not refer to what stands before it, so one compressed block can be
    repeated; only the checksum has to run over everything.
    """
    start = b"<!DOCTYPE html><title>Bomb</title>"[:size]
    blocks, rest = divmod(size - len(start), _BLOCK)
    block = b" " * _BLOCK
    first = _deflated(start)
    repeated = _deflated(block)
    last = _deflated(block[:rest], final=True)
    header = gzip.compress(b"", mtime=0)[:10]

    def make() -> Iterator[bytes]:
        yield header + first
        checksum = zlib.crc32(start)
        for _ in range(blocks):
            checksum = zlib.crc32(block, checksum)
            yield repeated
        checksum = zlib.crc32(block[:rest], checksum)
        yield last + checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")

    return Stream(len(header) + len(first) + blocks * len(repeated) + len(last) + 8, make)


def _deflated(data: bytes, *, final: bool = False) -> bytes:
    packer = zlib.compressobj(level=9, wbits=-15)
    return packer.compress(data) + packer.flush(zlib.Z_FINISH if final else zlib.Z_FULL_FLUSH)


def in_chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a body in the chunked transfer coding (RFC 9112, 7.1)."""
    for part in parts:
        if part:
            yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def shortened(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the first `limit` bytes of a body."""
    for part in parts:
        if limit <= 0:
            return
        yield part[:limit]
        limit -= len(part)


def in_pieces(parts: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the same bytes in pieces of `size`; a part's last piece may be smaller."""
    for part in parts:
        for start in range(0, len(part), size):
            yield part[start : start + size]
