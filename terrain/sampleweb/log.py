"""The request log of a sample web: one JSON line per exchange, and what tests ask of it.

An exchange is written when it ends, in one write, so another process sees whole lines only; those
still in flight when the server stops are written then. `start` and `end` are `time.monotonic()`
seconds, on Linux one clock for all processes.

`start` is when the head of the request had arrived, `end` just before the last bytes of the answer
were handed to the operating system. So the server never sees a gap as shorter than the client kept
it: a gap that is too short here was too short there. One exception: when the client gives up
(`outcome` is `left`), `end` is when the server noticed, a moment after. A client that reads slowly
may still be reading what the operating system holds for it after `end`.

Lines of the other sort, contacts, are written when a client names a host in its TLS hello, or
reaches a host whose port is its own: they show a host that was approached without a request.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["done", "cut", "left", "stopped"]
"""`done`: answered in full; `cut`: broken off by the server on purpose; `left`: the client went
before the end; `stopped`: in flight when the server stopped or the host's port was closed."""

Kind = Literal["robots", "head", "get", "other"]
"""What the request seems to be for; `robots` whatever the method."""


@dataclass(slots=True)
class Exchange:
    """One request and its answer."""

    host: str
    """From the Host header: lowercase, without port."""
    port: int
    """From the Host header, else the scheme's default."""
    scheme: str
    sni: str | None
    """The name in the TLS hello; None: no TLS, or no name."""
    method: str
    target: str
    """Path and query, byte for byte as sent."""
    user_agent: str
    kind: Kind
    connection: int
    """Number of the connection, from 1."""
    start: float
    end: float
    status: int | None
    """As sent; None: no (legible) status was."""
    bytes: int
    """Handed over for sending: head and body, before TLS."""
    outcome: Outcome

    @property
    def key(self) -> str:
        """What politeness is kept by: the host without `www.` and port."""
        return host_key(self.host)

    @property
    def url(self) -> str:
        """The address asked."""
        default = {"https": 443, "http": 80}.get(self.scheme)
        port = "" if self.port == default else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.target}"


@dataclass(frozen=True, slots=True)
class Contact:
    """A client approached a host."""

    host: str
    how: Literal["hello", "accept"]
    """`hello`: named in a TLS hello; `accept`: reached on its own port, where no hello is read."""
    time: float


@dataclass(frozen=True, slots=True)
class Gap:
    """The time between two exchanges with one host; negative when they overlap."""

    key: str
    before: Exchange
    after: Exchange
    seconds: float


class LogWriter:
    """Appends to the log file; each record is one write, so nothing is left in a buffer."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def write(self, record: Exchange | Contact) -> None:
        """Append one record."""
        event = "exchange" if isinstance(record, Exchange) else "contact"
        line = json.dumps({"event": event, **asdict(record)})
        os.write(self._file, line.encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def host_key(host: str) -> str:
    """Return the key for a host: lowercase, without port, trailing dot and leading `www.`."""
    host = host.lower()
    host = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    return host.removesuffix(".").removeprefix("www.")


def read(path: Path) -> list[Exchange]:
    """Return the exchanges in the order of their starts."""
    found = [Exchange(**record) for record in _records(path, "exchange")]
    return sorted(found, key=lambda exchange: exchange.start)


def read_contacts(path: Path) -> list[Contact]:
    """Return the contacts in the order of time."""
    return sorted((Contact(**r) for r in _records(path, "contact")), key=lambda c: c.time)


def _records(path: Path, event: str) -> Iterable[dict[str, Any]]:
    """Yield the records of one sort. A line still being written has no end yet and is left out."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                record = json.loads(line)
                if record.pop("event") == event:
                    yield record


def by_host(
    records: Iterable[Exchange], key: Callable[[Exchange], str] = lambda record: record.key
) -> dict[str, list[Exchange]]:
    """Return the exchanges by host key, each list in the order of starts."""
    hosts: defaultdict[str, list[Exchange]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.start):
        hosts[key(record)].append(record)
    return dict(hosts)


def gaps(
    records: Iterable[Exchange], key: Callable[[Exchange], str] = lambda record: record.key
) -> list[Gap]:
    """Return the time between all exchanges of a host that follow each other.

    It runs from the latest end of all before to the start of the next, so that a long exchange
    which spans several short ones is not forgotten.
    """
    found = []
    for name, exchanges in by_host(records, key).items():
        latest = exchanges[0]
        for after in exchanges[1:]:
            found.append(Gap(name, latest, after, after.start - latest.end))
            if after.end >= latest.end:
                latest = after
    return found


def max_in_flight(records: Sequence[Exchange]) -> int:
    """Return the largest number of exchanges under way at once."""
    # an end at the very moment of another's start comes first: the two do not overlap
    starts = [(record.start, 1, 1) for record in records]
    ends = [(record.end, 2 if record.start == record.end else 0, -1) for record in records]
    most = now = 0
    for _, _, step in sorted(starts + ends):
        now += step
        most = max(most, now)
    return most
