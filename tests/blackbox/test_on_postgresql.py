"""A whole crawl on PostgreSQL: the same command, the same graph, and as hard to kill."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from terrain.sampleweb.process import ServedWeb
from tests.blackbox.crawls import Database, crawl, write_config
from tests.blackbox.random_webs import polite
from tests.blackbox.running import Requests, Running, graph, graph_in
from tests.postgres import NEEDED, cluster, url_of

pytestmark = NEEDED

KILLS = 4


class OnPostgresql(Database):
    """What a crawl left behind there, read by the same public names."""

    def __init__(self, url: str) -> None:
        self.url = url

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with closing(psycopg.connect(self.url)) as connection:
            return connection.execute(sql, parameters).fetchall()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with cluster() as place:
        yield url_of(place, "postgres")


def test_a_killed_crawl_on_postgresql_ends_with_the_graph_that_sqlite_has_undisturbed(
    url: str, tmp_path: Path
) -> None:
    scene = polite(1)
    for place in ("lite", "postgres"):
        (tmp_path / place).mkdir()
    with ServedWeb(scene.web, tmp_path / "calm-web") as calm:
        undisturbed = write_config(tmp_path / "lite", calm, scene.quality, **scene.sections)
        crawl(undisturbed)
        requests = len(calm.log())
    with ServedWeb(scene.web, tmp_path / "web") as served:
        sections = {**scene.sections, "output": {"database-url": url}}
        config = write_config(tmp_path / "postgres", served, scene.quality, **sections)
        asked = Requests(served)
        for moment in sorted(Random(1).sample(range(1, requests), KILLS)):
            with Running.terrain(config) as running:
                running.wait_until(lambda moment=moment: asked.count() >= moment)
                running.signal(signal.SIGKILL)
                running.wait(-signal.SIGKILL)
            OnPostgresql(url).check_content()
        crawl(config)
    database = OnPostgresql(url)
    database.check_content()
    assert database.runs() == [(1, "completed")]
    assert graph_in(database) == graph(undisturbed)
