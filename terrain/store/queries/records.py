"""What the queries answer with: plain records, no SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from terrain.rules.states import PageState


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A row of `runs`."""

    id: int
    status: str
    """`running`, `completed` or `interrupted`."""
    started_at: str
    """ISO 8601 UTC."""
    finished_at: str | None
    """None while it runs, or after a kill."""
    terrain_hash: str
    metrics: str | None
    """The metrics as JSON, as a process on the run left them."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The size of the terrain, whichever run found it."""

    pages: int
    domains: int
    links: int
    """Links ever seen, the ones that are gone included."""
    waiting: int
    """Pages in the frontier."""


@dataclass(frozen=True, slots=True)
class DepthCount:
    """The pages of a run at one depth: the least number of links from any origin."""

    depth: int | None
    """None: not worked out yet, which happens when a run closes."""
    pages: int
    read: int
    """How many of them were answered with HTML."""
    new_domains: int
    """Domains of which no page is nearer."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A host with what a run knows of it."""

    name: str
    title: str | None
    """Of its home page, if that was read."""
    pages: int
    read: int
    nearest: int | None
    """The least depth of its pages; None as in `DepthCount`."""
    farthest: int | None


@dataclass(frozen=True, slots=True)
class Territory:
    """The pages of a run by state, by depth and by domain."""

    states: Mapping[PageState, int]
    """States without pages are left out."""
    depths: Sequence[DepthCount]
    """By depth; None last."""
    quality: Sequence[Domain]
    """Quality domains, those with most pages read first."""
    quality_domains: int
    """How many there are; the sequence may be cut."""
    others: Sequence[Domain]
    """Domains on no list, in the same order."""
    other_domains: int
    listed_domains: int
    """Domains that are blacklisted or stubbed."""


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A blacklisted or stubbed URL."""

    url: str
    references: int
    """Links to it, present when their sources were last read."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that brought nothing."""

    state: str
    message: str | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Pages that are known and never asked for, by what keeps them from it."""

    reason: str | None
    """Which rule or which trap guard."""
    pages: int


@dataclass(frozen=True, slots=True)
class LimitedHost:
    """A host that asked to be left alone."""

    name: str
    at_request: int | None
    """How many requests it had answered in this run; None: an earlier run's wish still holds."""
    retry_after: str | None
    """ISO time that it named; None if it named none."""


@dataclass(frozen=True, slots=True)
class LimitedHosts:
    """The hosts that asked to be left alone, by name; the sequence may be cut."""

    hosts: Sequence[LimitedHost]
    count: int


@dataclass(frozen=True, slots=True)
class ClosedHosts:
    """Hosts that a limit of the configuration closed, by name; the names may be cut."""

    names: Sequence[str]
    count: int


@dataclass(frozen=True, slots=True)
class FetchTimes:
    """The page visits of a run and how long they took."""

    visits: int
    """Pages asked for."""
    average_ms: float | None
    """Over visits with a time; None if there are none."""
    p95_ms: int | None
    """The nearest rank: 95 of 100 visits took at most this long."""
    bytes: int
    """Of all bodies."""


@dataclass(frozen=True, slots=True)
class Node:
    """A row of `nodes`."""

    node_id: int
    domain: str
    description: str | None
    """Of its home page, else the title; None if that was not read."""
    visits: int
    """Page visits over all runs."""
    created_at: str
    """When the domain was first met. ISO 8601 UTC."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A row of `edges`, with the names of both ends."""

    from_id: int
    source: str
    to_id: int
    target: str
    weight: int


@dataclass(frozen=True, slots=True)
class DomainNode:
    """A domain in the graph of domains."""

    id: int
    name: str
    links: int
    """Links from and to it, over all of the terrain."""


@dataclass(frozen=True, slots=True)
class DomainEdge:
    """Links from one domain to another."""

    source: int
    target: int
    weight: int
    """Number of page links."""


@dataclass(frozen=True, slots=True)
class DomainGraph:
    """The best connected domains and the links among them."""

    nodes: Sequence[DomainNode]
    """Strongest first."""
    edges: Sequence[DomainEdge]
    """Heaviest first; only between nodes of this graph."""
    all_nodes: int
    """Domains that any link to or from another domain touches, in the whole terrain."""
    all_edges: int
