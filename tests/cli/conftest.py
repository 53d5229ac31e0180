"""Fixtures of the command's tests."""

import pytest

from tests.cli.demo_run import DemoRun, run_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoRun:
    """One run of `terrain demo` for all tests that look at it: it takes a quarter of a minute."""
    return run_demo(tmp_path_factory.mktemp("demo"))
