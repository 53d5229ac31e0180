"""The figures of a run for node_exporter's textfile collector.

The text format is Prometheus's exposition format 0.0.4.
"""

from collections.abc import Iterator, Mapping

from terrain.reports.metrics import Metrics
from terrain.reports.wording import parsed

Labels = Mapping[str, str]

_COUNTS = (
    ("nodes_discovered", "Domains that the last run came across."),
    ("nodes_crawled", "Domains of which the last run asked for a page."),
    ("edges_recorded", "Pairs of domains with links from one to the other."),
    ("links_recorded", "Links between pages."),
    ("pages_discovered", "Pages that the last run reached."),
    ("pages_fetched", "Pages that the last run asked for and that answered."),
    ("pages_failed", "Pages that the last run asked for in vain."),
    ("bytes_received", "Bytes received by the last process."),
    ("peak_memory_bytes", "Peak resident memory of the last process."),
    ("duration_seconds", "From the start of the last run to its end."),
)


def render_prometheus(metrics: Metrics) -> str:
    """Return the figures as gauges; a figure that is not known is left out."""
    return "".join(f"{line}\n" for line in _lines(metrics))


def _lines(metrics: Metrics) -> Iterator[str]:
    yield from _gauge(
        "run_info",
        "The last run; always 1.",
        [
            (
                {
                    "run": str(metrics.run_id),
                    "status": metrics.status,
                    "reason": metrics.termination_reason,
                    "version": metrics.terrain_version,
                },
                1,
            )
        ],
    )
    for name, at in (("started", metrics.started_at), ("ended", metrics.ended_at)):
        stamp = round(parsed(at).timestamp(), 3)
        yield from _gauge(f"{name}_timestamp_seconds", f"When the last run {name}.", [({}, stamp)])
    for name, meaning in _COUNTS:
        yield from _gauge(name, meaning, [({}, getattr(metrics, name))])
    yield from _gauge(
        "pages",
        "Pages of the last run by state.",
        [({"state": state}, count) for state, count in metrics.pages_by_state.items()],
    )
    yield from _gauge(
        "requests",
        "Requests of the last process by kind.",
        [({"kind": kind}, count) for kind, count in metrics.requests_by_kind.items()],
    )
    times = (("average", metrics.fetch_ms_average), ("p95", metrics.fetch_ms_p95))
    yield from _gauge(
        "fetch_seconds",
        "Time to fetch a page in the last run.",
        [({"statistic": name}, None if ms is None else ms / 1_000) for name, ms in times],
    )


def _gauge(name: str, meaning: str, values: list[tuple[Labels, float | None]]) -> Iterator[str]:
    known = [(labels, value) for labels, value in values if value is not None]
    if not known:
        return
    yield f"# HELP terrain_{name} {meaning}"
    yield f"# TYPE terrain_{name} gauge"
    for labels, value in known:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"terrain_{name}{{{inside}}} {value}" if inside else f"terrain_{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
