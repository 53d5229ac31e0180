"""The terrain in a database: the only place that knows SQL."""

from terrain.store.outcomes import (
    Fault,
    HostSupply,
    PageOutcome,
    Recorded,
    RobotsRecord,
    RunInfo,
    WaitingPage,
)
from terrain.store.policy import Policy
from terrain.store.runs import Start
from terrain.store.store import Store

__all__ = [
    "Fault",
    "HostSupply",
    "PageOutcome",
    "Policy",
    "Recorded",
    "RobotsRecord",
    "RunInfo",
    "Start",
    "Store",
    "WaitingPage",
]
