"""By domain: which nodes a new run visits again, from where, and what becomes of the others.

A node that has been visited, and not yet as often as allowed, is a starting point of the next run:
depth 0 from the origins it was last reached from. Where these are not known (the run that visited
it was killed and given up) or no longer among the quality entries, it starts from all of them. A
node that has had its visits is not asked again, by whatever it is reached; it keeps what its last
visit found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Dialect, bindparam, delete, select

from terrain.rules.urls import Address, home_of, page_key
from terrain.store.policy import Policy
from terrain.store.schema import BITS_PER_WORD, host, origin, page_depth, revisit, visits
from terrain.store.statements import Lookup, Prepared, Values, insert_into

CHUNK = 1_000
"""Nodes reached in one go: memory holds so many, however large the terrain is."""


@dataclass(frozen=True, slots=True)
class Revisit:
    """A node to visit again."""

    address: Address
    radius: int


class Revisits:
    """What earlier runs mean to this one; without effect in a crawl by page."""

    def __init__(self, policy: Policy, dialect: Dialect) -> None:
        self._policy = policy
        self._due = Prepared(
            select(host.c.id, host.c.name, host.c.home_id)
            .where(
                host.c.id > bindparam("after"),
                host.c.crawl_count > bindparam("none"),
                host.c.crawl_count < bindparam("enough"),
            )
            .order_by(host.c.id)
            .limit(bindparam("most")),
            dialect,
            ["after", "none", "enough", "most"],
        )
        columns = [page_depth.c.page_id, page_depth.c.word, page_depth.c.mask]
        self._depths = Lookup(columns, page_depth.c.page_id, dialect)
        self._insert = insert_into(revisit, dialect)
        self._last = Prepared(
            select(visits.c.state, visits.c.error_message)
            .where(visits.c.page_id == bindparam("page"))
            .order_by(visits.c.run_id.desc())
            .limit(1),
            dialect,
            ["page"],
        )

    def spent(self, crawl_count: int) -> bool:
        """Tell whether a node has had its visits before this run."""
        most = self._policy.max_crawls
        return most is not None and crawl_count >= most

    def last_visit(self, connection: Connection, page: int) -> tuple[str, str | None]:
        """Return state and error message of a page's newest visit."""
        state, message = self._last.all(connection, (page,))[0]
        return state, message

    def begin(self, connection: Connection) -> Iterator[list[Revisit]]:
        """Choose the nodes that a new run visits again and keep from where they start."""
        connection.execute(delete(revisit))
        most = self._policy.max_crawls
        if most is None:
            return
        bits = origin_bits(connection, self._policy)
        after = -1
        while found := self._due.all(connection, (after, 0, most, CHUNK)):
            after = found[-1][0]
            known: dict[int, dict[int, int]] = {}
            for page, word, mask in set(
                map(tuple, self._depths.rows(connection, [home for _, _, home in found]))
            ):
                words = known.setdefault(page, {})
                words[word] = words.get(word, 0) | mask
            rows: list[Values] = []
            batch: list[Revisit] = []
            for _, name, home in found:
                origins = _among(bits, known.get(home, {})) or range(len(bits))
                rows += [(home, *row) for row in _masks(bits, origins)]
                identity = home_of(name)
                address = Address(identity, identity, name, *page_key(identity))
                radius = max(self._policy.depth.limits[index] for index in origins)
                batch.append(Revisit(address, radius))
            self._insert.many(connection, rows)
            yield batch


def origin_bits(connection: Connection, policy: Policy) -> list[tuple[int, int]]:
    """Return (word, bit) of each origin, giving a place to those not known yet."""
    places = {row.name: int(row.id) for row in connection.execute(select(origin))}
    for name in policy.origins:
        if name not in places:
            places[name] = max(places.values(), default=-1) + 1
            connection.execute(origin.insert().values(id=places[name], name=name))
    return [divmod(places[name], BITS_PER_WORD) for name in policy.origins]


def _among(bits: Sequence[tuple[int, int]], masks: dict[int, int]) -> list[int]:
    """Return the origins of this configuration whose bits are set."""
    return [index for index, (word, bit) in enumerate(bits) if masks.get(word, 0) >> bit & 1]


def _masks(bits: Sequence[tuple[int, int]], origins: Sequence[int]) -> list[tuple[int, int]]:
    """Return (word, mask) with the bits of some origins set."""
    masks: dict[int, int] = {}
    for index in origins:
        word, bit = bits[index]
        masks[word] = masks.get(word, 0) | 1 << bit
    return list(masks.items())
