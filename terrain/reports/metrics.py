"""The figures of a run as JSON: what `metrics.json` and the history in the database hold."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from terrain import __version__
from terrain.reports.wording import parsed
from terrain.rules.states import PageState
from terrain.store.queries import TerrainReader

FETCHED: Final = frozenset({PageState.PROCESSED, PageState.REDIRECTED, PageState.CONTENT_MISMATCH})
"""Outcomes of pages that answered; every other outcome of asking is a failure."""


@dataclass(frozen=True, slots=True)
class RunCounters:
    """What only the process that crawled can know."""

    status: str
    """`completed` or `interrupted`."""
    termination_reason: str
    """Why the process ended: finished, a signal, a limit, an error."""
    session_started_at: str
    """When this process began; the run itself may be older. ISO 8601 UTC."""
    ended_at: str
    """ISO 8601 UTC."""
    requests_by_kind: Mapping[str, int] = field(default_factory=dict)
    """Requests of this process: robots, head, get and so on."""
    bytes_received: int = 0
    """Of all answers to this process."""
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of a run; those of its last process where it says so."""

    terrain_version: str
    run_id: int
    status: str
    termination_reason: str
    started_at: str
    """Of the run."""
    session_started_at: str
    """Of its last process."""
    ended_at: str
    duration_seconds: float
    """From the start of the run, pauses between processes included."""
    nodes_discovered: int | None
    """Domains that the run came across. None, here and below: left out of a quick report."""
    nodes_crawled: int | None
    """Domains of which it asked for a page."""
    edges_recorded: int | None
    """Pairs of domains with links from one to the other, in the whole terrain."""
    links_recorded: int | None
    """Links between pages, in the whole terrain."""
    pages_discovered: int | None
    """Pages that the run reached."""
    pages_fetched: int | None
    """Pages that were asked for and answered."""
    pages_failed: int | None
    """Pages that were asked for in vain: dead, unreachable, limited or failed."""
    pages_by_state: Mapping[str, int]
    fetch_ms_average: float | None
    fetch_ms_p95: int | None
    requests_by_kind: Mapping[str, int]
    """Of the last process."""
    bytes_received: int
    """Of the last process."""
    peak_memory_bytes: int | None
    """Of the last process."""


def gather_metrics(reader: TerrainReader, counters: RunCounters, *, quick: bool = False) -> Metrics:
    """Put the run's figures together; `quick` leaves out all that must be counted in the database.

    A second signal leaves no time to count a million pages.
    """
    run = reader.run
    lasted = parsed(counters.ended_at) - parsed(run.started_at)
    states = {} if quick else reader.states()
    outcomes = {} if quick else reader.outcomes()
    times = None if quick else reader.fetch_times()
    fetched = sum(count for state, count in outcomes.items() if state in FETCHED)
    return Metrics(
        terrain_version=__version__,
        run_id=run.id,
        status=counters.status,
        termination_reason=counters.termination_reason,
        started_at=run.started_at,
        session_started_at=counters.session_started_at,
        ended_at=counters.ended_at,
        duration_seconds=round(lasted.total_seconds(), 3),
        nodes_discovered=None if quick else reader.domains_met(),
        nodes_crawled=None if quick else reader.domains_visited(),
        edges_recorded=None if quick else reader.domain_edges(),
        links_recorded=None if quick else reader.totals().links,
        pages_discovered=None if quick else sum(states.values()),
        pages_fetched=None if quick else fetched,
        pages_failed=None if quick else sum(outcomes.values()) - fetched,
        pages_by_state={state.value: states[state] for state in PageState if state in states},
        fetch_ms_average=_rounded(times.average_ms) if times else None,
        fetch_ms_p95=times.p95_ms if times else None,
        requests_by_kind=dict(sorted(counters.requests_by_kind.items())),
        bytes_received=counters.bytes_received,
        peak_memory_bytes=counters.peak_memory_bytes,
    )


def render_metrics(metrics: Metrics) -> str:
    """Return the figures as JSON, one to a line."""
    return json.dumps(asdict(metrics), indent=2, ensure_ascii=True) + "\n"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
