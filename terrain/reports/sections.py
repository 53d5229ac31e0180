"""The sections of the summary: each a few records in, lines of Markdown out."""

import json
from collections.abc import Mapping, Sequence

from terrain.reports.errors import Errors
from terrain.reports.escape import code, code_url
from terrain.reports.status import ended, lasted, status_of
from terrain.reports.tables import table
from terrain.reports.wording import duration, moment, number, parsed, plural, size
from terrain.rules.states import WAITING, PageState
from terrain.store.queries import (
    ClosedHosts,
    Domain,
    FetchTimes,
    LeftOut,
    LimitedHosts,
    ListedUrl,
    RunRecord,
    TerrainReader,
    Territory,
    Totals,
)

States = Mapping[PageState, int]

MOST_REASONS = 20
"""Rules and trap guards that are told apart among what was not crawled."""

MEANINGS: Mapping[PageState, str] = {
    PageState.DISCOVERED: "known, not asked for: a rule or a trap guard",
    PageState.QUEUED: "waiting for its turn",
    PageState.FETCHING: "being asked for",
    PageState.PROCESSED: "read",
    PageState.REDIRECTED: "leads to another page",
    PageState.BLACKLISTED: "on the blacklist, never asked for",
    PageState.STUBBED: "on the stub list, never asked for",
    PageState.DEAD_LINK: "gone (404, 410)",
    PageState.UNREACHABLE: "no connection",
    PageState.RATE_LIMITED: "its domain asked for a pause",
    PageState.FAILED: "went wrong, or forbidden by robots.txt",
    PageState.DEPTH_EXCEEDED: "deeper than allowed",
    PageState.REQUEST_LIMIT_HIT: "its domain's request budget is spent",
    PageState.SUBDOMAIN_LIMIT_HIT: "too many subdomains of its root",
    PageState.CONTENT_MISMATCH: "not HTML",
}


def heading(reader: TerrainReader, now: float) -> list[str]:
    """Which run, when, how long, how it stands."""
    run = reader.run
    rows = [
        ("Status", status_of(reader)),
        ("Started", moment(run.started_at)),
        ("Ended", ended(reader)),
        ("Duration", lasted(reader, now)),
    ]
    if reader.by_domain():
        rows.append(("Map", "by domain: a page is the home page of its host"))
    return ["# Crawl summary", "", *table((f"Run {run.id}", ""), rows)]


def overall(territory: Territory, totals: Totals, times: FetchTimes) -> list[str]:
    """The figures that matter most."""
    states = territory.states
    domains = territory.quality_domains + territory.other_domains + territory.listed_domains
    rows = [
        ("Pages reached", number(sum(states.values()))),
        ("Pages asked for", number(times.visits)),
        ("Pages read", number(states.get(PageState.PROCESSED, 0))),
        ("Pages waiting", number(sum(states.get(state, 0) for state in WAITING))),
        ("Domains reached", number(domains)),
        ("of them quality", number(territory.quality_domains)),
        ("of them blacklisted or stubbed", number(territory.listed_domains)),
        ("Average fetch time", _milliseconds(times.average_ms)),
        ("95 of 100 pages within", _milliseconds(times.p95_ms)),
        ("HTML read", size(times.bytes)),
        ("Pages known over all runs", number(totals.pages)),
        ("Links known over all runs", number(totals.links)),
    ]
    return ["## Overall", "", *table(("Figure", "Value"), rows, right=" >")]


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{number(value)} ms"


def by_state(states: States) -> list[str]:
    """Pages by state, in the order of a page's life."""
    rows = [
        (f"`{state.value}`", number(states[state]), MEANINGS[state])
        for state in PageState
        if state in states
    ]
    return ["## Pages by state", "", *table(("State", "Pages", "Meaning"), rows, right=" >")]


def by_depth(territory: Territory) -> list[str]:
    """Pages and new domains by distance from the nearest origin."""
    rows = [
        (
            "not settled" if count.depth is None else str(count.depth),
            number(count.pages),
            number(count.read),
            number(count.new_domains),
        )
        for count in territory.depths
    ]
    header = ("Depth", "Pages", "Read", "New domains")
    lines = ["## Depth", "", *table(header, rows, right=">>>>")]
    if any(count.depth is None for count in territory.depths):
        lines += ["", "Depths are settled when a run closes in good order."]
    return lines


def quality_domains(territory: Territory) -> list[str]:
    """The domains that the user listed."""
    if not territory.quality:
        return ["## Quality domains", "", "None was reached."]
    rows = [
        (code(domain.name), number(domain.pages), number(domain.read), code(domain.title or ""))
        for domain in territory.quality
    ]
    lines = table(("Domain", "Pages", "Read", "Home page"), rows, right=" >>")
    return ["## Quality domains", "", *lines, *_more(territory.quality_domains, len(rows))]


def other_domains(territory: Territory) -> list[str]:
    """The domains that the crawl found."""
    if not territory.others:
        return ["## Other domains", "", "None was reached."]
    rows = [
        (
            code(domain.name),
            number(domain.pages),
            number(domain.read),
            _range(domain),
            code(domain.title or ""),
        )
        for domain in territory.others
    ]
    lines = table(("Domain", "Pages", "Read", "Depth", "Home page"), rows, right=" >>>")
    return ["## Other domains", "", *lines, *_more(territory.other_domains, len(rows))]


