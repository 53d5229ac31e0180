"""Fixtures of the black-box tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
from tests.blackbox.crawls import Database


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Web], ServedWeb]]:
    """Serve a web until the test ends; afterwards every database it left must be sound."""
    with ExitStack() as stack:

        def start(web: Web) -> ServedWeb:
            directory = tmp_path / f"web-{len(list(tmp_path.glob('web-*')))}"
            return stack.enter_context(ServedWeb(web, directory))

        yield start
    for database in tmp_path.rglob("terrain.db"):
        Database(database.parent / "config.toml").check()
