"""`terrain stats`, metrics.json and the Prometheus file of the known terrain."""

import json
import re

import pytest

from terrain import __version__
from terrain.reports.metrics import RunCounters, gather_metrics, render_metrics
from terrain.reports.prometheus import render_prometheus
from terrain.reports.stats import render_stats
from terrain.reports.wording import duration, moment, number, plural, size
from terrain.store.queries import TerrainReader
from tests.reports.known import LASTED, SECOND

COUNTERS = RunCounters(
    status="completed",
    termination_reason='fin"is\\hed\n',
    session_started_at="2024-01-02T03:30:00.000Z",
    ended_at="2024-01-02T04:02:03.000Z",
    requests_by_kind={"head": 9, "get": 12, "robots": 7},
    bytes_received=123_456,
    peak_memory_bytes=98_765_432,
)

STATS = """\
run                    2, completed
started                2024-01-02 03:00:00 UTC, 1 h 2 min
pages                  18 reached, 0 waiting
  processed            5
  redirected           1
  blacklisted          2
  stubbed              1
  dead_link            1
  rate_limited         1
  failed               3
  depth_exceeded       1
  request_limit_hit    1
  subdomain_limit_hit  1
  content_mismatch     1
rate limited           slow.com
domains                11 met
terrain                19 pages on 11 domains, 21 links, over all runs
"""


def test_stats(reader: TerrainReader) -> None:
    assert render_stats(reader, now=SECOND + LASTED) == STATS


def test_metrics(reader: TerrainReader) -> None:
    assert json.loads(render_metrics(gather_metrics(reader, COUNTERS))) == {
        "terrain_version": __version__,
        "run_id": 2,
        "status": "completed",
        "termination_reason": 'fin"is\\hed\n',
        "started_at": "2024-01-02T03:00:00.000Z",
        "session_started_at": "2024-01-02T03:30:00.000Z",
        "ended_at": "2024-01-02T04:02:03.000Z",
        "duration_seconds": 3723.0,
        "nodes_discovered": 11,
        "nodes_crawled": 7,
        "edges_recorded": 12,
        "links_recorded": 21,
        "pages_discovered": 18,
        # 5 processed, 1 redirected, 1 not HTML; in vain: 1 dead, 2 failed, 1 limited.
        "pages_fetched": 7,
        "pages_failed": 4,
        "pages_by_state": {
            "processed": 5,
            "redirected": 1,
            "blacklisted": 2,
            "stubbed": 1,
            "dead_link": 1,
            "rate_limited": 1,
            "failed": 3,
            "depth_exceeded": 1,
            "request_limit_hit": 1,
            "subdomain_limit_hit": 1,
            "content_mismatch": 1,
        },
        # Nine visits with a time (the redirect and the timeout have none), 1,310 ms together.
        "fetch_ms_average": 145.6,
        "fetch_ms_p95": 400,
        "requests_by_kind": {"get": 12, "head": 9, "robots": 7},
        "bytes_received": 123_456,
        "peak_memory_bytes": 98_765_432,
    }


def test_quick_metrics_do_not_ask_the_database(
    reader: TerrainReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(TerrainReader, "_ask", refuse)
    metrics = gather_metrics(reader, COUNTERS, quick=True)
    assert (metrics.run_id, metrics.bytes_received, metrics.pages_fetched) == (2, 123_456, None)
    assert "pages_fetched" not in render_prometheus(metrics)


def test_prometheus(reader: TerrainReader) -> None:
    text = render_prometheus(gather_metrics(reader, COUNTERS))
    lines = text.splitlines()
    assert text.endswith("\n")
    info = (
        f'terrain_run_info{{run="2",status="completed",reason="fin\\"is\\\\hed\\n",'
        f'version="{__version__}"}} 1'
    )
    for line in (
        info,
        "terrain_started_timestamp_seconds 1704164400.0",
        "terrain_pages_fetched 7",
        'terrain_pages{state="failed"} 3',
        'terrain_requests{kind="robots"} 7',
        'terrain_fetch_seconds{statistic="p95"} 0.4',
        "terrain_peak_memory_bytes 98765432",
    ):
        assert line in lines
    # Every sample belongs to a metric that was announced, and the format is the collector's.
    announced = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    for line in lines:
        assert line.startswith("# ") or (
            re.fullmatch(r'[a-z_0-9]+(\{([a-z]+="([^"\\]|\\["\\n])*",?)+\})? [0-9.]+', line)
            and re.split(r"[{ ]", line)[0] in announced
        )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min 0 s"),
        (3_600, "1 h 0 min"),
        (90_061, "1 d 1 h"),
        (-5, "0 s"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_words() -> None:
    assert number(1_234_567) == "1,234,567"
    assert (plural(1, "page"), plural(2, "page")) == ("1 page", "2 pages")
    assert (size(999), size(1_000), size(2.5e15)) == ("999 B", "1.0 kB", "2,500.0 TB")
    assert moment("2024-05-01T14:00:00.999+02:00") == "2024-05-01 12:00:00 UTC"
