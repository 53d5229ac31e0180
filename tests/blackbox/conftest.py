"""Fixtures of the black-box tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
from tests.blackbox.crawls import CONFIGURED, Database

_checked: dict[Path, list[int]] = {}
"""When the files of each database were last written, as they were found sound."""


@pytest.fixture(autouse=True)
def every_crawl_leaves_a_sound_terrain() -> Iterator[None]:
    """After each test look at every database that it, or a fixture of its module, has crawled."""
    yield
    for config in CONFIGURED:
        database = Database(config)
        if database.path.exists() and _written(database.path) != _checked.get(config):
            # Noted first: what is wrong is told once, and not with every test that follows.
            _checked[config] = _written(database.path)
            database.check()
            _checked[config] = _written(database.path)


def _written(database: Path) -> list[int]:
    files = sorted(database.parent.glob(f"{database.name}*"))
    return [file.stat().st_mtime_ns for file in files]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Web], ServedWeb]]:
    """Serve a web until the test ends."""
    with ExitStack() as stack:

        def start(web: Web) -> ServedWeb:
            directory = tmp_path / f"web-{len(list(tmp_path.glob('web-*')))}"
            return stack.enter_context(ServedWeb(web, directory))

        yield start
