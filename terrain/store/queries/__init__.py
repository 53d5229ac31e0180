"""Reading a terrain: what reports, and nothing else, ask of the database.

One connection and one read transaction, so a report speaks of one moment even while a crawl goes
on. Every query runs over narrow tables or small ones; the public views are for people.
"""

from terrain.store.queries.domains import EDGE_ORDERS, NODE_ORDERS, EdgeQuery, NodeQuery
from terrain.store.queries.reader import TerrainReader, open_terrain
from terrain.store.queries.records import (
    ClosedHosts,
    DepthCount,
    Domain,
    DomainEdge,
    DomainGraph,
    DomainNode,
    Edge,
    Failure,
    FetchTimes,
    LeftOut,
    LimitedHost,
    LimitedHosts,
    ListedUrl,
    Node,
    RunRecord,
    Territory,
    Totals,
)

__all__ = [
    "EDGE_ORDERS",
    "NODE_ORDERS",
    "ClosedHosts",
    "DepthCount",
    "Domain",
    "DomainEdge",
    "DomainGraph",
    "DomainNode",
    "Edge",
    "EdgeQuery",
    "Failure",
    "FetchTimes",
    "LeftOut",
    "LimitedHost",
    "LimitedHosts",
    "ListedUrl",
    "Node",
    "NodeQuery",
    "RunRecord",
    "TerrainReader",
    "Territory",
    "Totals",
    "open_terrain",
]
