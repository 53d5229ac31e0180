"""How long a crawl may take under its politeness budget."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from terrain.config import Config
    from terrain.store.history import PastRun

EXCHANGE = 0.3
"""Seconds from a request to the last byte of its answer, for want of anything better."""

LOOPBACK_EXCHANGE = 0.02
"""The same for a host on this machine."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A time, and what it rests on."""

    seconds: float
    host: str | None
    """The host that takes longest; None when an earlier run is the measure."""
    requests: int = 0
    """Requests it may get."""
    run: int | None = None
    """The earlier run."""


def estimate(config: Config, past: Sequence[PastRun]) -> Estimate:
    """Say how long a new run may take.

    The last complete run under the same configuration is the best measure. Without one: every page
    of a quality host is depth 0, so a crawl walks such a host until its request budget is spent,
    and hosts are asked side by side. So the slowest quality host decides.
    """
    for run in past:
        if run.seconds is not None and run.config_hash == config.config_hash:
            return Estimate(run.seconds, None, run=run.id)
    budget = config.crawler.max_domain_requests
    times = {host: budget * _seconds_per_request(config, host) for host in seed_hosts(config)}
    slowest = max(times, key=lambda host: times[host])
    # More hosts than places: they take turns.
    total = budget * sum(_exchange(config, host) for host in times)
    seconds = max(times[slowest], total / config.crawler.max_concurrent_pages_open)
    return Estimate(seconds, slowest, requests=budget)


def hosts_per_minute(config: Config) -> int:
    """Say how many home pages can be visited in a minute, if there are enough to do.

    Each takes a place for robots.txt, HEAD and GET; its delays take none.
    """
    requests = 1 + (config.robots.mode != "ignore") + (config.crawler.head_probe == "always")
    exchange = max(_exchange(config, host) for host in seed_hosts(config))
    return int(60 * config.crawler.max_concurrent_pages_open / (requests * exchange))


def seed_hosts(config: Config) -> list[str]:
    """Return the hosts of all seeds, in the order of the file."""
    rules = config.url_rules()
    addresses = (rules.address(seed) for entry in config.quality for seed in entry.seeds)
    return list(dict.fromkeys(address.host for address in addresses if address is not None))


def _seconds_per_request(config: Config, host: str) -> float:
    terms = config.host_terms(host)
    return (terms.delay + _exchange(config, host)) / terms.max_in_flight


def _exchange(config: Config, host: str) -> float:
    target = config.network.resolve_target(host)
    try:
        local = target is not None and ipaddress.ip_address(target[0]).is_loopback
    except ValueError:
        local = target is not None and target[0] == "localhost"
    return LOOPBACK_EXCHANGE if local else EXCHANGE
