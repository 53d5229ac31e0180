"""What `terrain nodes` and `terrain edges` show: which rows, in which columns."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from terrain.reports.exports import Column, Row
from terrain.rules.hosts import MAX_HOST_LENGTH, HostKind
from terrain.store.policy import Policy
from terrain.store.queries import EdgeQuery, NodeQuery, TerrainReader

# Host names are never cut: half of one is another host.
NODE_COLUMNS: Final = (
    Column("node_id", None, identifier=True),
    Column("domain_name", "domain", most=MAX_HOST_LENGTH),
    Column("kind", "kind"),
    Column("crawl_count", "visits"),
    Column("description", "description"),
    Column("created_at", None),
)
EDGE_COLUMNS: Final = (
    Column("from_node_id", None, identifier=True),
    Column("from_domain", "from", most=MAX_HOST_LENGTH),
    Column("to_node_id", None, identifier=True),
    Column("to_domain", "to", most=MAX_HOST_LENGTH),
    Column("weight", "weight"),
)


def _any(_host: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which hosts: by what the configuration says of them, and by name."""

    kinds: Collection[HostKind] = ()
    """Empty: all."""
    matches: Callable[[str], bool] = _any

    def has(self, policy: Policy, host: str) -> bool:
        """Tell whether a host is among them."""
        return self.matches(host) and (
            not self.kinds or policy.host_rules.classify(host) in self.kinds
        )


def node_rows(
    reader: TerrainReader, policy: Policy, wanted: NodeQuery, chosen: Chosen
) -> Iterator[Row]:
    """Yield domains; what kind they are is the configuration's to say, as it is now."""
    for node in reader.nodes(wanted):
        if chosen.has(policy, node.domain):
            kind = policy.host_rules.classify(node.domain).value
            yield (
                node.node_id, node.domain, kind, node.visits, node.description, node.created_at,
            )  # fmt: skip


def edge_rows(
    reader: TerrainReader,
    policy: Policy,
    wanted: EdgeQuery,
    *,
    source: Chosen,
    target: Chosen,
    either: Callable[[str], bool] = _any,
) -> Iterator[Row]:
    """Yield edges from a chosen host to a chosen one, with one end that passes `either`."""
    for edge in reader.edges(wanted):
        if (
            source.has(policy, edge.source)
            and target.has(policy, edge.target)
            and (either(edge.source) or either(edge.target))
        ):
            yield edge.from_id, edge.source, edge.to_id, edge.target, edge.weight
