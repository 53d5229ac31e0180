"""What a fuzz target is: a function that must hold for any bytes, within time and memory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
"""Seeds, a directory for each target: made by hand, or found and worth asking again."""

_UNSTORABLE = frozenset(map(chr, [*range(9), *range(14, 28), *range(127, 133), *range(134, 160)]))


@dataclass(frozen=True)
class Target:
    """One place where strangers' bytes come in."""

    name: str
    """Also the directory of its seeds."""
    check: Callable[[bytes], None]
    """Raises if the code under test does, or if its answer breaks a promise."""
    words: tuple[bytes, ...]
    """What the grammar is made of: random bytes alone never get past the first test."""
    largest: int
    """Bytes of the longest input that is made."""
    seconds: float
    """CPU time that one input may take, on a busy machine; the figures that are measured are far
    below, but a limit that fails by chance teaches nothing."""
    megabytes: float
    """How far one input may make the process grow."""

    def seeds(self) -> list[bytes]:
        """Return the seeds, in the order of their names."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).iterdir())]


def assert_storable(text: str, longest: int) -> None:
    """Hold a text to what databases, terminals and the column's width take."""
    assert len(text) <= longest
    text.encode()
    assert _UNSTORABLE.isdisjoint(text)


def first_line(data: bytes) -> tuple[str, bytes]:
    """Split an input into its first line, as text of any code points, and the rest."""
    line, _, rest = data.partition(b"\n")
    return line.decode("utf-8", "surrogateescape"), rest
