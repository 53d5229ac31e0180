"""The tables as they are inside; the public names of the design are views over them (views.py).

Two rules shape them. What every link of every page touches is narrow (`page`, `link`,
`frontier_entry`); what is written once per visit lies apart (`page_address`, `page_fact`,
`visits`). And ids are computed from names (rules/urls.py), so that links are written without
reading: there is no foreign key on `link`, and a test looks for orphans instead.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)

# In SQLite only a column of type INTEGER is the row's own key; BIGINT would cost a second index.
Id = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    # The configuration the run is under now; earlier ones are in run_events.
    Column("config_hash", Text, nullable=False),
    # Origins and depth limits: they fix what the stored radii mean, so they never change in a run.
    Column("terrain_hash", Text, nullable=False),
    Column("status", Text, nullable=False),
    # The token that a JOBDIR holds to name this run.
    Column("job", Text, unique=True),
    # The run's metrics as JSON, written when a process on it ends.
    Column("metrics", Text),
    CheckConstraint("status IN ('running', 'completed', 'interrupted')", name="status"),
)

run_events = Table(
    "run_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", Integer, ForeignKey("runs.id"), nullable=False),
    Column("at", Text, nullable=False),
    # started, resumed, config_changed, closed, ...
    Column("kind", Text, nullable=False),
    Column("detail", Text),
)

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

origin = Table(
    "origin",
    metadata,
    # The id is also the place of the origin's bit in page_depth.mask.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)

host = Table(
    "host",
    metadata,
    # Computed from the name: rules/urls.py.
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("root", Text, nullable=False),
    # The id of the home page, known or not.
    Column("home_id", Id, nullable=False),
    Column("created_at", Text, nullable=False),
    # The run that the next columns speak of.
    Column("run", Integer, nullable=False),
    # open, or the state that the host's waiting pages get without being asked.
    Column("run_state", Text, nullable=False),
    # Requests reserved in that run; exact once the process that reserved them has left.
    Column("requests", Integer, nullable=False),
    # 1 once the subdomain cap let the host in.
    Column("admitted", SmallInteger, nullable=False),
    # The process that holds reservations, so may have requests out; not ours: it crashed.
    Column("session", Text),
    # When a process last gave its reservations back (epoch ms): no request went out after that.
    Column("asked_at", Id),
    # ISO time before which a 429 or 503 asked us not to come back.
    Column("retry_after", Text),
    # How many requests the host had answered when it said 429.
    Column("limited_at_request", Integer),
    # Rows of `visits` on its pages, over all runs (store/rollup.py).
    Column("crawl_count", Integer, nullable=False),
)

root_state = Table(
    "root_state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("run", Integer, nullable=False),
    # How many subdomains of this root the run has admitted.
    Column("subdomains", Integer, nullable=False),
    sqlite_with_rowid=False,
)

robots = Table(
    "robots",
    metadata,
    # Scheme, host and port of the fetch URL: https://www.example.com
    Column("origin", Text, primary_key=True),
    Column("host_id", Id, nullable=False),
    # Status of the final answer; NULL when none came.
    Column("status", Integer),
    Column("body", Text),
    Column("fetched_at", Text, nullable=False),
    Column("expires_at", Integer, nullable=False),
    Index(None, "host_id"),
    sqlite_with_rowid=False,
)

page = Table(
    "page",
    metadata,
    # rules.urls.page_key(identity): the id, and a second hash that betrays a collision.
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("check_hash", Integer, nullable=False),
    Column("host_id", Id, nullable=False),
    Column("state", Text, nullable=False),
    # The newest run that reached the page; an older one: not seen yet in the newest run.
    Column("run", Integer, nullable=False),
    # The newest run that read its links, 0 for none.
    Column("read_run", Integer, nullable=False),
    # max over origins of (limit - depth): crawlable if not negative (rules/depth.py).
    Column("radius", SmallInteger, nullable=False),
    # Redirect hops from the nearest seed or ordinary link.
    Column("hops", SmallInteger, nullable=False),
    # Hops within this identity (/docs -> /docs/) in the newest visit.
    Column("own_hops", SmallInteger, nullable=False),
    # Why redirects make the page `failed` (store/faults.py), 0 for no fault.
    Column("fault", SmallInteger, nullable=False),
    # Order of arrival; with radius it is the key of the page's frontier entry.
    Column("seq", Id, nullable=False),
    Index("ix_page_fetching", "id", sqlite_where=text("state = 'fetching'")),
)

page_address = Table(
    "page_address",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False),
    # NULL where it is the identity itself.
    Column("fetch_url", Text),
    Column("discovered_run", Integer, nullable=False),
    Column("discovered_at", Text, nullable=False),
)

page_fact = Table(
    "page_fact",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("title", Text),
    Column("description", Text),
    Column("status_code", SmallInteger),
    Column("content_type", Text),
    Column("last_modified", Text),
    Column("etag", Text),
    Column("content_hash", Text),
    Column("language", Text),
    Column("canonical_url", Text),
    Column("meta_robots", Text),
    Column("bytes", Id),
    Column("fetch_ms", Integer),
    Column("visited_at", Text),
    Column("error_message", Text),
    Column("retry_count", Integer, nullable=False, server_default=text("0")),
)

visits = Table(
    "visits",
    metadata,
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
    Column("status_code", SmallInteger),
    Column("title", Text),
    Column("content_hash", Text),
    Column("bytes", Id),
    Column("fetch_ms", Integer),
    Column("visited_at", Text),
    Column("error_message", Text),
    sqlite_with_rowid=False,
)

link = Table(
    "link",
    metadata,
    Column("from_id", Id, primary_key=True, autoincrement=False),
    Column("to_id", Id, primary_key=True, autoincrement=False),
    # rules.links.LinkKind and Position, as numbers.
    Column("kind", SmallInteger, nullable=False),
    Column("position", SmallInteger, nullable=False),
    Column("anchor", Text),
    Column("rel", Text),
    Column("first_run", Integer, nullable=False),
    # NULL while the link was there when its source was last read; else the last run that saw it.
    Column("last_run", Integer),
    # 1 if the target was ever blacklisted or stubbed: keeps their referrers cheap to find.
    Column("listed", SmallInteger, nullable=False),
    # There is no full index on the target while a run is on: it would double the cost of a page.
    # store/runs.py builds it when the run closes and drops it when the next one opens.
    Index("ix_link_redirect", "to_id", sqlite_where=text("kind = 0")),
    # Holds all that counting references needs, so that a summary does not look every link up.
    Index("ix_link_listed", "to_id", "last_run", "listed", sqlite_where=text("listed = 1")),
    sqlite_with_rowid=False,
)

edge = Table(
    "edge",
    metadata,
    # Links rolled up by host, kept in step with `link` in the same transaction (store/rollup.py).
    Column("from_host", Id, primary_key=True, autoincrement=False),
    Column("to_host", Id, primary_key=True, autoincrement=False),
    # Never 0: a row that comes to that is deleted.
    Column("weight", Id, nullable=False),
    sqlite_with_rowid=False,
)

REVERSE_INDEX = "ix_link_to"
"""The index on links by target that exists only while no run is on."""

frontier_entry = Table(
    "frontier_entry",
    metadata,
    Column("host_id", Id, primary_key=True, autoincrement=False),
    Column("priority", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", Id, primary_key=True, autoincrement=False),
    Column("page_id", Id, nullable=False),
    Column("added_at", Text, nullable=False),
    sqlite_with_rowid=False,
)

page_depth = Table(
    "page_depth",
    metadata,
    # At this depth the page is reached from the origins whose bits are set: origin o has bit
    # o % 62 of word o // 62. One row serves up to 62 origins, whatever their number.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("depth", SmallInteger, primary_key=True, autoincrement=False),
    Column("word", SmallInteger, primary_key=True, autoincrement=False),
    Column("mask", Id, nullable=False),
    sqlite_with_rowid=False,
)

revisit = Table(
    "revisit",
    metadata,
    # By domain: nodes that the newest run visits again, at depth 0 from these origins, as in
    # page_depth. Depths are settled from here and from the origins' own hosts.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("word", SmallInteger, primary_key=True, autoincrement=False),
    Column("mask", Id, nullable=False),
    sqlite_with_rowid=False,
)

BITS_PER_WORD = 62
"""Origins per mask word: a signed 64-bit integer with room to spare."""


def say_conditions(dialect: Dialect) -> None:
    """Give the partial indexes their condition in the dialect's words, before they are made.

    Written at the index itself, PostgreSQL's word alone would load its dialect in every crawl.
    """
    for table in metadata.tables.values():
        for index in table.indexes:
            condition = index.dialect_options["sqlite"]["where"]
            if condition is not None:
                index.dialect_options[dialect.name]["where"] = condition
