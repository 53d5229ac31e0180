"""Nodes and edges against a recomputation from pages, visits and links.

They are kept batch by batch (terrain/store/rollup.py), so after whatever happened to a terrain they
must be what one GROUP BY over everything gives.
"""

from collections.abc import Callable, Iterable
from typing import Any

Rows = Callable[[str], Iterable[Any]]
"""Runs a query."""

NODES = "SELECT domain_name, description, crawl_count FROM nodes"

EXPECTED_NODES = """
    SELECT p.domain, min(COALESCE(NULLIF(home.description, ''), home.title)),
           (SELECT count(*) FROM visits v JOIN pages q ON q.id = v.page_id
             WHERE q.domain = p.domain)
      FROM pages p LEFT JOIN pages home ON home.url = 'https://' || p.domain || '/'
     GROUP BY p.domain"""

EDGES = """
    SELECT s.domain_name, t.domain_name, weight FROM edges
      JOIN nodes s ON s.node_id = from_node_id JOIN nodes t ON t.node_id = to_node_id"""

# That a link was there when its source was last read, only the table inside says outright.
EXPECTED_EDGES = """
    SELECT s.domain, t.domain, count(*) FROM link l
      JOIN pages s ON s.id = l.from_id JOIN pages t ON t.id = l.to_id
     WHERE l.last_run IS NULL AND s.domain <> t.domain
     GROUP BY s.domain, t.domain"""

# By domain a weight counts the visits that saw the link: at most those between the first and the
# last that did; if these are two at most, exactly so many.
EXPECTED_SIGHTINGS = """
    SELECT s.domain, t.domain,
           (SELECT count(*) FROM visits v WHERE v.page_id = l.from_page_id
               AND v.run_id BETWEEN l.discovered_run AND l.last_run
               AND v.state NOT IN ('unreachable', 'dead_link', 'content_mismatch', 'rate_limited'))
      FROM links l JOIN pages s ON s.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id"""

GRANULARITY = "SELECT value FROM meta WHERE key = 'granularity'"


def check_rollup(rows: Rows) -> None:
    """Compare `nodes` and `edges` with what they roll up."""
    expected = {domain: facts for domain, *facts in rows(EXPECTED_NODES)}
    nodes = {domain: facts for domain, *facts in rows(NODES)}
    # A host may be known before any page of it is; then there is nothing to say about it.
    assert nodes == {domain: [None, 0] for domain in nodes} | expected
    edges = _sorted(rows(EDGES))
    assert len(edges) == next(iter(rows("SELECT count(*) FROM edges")))[0], "an edge to no node"
    if [value for (value,) in rows(GRANULARITY)] != ["domain"]:
        assert edges == _sorted(rows(EXPECTED_EDGES))
        return
    most = {(source, target): visits for source, target, visits in rows(EXPECTED_SIGHTINGS)}
    assert {edge[:2] for edge in edges} == set(most)
    for source, target, weight in edges:
        visits = most[source, target]
        assert min(visits, 2) <= weight <= visits, (source, target, weight, visits)


def _sorted(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=repr)
