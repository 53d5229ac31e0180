"""What the store must know of the configuration to decide about a page it is told of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostKind, HostRules
from terrain.rules.linkrules import NO_RULES, LinkRules

if TYPE_CHECKING:
    from terrain.config import Config
    from terrain.rules.urls import Address


@dataclass(frozen=True)
class Policy:
    """Origins, lists and limits of a run."""

    host_rules: HostRules
    depth: DepthRules
    origins: tuple[str, ...]
    """The quality patterns, as they are written to `page_depths.quality_origin`."""
    seeds: tuple[tuple[Address, int], ...]
    """Each seed with the index of its origin."""
    budget: int
    """Requests per host and run."""
    max_subdomains: int | None
    config_hash: str
    terrain_hash: str
    link_rules: LinkRules = NO_RULES
    """Rules and trap guards by address."""
    by_domain: bool = False
    """A node is a host and its home page stands for it, instead of a page for itself."""
    max_crawls: int | None = None
    """Visits of a node over all runs, by domain; None for any number."""

    @classmethod
    def from_config(cls, config: Config) -> Policy:
        """Take from the configuration what matters here."""
        hosts, urls = config.host_rules(), config.url_rules()
        seeds = [
            (urls.address(seed), index)
            for index, entry in enumerate(config.quality)
            for seed in entry.seeds
        ]
        return cls(
            host_rules=hosts,
            depth=DepthRules(hosts, config.depth_limits),
            origins=tuple(entry.domain for entry in config.quality),
            seeds=tuple((address, index) for address, index in seeds if address is not None),
            budget=config.crawler.max_domain_requests,
            max_subdomains=config.crawler.max_subdomains_per_root,
            config_hash=config.config_hash,
            terrain_hash=config.terrain_hash,
            link_rules=config.link_rules(),
            by_domain=config.by_domain,
            max_crawls=config.crawler.max_crawls_per_domain if config.by_domain else None,
        )

    @property
    def granularity(self) -> str:
        """The word of the configuration for `by_domain`."""
        return "domain" if self.by_domain else "page"

    def listed(self, host: str) -> HostKind | None:
        """Return the kind of a blacklisted or stubbed host, None for one that may be visited."""
        return _listed(self.host_rules, host)

    def refusal(self, page_id: int, identity: str) -> str | None:
        """Say why a page is known and never asked for; None if it may be, as seeds always may."""
        reason = self.link_rules.refusal(identity)
        return None if reason is None or page_id in self._seed_ids else reason

    @cached_property
    def _seed_ids(self) -> frozenset[int]:
        return frozenset(address.page_id for address, _ in self.seeds)


@lru_cache(maxsize=8_192)
def _listed(rules: HostRules, host: str) -> HostKind | None:
    kind = rules.classify(host)
    return kind if kind in {HostKind.BLACKLISTED, HostKind.STUBBED} else None
