"""The short text of `terrain stats`."""

from terrain.reports.escape import plain
from terrain.reports.status import lasted, status_of
from terrain.reports.wording import moment, number, plural
from terrain.rules.states import WAITING, PageState
from terrain.store.queries import TerrainReader

SHOWN_HOSTS = 5


def render_stats(reader: TerrainReader, *, now: float) -> str:
    """Return a dozen lines about the newest run; a single scan, so quick at any size."""
    run = reader.run
    states = reader.states()
    totals = reader.totals()
    reached = sum(states.values())
    waiting = sum(states.get(state, 0) for state in WAITING)
    rows = [
        ("run", f"{run.id}, {status_of(reader)}"),
        ("started", f"{moment(run.started_at)}, {lasted(reader, now)}"),
        ("pages", f"{number(reached)} reached, {number(waiting)} waiting"),
    ]
    rows += [(f"  {state.value}", number(states[state])) for state in PageState if state in states]
    rows += _limited(reader)
    rows.append(("domains", f"{number(reader.domains_met())} met"))
    known = f"{plural(totals.pages, 'page')} on {plural(totals.domains, 'domain')}"
    rows.append(("terrain", f"{known}, {plural(totals.links, 'link')}, over all runs"))
    width = max(len(name) for name, _ in rows) + 2
    return "".join(f"{name:<{width}}{value}\n" for name, value in rows)


def _limited(reader: TerrainReader) -> list[tuple[str, str]]:
    limited = reader.limited_hosts(SHOWN_HOSTS)
    if not limited.count:
        return []
    names = ", ".join(plain(host.name) for host in limited.hosts)
    more = limited.count - len(limited.hosts)
    return [("rate limited", names + (f" and {number(more)} more" if more else ""))]
