"""Blacklisted and stubbed URLs by how often they are linked to."""

from sqlalchemy import ColumnElement, Connection, func, literal_column, select

from terrain.rules.states import PageState
from terrain.store.queries.records import ListedUrl
from terrain.store.schema import link, page, page_address

LISTED = (PageState.BLACKLISTED, PageState.STUBBED)


def most_linked(connection: Connection, run: int, most: int) -> dict[PageState, list[ListedUrl]]:
    """Return the most linked URLs of each list, in one pass over the links into either.

    The views `blacklisted_urls` and `stubbed_urls` say the same, one URL at a time.
    """
    # As the partial index has it.
    one: ColumnElement[int] = literal_column("1")
    references = (
        select(link.c.to_id, func.count().label("number"))
        .where(link.c.listed == one, link.c.last_run.is_(None))
        .group_by(link.c.to_id)
        .subquery("refs")
    )
    place = func.row_number().over(
        partition_by=page.c.state, order_by=[references.c.number.desc(), page.c.id]
    )
    ranked = (
        select(page.c.id, page.c.state, references.c.number, place.label("place"))
        .join(references, references.c.to_id == page.c.id)
        .where(page.c.run == run, page.c.state.in_([state.value for state in LISTED]))
        .subquery("ranked")
    )
    query = (
        select(ranked.c.state, page_address.c.url, ranked.c.number)
        .join(page_address, page_address.c.id == ranked.c.id)
        .where(ranked.c.place <= most)
    )
    found: dict[PageState, list[ListedUrl]] = {state: [] for state in LISTED}
    for state, url, number in connection.execute(query):
        found[PageState(state)].append(ListedUrl(url, number))
    for urls in found.values():
        urls.sort(key=lambda listed: (-listed.references, listed.url))
    return found
