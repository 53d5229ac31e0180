"""What a configuration would do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terrain.cli.estimate import estimate, hosts_per_minute
from terrain.config.problems import printable
from terrain.errors import ConfigError, RunRefused
from terrain.extensions.figures import in_words
from terrain.store.history import would_resume
from terrain.store.runs import other_granularity, starts_differ

if TYPE_CHECKING:
    from collections.abc import Sequence

    from terrain.config import Config, Quality
    from terrain.store.history import PastRun

ROBOTS = {
    "respect": "robots.txt is obeyed",
    "ignore": "robots.txt is not asked for",
    "report": "robots.txt is recorded and not obeyed",
}
PROBES = {
    "always": "every page is asked for with HEAD before GET",
    "auto": "what looks like a file is asked for with HEAD before GET",
    "never": "pages are asked for with GET alone",
}


def plan(config: Config, past: Sequence[PastRun]) -> str:
    """Return the whole text of `terrain check`."""
    parts = [_origins(config), _left_out(config), _manners(config), _places(config)]
    if config.by_domain:
        parts.insert(0, _by_domain(config))
    return "\n\n".join([*parts, _time(config, past)])


def conflict(config: Config, past: Sequence[PastRun]) -> str | None:
    """Say why the database cannot take a crawl of this configuration, if it cannot."""
    wanted = config.crawler.granularity
    if not past or past[0].granularity == wanted:
        return None
    database = config.output.database_path or "the database of output.database-url"
    return other_granularity(past[0].granularity, wanted, printable(str(database)))


def next_run(config: Config, past: Sequence[PastRun], start: str) -> str:
    """Say which run a start would work on; refuses what the crawl itself would refuse."""
    if problem := conflict(config, past):
        raise ConfigError(problem)
    newest = past[0] if past else None
    if start == "resume" and (newest is None or newest.status == "completed"):
        raise RunRefused("there is no unfinished run to resume; leave --resume out")
    if start != "fresh" and newest is not None and newest.status != "completed":
        if would_resume(newest, config.terrain_hash):
            return f"Would go on with run {newest.id}, started {newest.started_at}.\n"
        return (
            f"Would start run {newest.id + 1}: {starts_differ(newest.granularity)} differ from "
            f"run {newest.id}, which did not finish.\n"
        )
    return f"Would start run {newest.id + 1 if newest else 1}.\n"


def _origins(config: Config) -> str:
    width = max(len(entry.domain) for entry in config.quality)
    lines = [f"Starts from {_count(len(config.quality), 'origin')}:"]
    for entry, depth in zip(config.quality, config.depth_limits, strict=True):
        starts = _starts(config, entry)
        seeds = ", ".join(printable(seed) for seed in starts[:3])
        more = f" and {len(starts) - 3} more" if len(starts) > 3 else ""
        reach = _depth(depth, by_domain=config.by_domain)
        lines.append(f"  {entry.domain:<{width}}  {reach}; {_pace(config, entry)}")
        lines.append(f"  {'':<{width}}  from {seeds}{more}")
    return "\n".join(lines)


def _starts(config: Config, entry: Quality) -> list[str]:
    """Return the seeds; by domain the home pages of their hosts, each once."""
    if not config.by_domain:
        return list(entry.seeds)
    rules = config.url_rules()
    found: dict[str, str] = {}
    for seed in entry.seeds:
        if (address := rules.address(seed)) is not None:
            found.setdefault(address.identity, address.fetch_url)
    return list(found.values())


def _by_domain(config: Config) -> str:
    most, times = config.crawler.max_outbound_links, config.crawler.max_crawls_per_domain
    links = "all links" if most is None else f"the first {_count(most, 'link')}"
    return (
        "Maps domains: the home page of each host stands for it.\n"
        f"  {links} to other hosts, one for each, are followed\n"
        f"  a host is visited once in a run, {_count(times, 'time')} over all runs"
    )


def _depth(limit: int, *, by_domain: bool) -> str:
    own = "its own hosts only" if by_domain else "its own pages only"
    return f"{_count(limit, 'link')} outward" if limit else own


def _pace(config: Config, entry: Quality) -> str:
    delay = entry.minimum_time_on_page
    seconds = (config.crawler.minimum_time_on_page if delay is None else delay) / 1000
    own = ", your own site" if entry.own else ""
    many = f", {entry.max_concurrent} requests at a time" if entry.max_concurrent > 1 else ""
    return f"{seconds:g} s between requests{many}{own}"


def _left_out(config: Config) -> str:
    lines = ["Is not visited:"]
    for name, entries in (("blacklisted", config.blacklist), ("stubbed", config.stub)):
        domains = [entry.domain for entry in entries]
        shown = ", ".join(domains[:6]) + (f" and {len(domains) - 6} more" if domains[6:] else "")
        lines.append(f"  {name}: {shown or 'nothing'}")
    own = _count(len(config.rules), "rule") if config.rules else "no rule"
    more = "the default set for advertising, analytics and sharing"
    if not config.rules_defaults:
        more = "without the default set"
    lines.append(f"  by rules: {own} of your own, {more}")
    guards = "as [traps] says" if config.traps.enabled else "no: traps.enabled is false"
    lines.append(f"  addresses that look like a trap: {guards}")
    return "\n".join(lines)


def _manners(config: Config) -> str:
    crawler = config.crawler
    lines = [
        f"Introduces itself as {config.user_agent.header}",
        f"  {ROBOTS[config.robots.mode]}; {PROBES[crawler.head_probe]}",
        f"  at most {_count(crawler.max_domain_requests, 'request')} to one host in a run",
        f"  up to {_count(crawler.max_concurrent_pages_open, 'request')} at once over all hosts",
    ]
    if crawler.max_subdomains_per_root is not None:
        hosts = _count(crawler.max_subdomains_per_root, "host")
        lines.append(f"  at most {hosts} under one registrable domain")
    if config.user_agent.contact_url is None and config.user_agent.contact_email is None:
        lines.append("  names no contact: set user-agent.contact-url or contact-email")
    return "\n".join(lines)


def _places(config: Config) -> str:
    output = config.output
    database = "the database of output.database-url" if output.database_url else None
    files = [database or output.database_path, output.summary_path, output.metrics_path]
    files += [output.prometheus_path] if output.prometheus_path else []
    return "Writes " + ", ".join(printable(str(file)) for file in files)


def _time(config: Config, past: Sequence[PastRun]) -> str:
    found = estimate(config, past)
    if found.run is not None:
        return f"Takes about {in_words(found.seconds)}, as long as run {found.run} took."
    if config.by_domain:
        return (
            f"Visits up to about {_count(hosts_per_minute(config), 'host')} a minute; "
            "how many there are, a first run tells."
        )
    return (
        f"Takes about {in_words(found.seconds)}: hosts are asked side by side, and "
        f"{found.host} gets up to {_count(found.requests, 'request')}.\n"
        "  Less if the sites are small, more if many others lie around them."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
