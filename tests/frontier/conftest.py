"""Fixtures of the frontier suites. Another backend overrides `make_frontier` and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from terrain.frontier import Frontier, FrontierContract
from tests.frontier.frontier_fakes import FakeGate, FakeStore, Rig, constant_terms

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def make_frontier() -> Callable[..., FrontierContract]:
    return Frontier


@pytest.fixture
def make_rig(make_frontier: Callable[..., FrontierContract]) -> Callable[..., Rig]:
    def make(*, store: FakeStore | None = None, **sizes: Any) -> Rig:
        gate = FakeGate()
        sizes = {"terms": constant_terms(), "places": 16} | sizes
        rig = Rig(make_frontier(gate=gate, **sizes), store or FakeStore(), gate)
        rig.pump()
        return rig

    return make


@pytest.fixture
def rig(make_rig: Callable[..., Rig]) -> Rig:
    return make_rig()
