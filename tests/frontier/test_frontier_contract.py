"""The in-memory frontier keeps the contract."""

from __future__ import annotations

from tests.frontier.frontier_contract import OrderContract, PolitenessContract, RobotsContract
from tests.frontier.frontier_contract_window import (
    BudgetContract,
    ClosingContract,
    HostsContract,
    ProgressContract,
    SupplyContract,
    SuspensionContract,
)


class TestPoliteness(PolitenessContract):
    pass


class TestOrder(OrderContract):
    pass


class TestRobots(RobotsContract):
    pass


class TestBudget(BudgetContract):
    pass


class TestSupply(SupplyContract):
    pass


class TestHosts(HostsContract):
    pass


class TestSuspension(SuspensionContract):
    pass


class TestClosing(ClosingContract):
    pass


class TestProgress(ProgressContract):
    pass
