"""The public names of the database (design 4.3), as views over the tables inside.

Views are code, not data: they are not part of the migrations but made anew whenever their text
here differs from what the database holds.
"""

import hashlib

from sqlalchemy import Connection, delete, insert, select, text

from terrain.rules.links import LinkKind, Position
from terrain.rules.states import WAITING, PageState
from terrain.store.schema import BITS_PER_WORD, meta

_META_KEY = "views"


def _words(column: str, words: dict[int, str]) -> str:
    """SQL that turns a small number into its public word."""
    cases = " ".join(f"WHEN {number} THEN '{word}'" for number, word in words.items())
    return f"CASE {column} {cases} END"


_KIND = _words("l.kind", {kind.value: kind.word for kind in LinkKind})
_POSITION = _words("l.position", {position.value: position.word for position in Position})


# These states have no reason to give: a message kept with the facts is of an earlier run.
_SILENT = ", ".join(
    f"'{state.value}'"
    for state in PageState
    if state in WAITING
    or state in {PageState.DEPTH_EXCEEDED, PageState.BLACKLISTED, PageState.STUBBED}
)


def _listed(state: str) -> dict[str, str]:
    """Return the two views over pages with a listed state and the pages that refer to them."""
    return {
        f"{state}_urls": f"""
            SELECT p.id, a.url, h.name AS domain,
                   (SELECT count(*) FROM link l
                     WHERE l.listed = 1 AND l.to_id = p.id AND l.last_run IS NULL)
                     AS reference_count,
                   a.discovered_run AS first_seen_run
              FROM (SELECT DISTINCT to_id FROM link WHERE listed = 1) AS target
              JOIN page p ON p.id = target.to_id
              JOIN page_address a ON a.id = p.id
              JOIN host h ON h.id = p.host_id
             WHERE p.state = '{state}'""",
        f"{state}_referrers": f"""
            SELECT l.to_id AS {state}_url_id, l.from_id AS referrer_page_id,
                   l.first_run AS discovered_run
              FROM link l JOIN page p ON p.id = l.to_id
             WHERE l.listed = 1 AND l.last_run IS NULL AND p.state = '{state}'""",
    }


VIEWS: dict[str, str] = {
    "pages": f"""
        SELECT p.id, a.url, COALESCE(a.fetch_url, a.url) AS fetch_url, h.name AS domain, p.state,
               f.title, f.description, f.status_code, f.content_type, f.last_modified, f.etag,
               f.content_hash, f.language, f.canonical_url, f.meta_robots, f.bytes, f.fetch_ms,
               f.visited_at, a.discovered_at, a.discovered_run, p.run AS last_run,
               CASE WHEN p.state IN ({_SILENT}) THEN NULL ELSE f.error_message END
                 AS error_message,
               COALESCE(f.retry_count, 0) AS retry_count
          FROM page p
          JOIN page_address a ON a.id = p.id
          JOIN host h ON h.id = p.host_id
          LEFT JOIN page_fact f ON f.id = p.id""",
    "links": f"""
        SELECT l.from_id AS from_page_id, l.to_id AS to_page_id, {_KIND} AS kind,
               l.anchor, l.rel, {_POSITION} AS position, l.first_run AS discovered_run,
               COALESCE(l.last_run, p.read_run) AS last_run
          FROM link l JOIN page p ON p.id = l.from_id""",
    "page_depths": f"""
        SELECT d.page_id, o.name AS quality_origin, d.depth
          FROM page_depth d
          JOIN origin o ON o.id / {BITS_PER_WORD} = d.word
                       AND (d.mask >> (o.id % {BITS_PER_WORD})) & 1 = 1""",
    **_listed("blacklisted"),
    **_listed("stubbed"),
    "domain_states": """
        SELECT h.name AS domain, h.root, h.requests AS request_count,
               CASE WHEN h.run_state = 'rate_limited' THEN 1 ELSE 0 END AS rate_limited,
               h.retry_after, r.body AS robots_txt, r.fetched_at AS robots_fetched_at
          FROM host h
          LEFT JOIN robots r ON r.origin = (
               SELECT origin FROM robots WHERE host_id = h.id
                ORDER BY fetched_at DESC, origin LIMIT 1)""",
    "frontier": "SELECT page_id, priority, added_at FROM frontier_entry",
    "nodes": """
        SELECT h.id AS node_id, h.name AS domain_name,
               COALESCE(NULLIF(f.description, ''), f.title) AS description,
               h.crawl_count, h.created_at
          FROM host h
          LEFT JOIN page_fact f ON f.id = h.home_id""",
    "edges": """
        SELECT from_host AS from_node_id, to_host AS to_node_id, weight FROM edge""",
}
"""Name → defining query, in an order in which they can be created."""


def refresh_views(connection: Connection) -> None:
    """Make the views what this module says, if they are not."""
    wanted = hashlib.blake2b(repr(VIEWS).encode(), digest_size=16).hexdigest()
    if connection.scalar(select(meta.c.value).where(meta.c.key == _META_KEY)) == wanted:
        return
    for name, query in VIEWS.items():
        connection.execute(text(f"DROP VIEW IF EXISTS {name}"))
        connection.execute(text(f"CREATE VIEW {name} AS {query}"))
    connection.execute(delete(meta).where(meta.c.key == _META_KEY))
    connection.execute(insert(meta).values(key=_META_KEY, value=wanted))
