"""What the store's tests share: policies and outcomes by hand, no configuration file."""

import itertools
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sqlalchemy import text

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostRules
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.states import PageState
from terrain.rules.urls import Address, UrlRules
from terrain.store import PageOutcome, Policy, Store

URLS = UrlRules()


def address(url: str) -> Address:
    found = URLS.address(url)
    assert found is not None
    return found


def make_policy(
    quality: dict[str, int],
    seeds: Sequence[str],
    *,
    blacklist: Sequence[str] = (),
    stub: Sequence[str] = (),
    budget: int = 500,
    max_subdomains: int | None = None,
    config_hash: str = "c0",
    terrain_hash: str = "t0",
) -> Policy:
    """A policy from {pattern: depth limit} and seeds, each seed under the first that matches."""
    rules = HostRules(blacklist=blacklist, stub=stub, quality=list(quality))
    found = [address(seed) for seed in seeds]
    return Policy(
        host_rules=rules,
        depth=DepthRules(rules, list(quality.values())),
        origins=tuple(quality),
        seeds=tuple((seed, rules.origins(seed.host)[0]) for seed in found),
        budget=budget,
        max_subdomains=max_subdomains,
        config_hash=config_hash,
        terrain_hash=terrain_hash,
    )


def link(url: str, kind: LinkKind = LinkKind.ANCHOR, anchor: str = "", rel: str = "") -> OutLink:
    return OutLink(address(url), kind, anchor, rel, Position.BODY)


def processed(url: str, *targets: str, **facts: object) -> PageOutcome:
    links = tuple(link(target) for target in targets)
    facts = {"status_code": 200, **facts}
    return PageOutcome(address(url).page_id, PageState.PROCESSED, links=links, **facts)  # type: ignore[arg-type]


def redirected(url: str, target: str) -> PageOutcome:
    links = (link(target, LinkKind.REDIRECT),)
    return PageOutcome(address(url).page_id, PageState.REDIRECTED, links=links, status_code=301)


def ended(url: str, state: PageState, **facts: object) -> PageOutcome:
    return PageOutcome(address(url).page_id, state, **facts)  # type: ignore[arg-type]


@cache
def _empty_database() -> bytes:
    """A migrated database without a run; made once, because migrating takes a while."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "empty.db"
        Store(path, make_policy({"a.test": 0}, ["https://a.test/"])).close()
        return path.read_bytes()


class Terrain:
    """A store under test that can be crashed and opened again, and asked in SQL."""

    def __init__(self, path: Path, policy: Policy) -> None:
        self.path = path
        self.policy = policy
        self._ticks = itertools.count(1_700_000_000)
        if not path.exists():
            path.write_bytes(_empty_database())
        self.store: Store | None = None

    def now(self) -> float:
        return float(next(self._ticks))

    def open(self, **arguments: object) -> Store:
        self.store = Store(self.path, self.policy, now=self.now, strict=True)
        self.store.open_run(**arguments)  # type: ignore[arg-type]
        return self.store

    def crash(self) -> None:
        """Stop as a killed process does: nothing is written, the lock is let go of."""
        if self.store is not None:
            self.store.close()
            self.store = None

    def record(self, *outcomes: PageOutcome) -> set[str]:
        assert self.store is not None
        return self.store.record_all(outcomes).result().hosts

    def finish(self) -> None:
        assert self.store is not None
        self.store.close_run(completed=True)
        self.crash()

    def rows(self, sql: str, **parameters: object) -> list[tuple[object, ...]]:
        assert self.store is not None
        with self.store._engine.begin() as connection:
            return [tuple(row) for row in connection.execute(text(sql), parameters)]

    def states(self) -> dict[str, str]:
        return dict(self.rows("SELECT url, state FROM pages"))  # type: ignore[arg-type]

    def waiting(self) -> set[str]:
        return {
            str(url)
            for (url,) in self.rows("SELECT url FROM pages JOIN frontier ON page_id = pages.id")
        }
