"""Who may be asked next, and when: host queues, clocks, budgets and caps, in memory only."""

from terrain.frontier.contract import FrontierContract
from terrain.frontier.frontier import Frontier
from terrain.frontier.types import (
    Counts,
    Dropped,
    DropReason,
    Entry,
    Gate,
    HostTerms,
    Lease,
    RequestKind,
    Tempo,
    TopUp,
    Verdict,
    Want,
)

__all__ = [
    "Counts",
    "DropReason",
    "Dropped",
    "Entry",
    "Frontier",
    "FrontierContract",
    "Gate",
    "HostTerms",
    "Lease",
    "RequestKind",
    "Tempo",
    "TopUp",
    "Verdict",
    "Want",
]
