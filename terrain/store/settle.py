"""The exact depths of a run, for all origins at once.

A breadth-first search, level by level, over the links this run saw, done inside the database so
that memory does not grow with the terrain. Origins are bits: one pass carries all of them. Pages
that the run did not reach keep the depths of earlier runs.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    select,
)
from sqlalchemy.sql import Select, Subquery

from terrain.rules.links import LinkKind
from terrain.store.policy import Policy
from terrain.store.schema import BITS_PER_WORD, host, link, origin, page, page_depth
from terrain.store.statements import insert_for

_scratch = MetaData()


def _masks(name: str) -> Table:
    return Table(
        name,
        _scratch,
        Column("page_id", BigInteger, primary_key=True, autoincrement=False),
        Column("word", SmallInteger, primary_key=True, autoincrement=False),
        Column("mask", BigInteger, nullable=False),
        prefixes=["TEMPORARY"],
        sqlite_with_rowid=False,
    )


_wave = _masks("settle_wave")  # arriving at this depth
_fresh = _masks("settle_fresh")  # the part of it that is new
_seen = _masks("settle_seen")  # all that arrived at this or a smaller depth
_level = _masks("settle_level")  # all that is new at this depth
_host_mask = Table(
    "settle_host",
    _scratch,
    Column("host_id", BigInteger, primary_key=True, autoincrement=False),
    Column("word", SmallInteger, primary_key=True, autoincrement=False),
    Column("mask", BigInteger, nullable=False),
    prefixes=["TEMPORARY"],
)
_allowed = Table(
    "settle_allowed",
    _scratch,
    Column("word", Integer, primary_key=True, autoincrement=False),
    Column("mask", BigInteger, nullable=False),
    prefixes=["TEMPORARY"],
)


def settle_depths(connection: Connection, policy: Policy, run: int) -> None:
    """Work out and write the depths of every page that the run reached."""
    _scratch.drop_all(connection)
    _scratch.create_all(connection)
    try:
        bits = _origin_bits(connection, policy)
        _forget_old_depths(connection, run)
        _own_pages(connection, policy, bits, run)
        depth = 0
        while _arrive(connection, run):
            _keep(connection, depth)
            _next_level(connection, bits, policy.depth.limits, depth, run)
            depth += 1
    finally:
        _scratch.drop_all(connection)


def _origin_bits(connection: Connection, policy: Policy) -> list[tuple[int, int]]:
    """Return (word, bit) of each origin, giving a place to those not known yet."""
    places = {row.name: int(row.id) for row in connection.execute(select(origin))}
    for name in policy.origins:
        if name not in places:
            places[name] = max(places.values(), default=-1) + 1
            connection.execute(insert(origin).values(id=places[name], name=name))
    return [divmod(places[name], BITS_PER_WORD) for name in policy.origins]


def _forget_old_depths(connection: Connection, run: int) -> None:
    reached = exists().where(page.c.id == page_depth.c.page_id, page.c.run == run)
    connection.execute(delete(page_depth).where(reached))


def _own_pages(
    connection: Connection, policy: Policy, bits: list[tuple[int, int]], run: int
) -> None:
    """Depth 0: every reached page on a host that matches an origin."""
    rows = []
    for key, name in connection.execute(select(host.c.id, host.c.name).where(host.c.run == run)):
        masks: dict[int, int] = {}
        for index in policy.host_rules.origins(name):
            word, bit = bits[index]
            masks[word] = masks.get(word, 0) | (1 << bit)
        rows += [{"host_id": key, "word": word, "mask": mask} for word, mask in masks.items()]
    if not rows:
        return
    connection.execute(insert(_host_mask), rows)
    own = (
        select(page.c.id, _host_mask.c.word, _host_mask.c.mask)
        .join(_host_mask, _host_mask.c.host_id == page.c.host_id)
        .where(page.c.run == run)
    )
    connection.execute(insert(_wave).from_select(["page_id", "word", "mask"], own))


def _arrive(connection: Connection, run: int) -> bool:
    """Take in the wave at one depth, through redirects too, which cost no depth."""
    connection.execute(delete(_level))
    any_new = False
    while True:
        connection.execute(delete(_fresh))
        known = func.coalesce(_seen.c.mask, 0)
        new = _wave.c.mask.op("&")(literal(-1) - known)  # -1 - x is ~x, in both dialects
        arrived = (
            select(_wave.c.page_id, _wave.c.word, new)
            .outerjoin(
                _seen, and_(_seen.c.page_id == _wave.c.page_id, _seen.c.word == _wave.c.word)
            )
            .where(new != 0)
        )
        connection.execute(insert(_fresh).from_select(["page_id", "word", "mask"], arrived))
        if not connection.scalar(select(exists(select(_fresh.c.page_id)))):
            return any_new
        any_new = True
        everything = select(_fresh.c.page_id, _fresh.c.word, _fresh.c.mask)
        _merge(connection, _seen, everything)
        _merge(connection, _level, everything)
        connection.execute(delete(_wave))
        _merge(connection, _wave, _along(_fresh, run, redirect=True))


def _keep(connection: Connection, depth: int) -> None:
    found = select(_level.c.page_id, literal(depth), _level.c.word, _level.c.mask)
    connection.execute(insert(page_depth).from_select(["page_id", "depth", "word", "mask"], found))


def _next_level(
    connection: Connection,
    bits: list[tuple[int, int]],
    limits: tuple[int, ...],
    depth: int,
    run: int,
) -> None:
    """Follow links from what is new; an origin's bit goes no further than its limit + 1."""
    allowed: dict[int, int] = {}
    for (word, bit), limit in zip(bits, limits, strict=True):
        if depth <= limit:
            allowed[word] = allowed.get(word, 0) | (1 << bit)
    connection.execute(delete(_wave))
    connection.execute(delete(_allowed))
    if not allowed:
        return
    connection.execute(
        insert(_allowed), [{"word": word, "mask": mask} for word, mask in allowed.items()]
    )
    mask = _level.c.mask.op("&")(_allowed.c.mask)
    onward = (
        select(_level.c.page_id, _level.c.word, mask.label("mask"))
        .join(_allowed, _allowed.c.word == _level.c.word)
        .where(mask != 0)
        .subquery()
    )
    _merge(connection, _wave, _along(onward, run, redirect=False))


