"""What is allowed and probably not meant: lines to say aloud, not reasons to refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terrain.config.problems import show_value
from terrain.rules.hosts import HostKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from terrain.config.model import Config
    from terrain.config.sections import Listed


def advice_on(config: Config) -> Iterator[str]:
    """Yield one line for each domain in several lists and each seed that will not be visited."""
    yield from _listed_twice(config)
    yield from _without_effect(config)
    rules, urls = config.host_rules(), config.url_rules()
    for index, entry in enumerate(config.quality):
        for number, seed in enumerate(entry.seeds):
            address = urls.address(seed)
            kind = rules.classify(address.host) if address else HostKind.QUALITY
            if kind is not HostKind.QUALITY:
                where = f"quality[{index}].seeds[{number}] = {show_value(seed)}"
                yield f"{where}: its host is {kind.value}, so it is recorded and not visited"


def _without_effect(config: Config) -> Iterator[str]:
    crawler = config.crawler
    if not config.by_domain and "max_crawls_per_domain" in crawler.model_fields_set:
        where = f"crawler.max-crawls-per-domain = {crawler.max_crawls_per_domain}"
        yield f'{where}: means nothing without crawler.granularity = "domain"'


def _listed_twice(config: Config) -> Iterator[str]:
    # In the order of precedence, so that the list seen first is the one that holds.
    names = {"blacklist": "blacklist", "stub": "stub list"}
    lists: dict[str, tuple[Listed, ...]] = {
        "blacklist": config.blacklist,
        "stub": config.stub,
        "quality": config.quality,
    }
    first: dict[str, str] = {}
    for name, entries in lists.items():
        for index, entry in enumerate(entries):
            where = f'{name}[{index}].domain = "{entry.domain}"'
            holder = first.setdefault(entry.domain, name)
            if holder != name:
                yield f"{where}: also in the {names[holder]}, which wins"
