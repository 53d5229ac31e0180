"""A terrain with known content, made by hand through the store, for the golden files.

Two quality entries, every state a finished run can leave, two runs. All expectations in the tests
are derived from this page.
"""

from datetime import UTC, datetime
from pathlib import Path

from terrain.rules.states import PageState
from terrain.store import PageOutcome, Policy, Start, Store
from tests.store.terrains import ended, make_policy, processed, redirected

FIRST = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
SECOND = datetime(2024, 1, 2, 3, tzinfo=UTC).timestamp()
LASTED = 3_723.0
"""Seconds of the second run: 1 h 2 min 3 s."""

S = PageState


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def known_policy() -> Policy:
    return make_policy(
        {"alpha.org": 2, "*.beta.org": 2},
        ["https://alpha.org/", "https://docs.beta.org/"],
        blacklist=["ads.net"],
        stub=["wiki.net"],
        max_subdomains=1,
    )


class KnownTerrain:
    """Opens the store on a path and records pages with a clock of its own."""

    def __init__(self, path: Path, policy: Policy | None = None, at: float = FIRST) -> None:
        self.path = path
        self.policy = policy or known_policy()
        self.clock = Clock(at)
        self.store = Store(path, self.policy, now=self.clock, strict=True)

    def record(self, *outcomes: PageOutcome) -> None:
        for outcome in outcomes:
            self.store.record_all([outcome]).result()


def first_run(terrain: KnownTerrain) -> None:
    """Three pages, one of which is gone in the second run; 90 seconds."""
    terrain.store.open_run()
    terrain.record(
        processed("https://alpha.org/", "https://alpha.org/gone"),
        processed("https://docs.beta.org/"),
        processed("https://alpha.org/gone"),
    )
    terrain.clock.at = FIRST + 90
    assert terrain.store.close_run(completed=True, metrics='{"pages_fetched": 3}')


def second_run(terrain: KnownTerrain) -> None:
    """18 pages on 11 domains."""
    terrain.clock.at = SECOND
    store = terrain.store
    store.open_run(Start.FRESH)
    terrain.record(
        processed(
            "https://alpha.org/",
            "https://alpha.org/a",
            "https://alpha.org/missing",
            "https://docs.beta.org/",
            "https://gamma.com/",
            "https://ads.net/x",
            "https://ads.net/y",
            "https://wiki.net/Alpha",
            "https://slow.com/",
            "https://s1.gamma.com/",
            "https://s2.gamma.com/",
            "https://big.com/1",
            "https://big.com/2",
            title="Alpha, a site",
            fetch_ms=100,
            bytes=1_000,
        ),
        processed(
            "https://alpha.org/a",
            "https://ads.net/x",
            "https://wiki.net/Alpha",
            "https://gamma.com/deep",
            fetch_ms=110,
            bytes=2_000,
        ),
        ended("https://alpha.org/missing", S.DEAD_LINK, error_message="HTTP 404", fetch_ms=20),
        processed(
            "https://docs.beta.org/",
            "https://ads.net/x",
            "https://beta.org/old",
            title="Beta docs",
            fetch_ms=150,
            bytes=3_000,
        ),
        redirected("https://beta.org/old", "https://docs.beta.org/new"),
        ended("https://docs.beta.org/new", S.CONTENT_MISMATCH, fetch_ms=70),
        processed(
            "https://gamma.com/", "https://gamma.com/two", title="Gamma", fetch_ms=200, bytes=4_000
        ),
        processed("https://gamma.com/two", "https://far.io/", fetch_ms=250, bytes=500),
        ended(
            "https://gamma.com/deep", S.FAILED, visited=False, error_message="robots denied: /deep"
        ),
        ended("https://s1.gamma.com/", S.FAILED, error_message="HTTP 500", fetch_ms=400),
        ended("https://big.com/1", S.FAILED, error_message="timeout: no answer in 30 s"),
        ended("https://slow.com/", S.RATE_LIMITED, error_message="HTTP 429", fetch_ms=10),
    )
    # Three requests reserved, one given back: it was the second that met a 429.
    store.supply("slow.com", held=(), pages=1, tokens=3).result()
    store.close_host("slow.com", S.RATE_LIMITED, retry_after=SECOND + 3_600).result()
    store.give_back([("slow.com", 1)]).result()
    store.close_host("big.com", S.REQUEST_LIMIT_HIT).result()
    terrain.clock.at = SECOND + LASTED
    assert store.close_run(completed=True)


def build(path: Path) -> Policy:
    """Make the whole terrain and let go of it."""
    terrain = KnownTerrain(path)
    first_run(terrain)
    second_run(terrain)
    terrain.store.close()
    return terrain.policy