def _along(sources: Table | Subquery, run: int, *, redirect: bool) -> Select[tuple[int, int, int]]:
    """Select where the present links of pages read in this run lead, with the sources' masks."""
    kind: ColumnElement[int] = literal_column(str(int(LinkKind.REDIRECT)))
    columns = sources.c
    return (
        select(link.c.to_id, columns.word, columns.mask)
        .select_from(sources)
        .join(page, and_(page.c.id == columns.page_id, page.c.read_run == run))
        .join(
            link,
            and_(
                link.c.from_id == columns.page_id,
                link.c.kind == kind if redirect else link.c.kind != kind,
                link.c.last_run.is_(None),
            ),
        )
    )


def _merge(connection: Connection, table: Table, rows: Select[tuple[int, int, int]]) -> None:
    """Insert masks, or-ing them with what is there for the same page and word."""
    names = ["page_id", "word", "mask"]
    if connection.dialect.name == "postgresql":
        # PostgreSQL wants each key once per statement, and has the aggregate SQLite lacks.
        part = rows.subquery()
        key, word, mask = part.c
        rows = select(key, word, func.bit_or(mask)).group_by(key, word)
    else:
        # Without a WHERE, SQLite's parser takes ON CONFLICT for a join's ON.
        rows = rows.where(literal_column("1") == literal_column("1"))
    statement = insert_for(connection.dialect, table).from_select(names, rows)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["page_id", "word"],
            set_={"mask": table.c.mask.op("|")(statement.excluded.mask)},
        )
    )
