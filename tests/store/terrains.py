"""What the store's tests share: policies and outcomes by hand, no configuration file."""

import tempfile
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import text

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostRules
from terrain.rules.linkrules import NO_RULES, LinkRules
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.states import PageState
from terrain.rules.urls import Address, UrlRules
from terrain.store import HostSupply, PageOutcome, Policy, Recorded, RunInfo, Start, Store
from tests.store.integrity import check_integrity

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
    config_hash: str = "config-0",
    terrain_hash: str = "terrain-0",
    link_rules: LinkRules = NO_RULES,
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
        link_rules=link_rules,
    )


def link(url: str, kind: LinkKind = LinkKind.ANCHOR, anchor: str = "", rel: str = "") -> OutLink:
    return OutLink(address(url), kind, anchor, rel, Position.BODY)


def processed(url: str, *targets: str, **facts: object) -> PageOutcome:
    links = tuple(link(target) for target in targets)
    facts = {"status_code": 200, **facts}
    return PageOutcome(address(url).page_id, PageState.PROCESSED, links=links, **facts)  # type: ignore[arg-type]


def redirected(url: str, target: str, own_hops: int = 0) -> PageOutcome:
    links = (link(target, LinkKind.REDIRECT),)
    return PageOutcome(
        address(url).page_id,
        PageState.REDIRECTED,
        links=links,
        status_code=301,
        own_hops=own_hops,
    )


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

    def __init__(self, location: Path | str, policy: Policy) -> None:
        self.location = location
        self.policy = policy
        self.time = 1_700_000_000.0
        if isinstance(location, Path) and not location.exists():
            location.write_bytes(_empty_database())
        self.store: Store | None = None

    def now(self) -> float:
        self.time += 1
        return self.time

    def open(self, start: Start = Start.AUTO, job: str | None = None) -> RunInfo:
        """Open the database and a run; what a refused start has opened is closed again."""
        store = Store(self.location, self.policy, now=self.now, strict=True)
        try:
            info = store.open_run(start, job)
        except BaseException:
            store.close()
            raise
        self.store = store
        return info

    def reopen(self, policy: Policy | None = None, **arguments: object) -> RunInfo:
        """Crash, and start again, perhaps under another configuration."""
        self.crash()
        self.policy = policy or self.policy
        return self.open(**arguments)  # type: ignore[arg-type]

    @property
    def opened(self) -> Store:
        assert self.store is not None
        return self.store

    def crash(self) -> None:
        """Stop as a killed process does: nothing is written, the lock is let go of."""
        if self.store is not None:
            self.store.close()
            self.store = None

    def check(self) -> None:
        """Crash, and look whether all that must be true of a terrain is."""
        self.crash()
        check_integrity(self.location)

    def record(self, *outcomes: PageOutcome) -> Recorded:
        return self.opened.record_all(outcomes).result()

    def finish(self) -> None:
        """Complete the run and let go."""
        assert self.opened.close_run(completed=True)
        self.crash()

    def supply(
        self, host: str, *, held: Collection[int] = (), pages: int = 10, tokens: int = 10
    ) -> HostSupply:
        return self.opened.supply(host, held=held, pages=pages, tokens=tokens).result()

    def rows(self, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
        with self.opened._engine.begin() as connection:
            return [tuple(row) for row in connection.execute(text(sql), parameters)]

    def states(self) -> dict[str, str]:
        return dict(self.rows("SELECT url, state FROM pages"))

    def waiting(self) -> set[str]:
        return {
            str(url)
            for (url,) in self.rows("SELECT url FROM pages JOIN frontier ON page_id = pages.id")
        }
