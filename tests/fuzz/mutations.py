"""New inputs out of old ones: small changes, words of the grammar, and repetition.

Repetition is what finds cost by the square: a piece that is harmless once, a thousand times.
"""

from collections.abc import Callable, Sequence
from random import Random

SMALL = 2048
"""Bytes of almost every input: most mistakes need no more, and small inputs are quick."""

_ODD_BYTES = b"\x00\x01\x09\x0a\x0d\x1b\x20\x22\x25\x26\x27\x2f\x3c\x3e\x7f\x80\x85\xc3\xff"


class Mutator:
    """An endless source of inputs, the same for the same seed."""

    def __init__(
        self, seeds: Sequence[bytes], words: Sequence[bytes], largest: int, random: Random
    ) -> None:
        self._seeds = list(seeds) or [b""]
        self._words = words
        self._largest = largest
        self._random = random
        self._changes: tuple[Callable[[bytes], bytes], ...] = (
            self._insert_word,
            self._insert_word,
            self._replace_by_word,
            self._flip_bit,
            self._set_byte,
            self._delete,
            self._copy,
            self._splice,
            self._shuffle_lines,
        )

    def next(self) -> bytes:
        """Return another input."""
        random = self._random
        kind = random.random()
        data = random.choice(self._seeds) if kind < 0.7 else self._from_words()
        if kind > 0.98:
            data = random.randbytes(random.randrange(512))
        for _ in range(random.choice((0, 1, 1, 2, 3, 5, 8))):
            data = random.choice(self._changes)(data)
        limit = SMALL if random.random() < 0.97 else self._largest
        if random.random() < 0.1:
            data = self._stretch(data, limit)
        return data[:limit]

    def _word(self) -> bytes:
        return self._random.choice(self._words)

    def _place(self, data: bytes) -> int:
        return self._random.randrange(len(data) + 1)

    def _piece(self, data: bytes) -> tuple[int, int]:
        start = self._place(data)
        return start, min(len(data), start + self._random.choice((1, 2, 4, 16, 64, 256)))

    def _from_words(self) -> bytes:
        return b"".join(self._word() for _ in range(self._random.randrange(1, 24)))

    def _insert_word(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + self._word() + data[at:]

    def _replace_by_word(self, data: bytes) -> bytes:
        start, end = self._piece(data)
        return data[:start] + self._word() + data[end:]

    def _flip_bit(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self._random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << self._random.randrange(8))]) + data[at + 1 :]

    def _set_byte(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + bytes([self._random.choice(_ODD_BYTES)]) + data[at + 1 :]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._piece(data)
        return data[:start] + data[end:]

    def _copy(self, data: bytes) -> bytes:
        start, end = self._piece(data)
        at = self._place(data)
        return data[:at] + data[start:end] + data[at:]

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._seeds)
        return data[: self._place(data)] + other[self._place(other) :]

    def _shuffle_lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        self._random.shuffle(lines)
        return b"\n".join(lines)

    def _stretch(self, data: bytes, limit: int) -> bytes:
        """Repeat one piece up to the limit, as it is or with a number that grows."""
        random = self._random
        start, end = self._piece(data)
        piece = data[start:end] if random.random() < 0.5 else self._word()
        piece += self._word() if random.random() < 0.5 else b""
        if not piece:
            return data
        room = max(0, limit - len(data))
        if random.random() < 0.3:
            numbered = (piece + b"%d" % number for number in range(room // (len(piece) + 1)))
            middle = b"".join(numbered)[:room]
        else:
            middle = piece * (room // len(piece))
        return data[:start] + middle + data[end:]
