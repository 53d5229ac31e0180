"""Domains and the edges between them, streamed by their public names `nodes` and `edges`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Text, column, select, table

from terrain.store.queries.records import Edge, Node
from terrain.store.schema import host

STREAM = 1_000
"""Rows fetched at a time: memory does not grow with the terrain. The database sorts, on disk."""

_nodes = table(
    "nodes",
    column("node_id", BigInteger),
    column("domain_name", Text),
    column("description", Text),
    column("crawl_count", BigInteger),
    column("created_at", Text),
)
_edges = table(
    "edges",
    column("from_node_id", BigInteger),
    column("to_node_id", BigInteger),
    column("weight", BigInteger),
)
# Names from the narrow table: the view `nodes` joins more than a name to each end.
_source, _target = host.alias("source"), host.alias("target")

NODE_ORDERS: dict[str, tuple[Any, ...]] = {
    "name": (_nodes.c.domain_name,),
    "visits": (_nodes.c.crawl_count.desc(), _nodes.c.domain_name),
    "created": (_nodes.c.created_at, _nodes.c.domain_name),
}
"""By which domains can be sorted."""

EDGE_ORDERS: dict[str, tuple[Any, ...]] = {
    "weight": (_edges.c.weight.desc(), _source.c.name, _target.c.name),
    "from": (_source.c.name, _target.c.name),
    "to": (_target.c.name, _source.c.name),
}
"""By which edges can be sorted."""


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """Which domains, in which order; what needs the configuration is left to the caller."""

    visited: bool | None = None
    """Only those that were visited in some run, or only the others; None: both."""
    sort: str = "name"


@dataclass(frozen=True, slots=True)
class EdgeQuery:
    """Which edges, in which order."""

    min_weight: int = 1
    sort: str = "weight"


def nodes(connection: Connection, wanted: NodeQuery) -> Iterator[Node]:
    """Stream domains."""
    query = select(
        _nodes.c.node_id, _nodes.c.domain_name, _nodes.c.description, _nodes.c.crawl_count,
        _nodes.c.created_at,
    ).order_by(*NODE_ORDERS[wanted.sort])  # fmt: skip
    if wanted.visited is not None:
        visited = _nodes.c.crawl_count > 0
        query = query.where(visited if wanted.visited else ~visited)
    for row in connection.execution_options(yield_per=STREAM).execute(query):
        yield Node(*row)


def edges(connection: Connection, wanted: EdgeQuery) -> Iterator[Edge]:
    """Stream edges with the names of both ends."""
    query = (
        select(
            _edges.c.from_node_id, _source.c.name, _edges.c.to_node_id, _target.c.name,
            _edges.c.weight,
        )
        .select_from(_edges)
        .join(_source, _source.c.id == _edges.c.from_node_id)
        .join(_target, _target.c.id == _edges.c.to_node_id)
        .where(_edges.c.weight >= wanted.min_weight)
        .order_by(*EDGE_ORDERS[wanted.sort])
    )  # fmt: skip
    for row in connection.execution_options(yield_per=STREAM).execute(query):
        yield Edge(*row)
