"""Fingerprints of a configuration: has it changed, and does the change need a new run."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from terrain.config.model import Config

# Where results go and where to connect do not change what is meant. Neither does the crawler's
# version, which by default is terrain's own: an upgrade is not a change of configuration.
_WITHOUT_MEANING: dict[str, Any] = {
    "output": True,
    "network": {"ca_file", "resolve"},
    "user_agent": {"crawler_version"},
}


def config_hash(config: Config) -> str:
    """Return a hash over everything that changes what a run means.

    The order of quality entries counts, because the first that matches a host gives its terms; the
    order of seeds, lists and tracking parameters does not.
    """
    facts: dict[str, Any] = config.model_dump(mode="json", exclude=_WITHOUT_MEANING)
    if not config.by_domain:
        del facts["crawler"]["max_crawls_per_domain"]
    facts["urls"]["tracking_parameters"] = _as_set(facts["urls"]["tracking_parameters"])
    for entry in facts["quality"]:
        entry["seeds"] = _as_set(entry["seeds"])
    for key in ("blacklist", "stub"):
        facts[key] = _as_set(entry["domain"] for entry in facts[key])
    return _digest(facts)


def terrain_hash(config: Config) -> str:
    """Return a hash over what a change of starts a new run.

    Domains, seeds and depth limits; by domain also how often a node is visited, because it decides
    from where a run starts.
    """
    crawler = config.crawler
    starts = {
        entry.domain: {"seeds": _as_set(entry.seeds), "limit": limit}
        for entry, limit in zip(config.quality, config.depth_limits, strict=True)
    }
    visits = crawler.max_crawls_per_domain if crawler.granularity == "domain" else None
    return _digest({"granularity": crawler.granularity, "starts": starts, "visits": visits})


def _as_set(texts: Any) -> list[str]:
    return sorted(set(texts))


def _digest(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()
