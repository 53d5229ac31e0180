"""The graph of domains, by its public names `nodes` and `edges`."""

from collections.abc import Sequence

from sqlalchemy import (
    CTE,
    BigInteger,
    Connection,
    Text,
    bindparam,
    case,
    column,
    func,
    literal,
    null,
    select,
    table,
    union_all,
)

from terrain.store.policy import Policy
from terrain.store.queries.hosts import quality_hosts
from terrain.store.queries.records import DomainEdge, DomainGraph, DomainNode

# Only the names and columns of the design are relied on.
_nodes = table("nodes", column("node_id", BigInteger), column("domain_name", Text))
_edges = table(
    "edges",
    column("from_node_id", BigInteger),
    column("to_node_id", BigInteger),
    column("weight", BigInteger),
)

MOST_PREFERRED = 2_000
"""Quality domains that can be preferred to better connected ones; enough for any picture."""


def edge_count(connection: Connection) -> int:
    """Count the edges."""
    return int(connection.scalar(select(func.count()).select_from(_edges)) or 0)


def domain_graph(connection: Connection, policy: Policy, most: int) -> DomainGraph:
    """Return `most` domains, quality ones before others and well connected ones before the rest.

    The edges are read once: they are kept ready, but a large terrain has millions of them.
    """
    preferred = sorted(quality_hosts(connection, policy))[:MOST_PREFERRED]
    edges = select(_edges.c.from_node_id, _edges.c.to_node_id, _edges.c.weight).cte("e")
    strength = _strength(edges)
    first = case(
        (
            strength.c.node_id.in_(
                bindparam("preferred", preferred, expanding=True, literal_execute=True)
            ),
            0,
        ),
        else_=1,
    )
    top = (
        select(strength.c.node_id, strength.c.links)
        .order_by(first, strength.c.links.desc(), strength.c.node_id)
        .limit(most)
        .cte("top_nodes")
    )  # fmt: skip
    source, target = top.alias("source"), top.alias("target")
    parts = union_all(
        select(top.c.node_id, null(), top.c.links, literal(0)),
        select(edges.c.from_node_id, edges.c.to_node_id, edges.c.weight, literal(1))
        .join(source, source.c.node_id == edges.c.from_node_id)
        .join(target, target.c.node_id == edges.c.to_node_id),
        select(func.count(), null(), literal(0), literal(2)).select_from(strength),
        select(func.count(), null(), literal(0), literal(3)).select_from(edges),
    )
    links: dict[int, int] = {}
    found: list[DomainEdge] = []
    counts = {2: 0, 3: 0}
    for first_id, second_id, number, part in connection.execute(parts):
        if part == 0:
            links[first_id] = int(number)
        elif part == 1:
            found.append(DomainEdge(first_id, second_id, int(number)))
        else:
            counts[part] = first_id
    for key in preferred:
        # A quality domain that links nowhere belongs on the map all the same.
        if len(links) < most:
            links.setdefault(key, 0)
    names = _names(connection, list(links))
    nodes = [DomainNode(key, names[key], number) for key, number in links.items() if key in names]
    return DomainGraph(
        nodes=sorted(nodes, key=lambda node: (-node.links, node.name)),
        edges=sorted(found, key=lambda edge: (-edge.weight, edge.source, edge.target)),
        all_nodes=counts[2],
        all_edges=counts[3],
    )


def _strength(edges: CTE) -> CTE:
    """Return for each node the links from and to it."""
    ends = union_all(
        select(edges.c.from_node_id.label("node_id"), edges.c.weight),
        select(edges.c.to_node_id, edges.c.weight),
    ).subquery("ends")
    return (
        select(ends.c.node_id, func.sum(ends.c.weight).label("links"))
        .group_by(ends.c.node_id)
        .cte("strength")
    )


def _names(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    query = select(_nodes.c.node_id, _nodes.c.domain_name).where(_nodes.c.node_id.in_(ids))
    return {row.node_id: row.domain_name for row in connection.execute(query)}
