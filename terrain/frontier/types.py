"""What goes into the frontier and what comes out of it: plain records, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class RequestKind(StrEnum):
    """Why a request leaves the frontier."""

    ROBOTS = "robots"
    """robots.txt of the origin that the next page lives on."""

    PAGE = "page"
    """The first request for a page (HEAD or GET, as the adapter likes)."""

    FOLLOW_UP = "follow_up"
    """A request that an earlier answer made necessary: GET after HEAD, a hop, a retry."""


class Verdict(StrEnum):
    """What robots.txt says about a fetch URL."""

    ALLOWED = "allowed"
    DENIED = "denied"
    UNKNOWN = "unknown"
    """robots.txt of that origin has to be fetched first."""


class Tempo(IntEnum):
    """How long a host keeps a request waiting; the later ones leave room for the earlier."""

    QUICK = 0
    """Its exchanges have been short."""
    NEW = 1
    """Nothing is known of it: it may be quick, or it may not answer at all."""
    SLOW = 2
    """Its exchanges have been long."""


class DropReason(StrEnum):
    """Why the frontier will not ask for something; also why a host is closed."""

    DENIED = "denied"
    """robots.txt forbids the page. The only reason that concerns one page, not its host."""

    BUDGET_SPENT = "budget_spent"
    """The host has had all the requests it may get in this run."""

    SUSPENDED = "suspended"
    """The host said 429, or a Retry-After of an earlier run has not passed."""

    SUBDOMAIN_LIMIT = "subdomain_limit"
    """The host's root already has its number of subdomains."""

    CLOSED = "closed"
    """The frontier is closed, or the store gave the host to somebody else. Not an outcome."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One waiting page of the durable frontier."""

    page_id: int
    fetch_url: str
    priority: int
    """0 is asked first; the store uses the depth."""
    seq: int
    """Among equal priorities the lower, that is the older, is asked first."""
    hops: int = 0
    """Redirect hops from the nearest seed or ordinary link."""


@dataclass(frozen=True, slots=True)
class HostTerms:
    """On what terms a host may be asked."""

    delay: float
    """Seconds from the end of one exchange to the start of the next."""
    max_in_flight: int = 1
    """Requests at the same time; each of these places keeps the delay on its own."""


@dataclass(frozen=True, slots=True)
class Want:
    """What the frontier asks of the store for one host. Every Want is answered by one TopUp."""

    host: str
    held: tuple[int, ...]
    """Ids of pages in memory: waiting here, or asked and not yet committed. Do not send them."""
    entries: int
    """How many further entries are welcome, best first; may be 0."""
    tokens: int
    """How many requests to reserve durably against the host's budget; may be 0."""


@dataclass(frozen=True, slots=True)
class TopUp:
    """The store's answer to a Want."""

    host: str
    entries: Sequence[Entry] = ()
    more: bool = False
    """The store has entries for the host beyond these and those named as held."""
    tokens: int = 0
    """Requests newly reserved. 0 although some were wanted is legal only with budget_spent."""
    budget_spent: bool = False
    """No more tokens will come in this run; what is in hand may be used up."""
    closed: DropReason | None = None
    """The host is not to be asked at all; nothing else in the answer counts then."""
    delay: float = 0.0
    """A crawl delay known from an earlier time; raises the host's delay, never lowers it."""
    not_before: float | None = None
    """The host may not be asked before (it had requests out when an earlier process died)."""


@dataclass(slots=True)
class Lease:
    """Permission for exactly one request, now."""

    id: int
    host: str
    kind: RequestKind
    url: str
    """The address to ask, byte for byte."""
    entry: Entry | None
    """The page it is for; None for robots.txt and for follow-ups that belong to no page."""
    payload: object | None
    """What the adapter gave with a follow-up, untouched."""
    started_at: float
    tempo: Tempo
    """What the host counted as when the lease was given."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something the frontier held and will not ask."""

    host: str
    reason: DropReason
    entry: Entry | None
    payload: object | None = None
    """Set for follow-ups: the adapter's own request, so that it can be brought to an end."""
    follow_up: bool = False
    """True if an answer had come before, so that somebody waits for the end of it."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Where everything stands, for progress. Reading it costs the same at any size."""

    hosts: int
    """Hosts in the window."""
    ready: int
    """Hosts whose clock allowed a request when `lease` was last called."""
    waiting: int
    """Hosts that have work and wait for their clock."""
    suspended: int
    """Hosts suspended since the start."""
    in_flight: int
    """Requests given out whose exchange has not ended."""
    queued: int
    """Pages in the window that have not been asked."""
    follow_ups: int
    """Follow-ups that wait for their host's clock."""
    leased: int
    """Pages given out (or denied) whose outcome is not committed."""


class Gate(Protocol):
    """The robots verdicts, injected: memory only, no waiting."""

    def check(self, fetch_url: str) -> Verdict:
        """Say whether the address may be asked, as far as is known now."""

    def robots_url(self, fetch_url: str) -> str:
        """Give the robots.txt address that decides about `fetch_url`."""
