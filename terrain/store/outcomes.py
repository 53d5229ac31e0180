"""What goes into the store and what it says back: plain records, no SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from terrain.rules.links import OutLink
from terrain.rules.states import PageState


class Fault(IntEnum):
    """Why redirects make a page `failed`."""

    NONE = 0
    CYCLE = 1
    """It is on a cycle or leads into one; or it loops on its own identity."""
    TOO_FAR = 2
    """It is itself more hops away than are followed; a shorter way brings it back."""
    LEADS_TOO_FAR = 3
    """It redirects, by one or more hops, to a page that is too far."""


@dataclass(slots=True)
class PageOutcome:
    """How one leased page ended. It is committed whole or not at all."""

    page_id: int
    state: PageState
    fetch_url: str | None = None
    """Where the server really answered; None if it was never asked."""
    links: Sequence[OutLink] = ()
    """Outlinks of a `processed` page; the one redirect link of a `redirected` page."""
    own_hops: int = 0
    """Redirect hops within the page's identity before the answer."""
    fault: Fault = Fault.NONE
    """Set when a loop or too many hops made it `failed`: pages that lead here fail with it."""
    visited: bool = True
    """False when the host was not asked for this page (robots denied, budget spent)."""
    title: str | None = None
    description: str | None = None
    status_code: int | None = None
    content_type: str | None = None
    last_modified: str | None = None
    etag: str | None = None
    content_hash: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    meta_robots: str | None = None
    bytes: int | None = None
    fetch_ms: int | None = None
    visited_at: str | None = None
    error_message: str | None = None
    retry_count: int = 0


@dataclass(slots=True)
class Recorded:
    """What a committed batch changed, for the frontier and for progress."""

    hosts: set[str] = field(default_factory=set)
    """Hosts that have new work in the durable frontier."""
    new_pages: int = 0
    """Pages that this terrain did not know before."""
    queued: int = 0
    """Pages that became crawlable."""
    links: int = 0
    """Links of the batch, new or known."""
    collisions: list[str] = field(default_factory=list)
    """Identities refused because another identity has their page id."""


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """A page of the durable frontier, as the window in memory gets it."""

    page_id: int
    fetch_url: str
    priority: int
    seq: int
    hops: int


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """A robots.txt answer as kept for a day."""

    origin: str
    """Scheme, host and port it speaks for."""
    status: int | None
    """Status of the final answer; None when none came."""
    body: str | None
    fetched_at: str
    """ISO 8601 UTC."""
    expires_at: int
    """Epoch seconds after which it is asked again."""


@dataclass(frozen=True, slots=True)
class HostSupply:
    """What the store gives the window for one host."""

    host: str
    pages: tuple[WaitingPage, ...]
    more: bool
    """True when further pages of the host wait in the store."""
    tokens: int
    """Requests now reserved for the host, on disk before this is returned."""
    spent: bool
    """True when the run's budget for the host has no tokens left."""
    closed: PageState | None
    """The state its waiting pages get when the host may not be asked in this run."""
    not_before: float | None
    """Epoch seconds before which an earlier process's last request forbids the next one."""
    crashed: bool
    """True when an earlier process had requests out and did not leave in good order."""
    robots: tuple[RobotsRecord, ...]
    """What is known of its robots.txt; what has expired still serves if no better answer comes."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The run that was opened."""

    id: int
    resumed: bool
    finished: bool
    """True when the run named by the job is complete: there is nothing left to do."""
    notices: tuple[str, ...]
    """What the user should be told: a resumed run, a changed configuration, and so on."""