def _range(domain: Domain) -> str:
    if domain.nearest is None:
        return "-"
    one = domain.nearest == domain.farthest
    return str(domain.nearest) if one else f"{domain.nearest} to {domain.farthest}"


def _more(all_of_them: int, shown: int) -> list[str]:
    return ["", f"And {number(all_of_them - shown)} more."] if all_of_them > shown else []


def listed_urls(title: str, urls: Sequence[ListedUrl], states: States) -> list[str]:
    """The most linked URLs of one of the two lists."""
    if not urls:
        return [f"## {title} URLs", "", "None was linked to."]
    rows = [(number(listed.references), code_url(listed.url)) for listed in urls]
    known = states.get(PageState(title.lower()), 0)
    lines = table(("Links", "URL"), rows, right=">")
    return [f"## {title} URLs", "", *lines, *_more(known, len(rows))]


def errors(found: Errors) -> list[str]:
    """What went wrong, by kind."""
    if not found.kinds:
        return ["## Errors", "", "None."]
    shown = found.kinds[:30]
    rows = [(code(kind.kind), number(kind.pages), f"`{kind.state}`") for kind in shown]
    lines = table(("Kind", "Pages", "State"), rows, right=" >")
    rest = sum(kind.pages for kind in found.kinds[30:])
    more = ["", f"And {plural(rest, 'page')} with other errors."] if rest else []
    return ["## Errors", "", *lines, *more]


def rate_limited(limited: LimitedHosts) -> list[str]:
    """Who asked for a pause, when, and until when."""
    if not limited.count:
        return ["## Rate limited domains", "", "None."]
    rows = [
        (
            code(host.name),
            "an earlier run" if host.at_request is None else f"request {number(host.at_request)}",
            moment(host.retry_after) if host.retry_after else "not said",
        )
        for host in limited.hosts
    ]
    lines = table(("Domain", "Limited at", "Come back after"), rows)
    return ["## Rate limited domains", "", *lines, *_more(limited.count, len(rows))]


def not_crawled(
    states: States,
    found: Errors,
    closed: Mapping[PageState, ClosedHosts],
    left_out: Sequence[LeftOut] = (),
    had_their_visits: int = 0,
) -> list[str]:
    """What the run knows of and did not ask for, and why."""
    waiting = sum(states.get(state, 0) for state in WAITING)
    others = sum(each.pages for each in left_out[MOST_REASONS:])
    reasons = [
        ("deeper than allowed", states.get(PageState.DEPTH_EXCEEDED, 0), ""),
        _closed_row(
            "request budget of the domain spent", PageState.REQUEST_LIMIT_HIT, states, closed
        ),
        _closed_row("enough subdomains of the root", PageState.SUBDOMAIN_LIMIT_HIT, states, closed),
        ("forbidden by robots.txt", found.robots_denied, ""),
        ("the domain asked for a pause", states.get(PageState.RATE_LIMITED, 0), ""),
        ("visited as often as allowed in earlier runs", had_their_visits, ""),
        ("blacklisted", states.get(PageState.BLACKLISTED, 0), ""),
        ("stubbed", states.get(PageState.STUBBED, 0), ""),
        *((code(each.reason or "", 100), each.pages, "") for each in left_out[:MOST_REASONS]),
        ("other rules and trap guards", others, ""),
        ("waiting when this was written", waiting, ""),
    ]
    rows = [(why, number(pages), where) for why, pages, where in reasons if pages]
    if not rows:
        return ["## Not crawled", "", "Nothing: every page that was reached was asked for."]
    return ["## Not crawled", "", *table(("Why", "Pages", "Domains"), rows, right=" >")]


def _closed_row(
    why: str, state: PageState, states: States, closed: Mapping[PageState, ClosedHosts]
) -> tuple[str, int, str]:
    hosts = closed[state]
    names = ", ".join(code(name) for name in hosts.names)
    more = hosts.count - len(hosts.names)
    return why, states.get(state, 0), f"{names} and {number(more)} more" if more else names


def earlier_runs(runs: Sequence[RunRecord]) -> list[str]:
    """The runs before this one, newest first; nothing if there are none."""
    if not runs:
        return []
    rows = []
    for run in runs:
        took = "-"
        if run.finished_at:
            took = duration((parsed(run.finished_at) - parsed(run.started_at)).total_seconds())
        fetched = _metric(run, "pages_fetched")
        shown = "-" if fetched is None else number(fetched)
        rows.append((str(run.id), moment(run.started_at), took, shown, run.status))
    header = ("Run", "Started", "Duration", "Pages fetched", "Status")
    return ["## Earlier runs", "", *table(header, rows, right="> >>")]


def _metric(run: RunRecord, name: str) -> int | None:
    """Return a figure from what the run left in the database, if it left any."""
    try:
        value = json.loads(run.metrics or "{}").get(name)
    except (ValueError, AttributeError):
        return None
    return value if isinstance(value, int) else None
