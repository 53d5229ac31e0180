"""An own host asked many times at once: the window must never run dry while the store has pages."""

from collections.abc import Callable
from pathlib import Path

from terrain.sampleweb.log import max_in_flight
from terrain.sampleweb.pages import Html, Link
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.crawls import Database, crawl, write_config

PAGES = 400
"""Several windows and several blocks of request tokens."""


def test_every_page_of_a_large_own_host_is_read(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    pages = {
        f"/{n}": Html(f"Page {n}", links=tuple(Link(f"/{(n * 7 + k) % PAGES}") for k in range(8)))
        for n in range(PAGES)
    }
    served = serve(Web({"a.test": Host(pages)}, latency=Latency(0.02)))
    own = {
        "domain": "a.test",
        "seeds": ["https://a.test/0"],
        "own": True,
        "minimum-time-on-page": 0,
        "max-concurrent": 8,
    }
    config = write_config(
        tmp_path, served, [own], crawler={"head-probe": "never", "max-depth": 400}
    )
    crawl(config)
    assert Database(config).rows("SELECT state, count(*) FROM pages GROUP BY state") == [
        ("processed", PAGES)
    ]
    asked = [exchange for exchange in served.log() if exchange.kind == "get"]
    assert len(asked) == PAGES
    assert 1 < max_in_flight(asked) <= 8
