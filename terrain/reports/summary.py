"""`crawl-summary.md`: what a run found, for a person to read."""

from collections.abc import Sequence
from urllib.parse import quote

from terrain.reports import sections
from terrain.reports.errors import gather
from terrain.rules.states import PageState
from terrain.store.policy import Policy
from terrain.store.queries import LeftOut, TerrainReader

MOST_QUALITY = 100
MOST_OTHERS = 50
MOST_LISTED = 20
MOST_LIMITED = 50
MOST_CLOSED = 5
MOST_RUNS = 10


def render_summary(
    reader: TerrainReader, policy: Policy, *, now: float, picture: str | None = None
) -> str:
    """Return the summary of the newest run.

    `picture` is the path of the picture as seen from the summary; it is shown near the top.
    """
    territory = reader.territory(policy, most_quality=MOST_QUALITY, most_others=MOST_OTHERS)
    errors = gather(reader.failures())
    listed = reader.listed(MOST_LISTED)
    states = territory.states
    closed = {
        state: reader.closed_hosts(state, MOST_CLOSED)
        for state in (PageState.REQUEST_LIMIT_HIT, PageState.SUBDOMAIN_LIMIT_HIT)
    }
    parts = [
        sections.heading(reader, now),
        _picture(picture),
        sections.overall(territory, reader.totals(), reader.fetch_times()),
        sections.by_state(states),
        sections.by_depth(territory),
        sections.quality_domains(territory),
        sections.other_domains(territory),
        sections.listed_urls("Blacklisted", listed[PageState.BLACKLISTED], states),
        sections.listed_urls("Stubbed", listed[PageState.STUBBED], states),
        sections.errors(errors),
        sections.rate_limited(reader.limited_hosts(MOST_LIMITED)),
        sections.not_crawled(
            states, errors, closed, _left_out(reader, states), reader.had_their_visits(policy)
        ),
        sections.earlier_runs(reader.history(MOST_RUNS + 1)[1:]),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _left_out(reader: TerrainReader, states: sections.States) -> Sequence[LeftOut]:
    # Looked up only if there is something to find: it is one more pass over the pages.
    return reader.left_out() if PageState.DISCOVERED in states else ()


def _picture(path: str | None) -> Sequence[str]:
    if path is None:
        return ()
    return (f"![The domains of this terrain and the links between them]({quote(path)})",)
