"""The wall clock may be set at any time; delays are kept by one that cannot be."""

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from terrain.sampleweb.log import gaps
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
from tests.blackbox.crawls import Database, crawl, write_config
from tests.blackbox.random_webs import polite
from tests.blackbox.running import Requests, Running

DAY = 86_400


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_set_between_two_processes_of_a_run_changes_nothing(
    serve: Callable[[Web], ServedWeb], tmp_path: Path, days: int
) -> None:
    scene = polite(11)
    served = serve(scene.web)
    config = write_config(tmp_path, served, scene.quality, **scene.sections)
    requests = Requests(served)
    with Running.terrain(config) as running:
        running.wait_until(lambda: requests.count() >= 20)
        running.signal(signal.SIGTERM)
        running.wait(3)
    stopped = served.log()[-1].start
    with closing(sqlite3.connect(Database(config).path)) as connection:
        # As if the clock had been so far off while the first process ran.
        moved = connection.execute(
            "UPDATE host SET asked_at = asked_at + ? WHERE asked_at IS NOT NULL",
            (days * DAY * 1000,),
        ).rowcount
        connection.commit()
    assert moved
    crawl(config)  # which has a time limit, far under a day
    assert Database(config).runs() == [(1, "completed")]
    across = [gap for gap in gaps(served.log()) if gap.before.start <= stopped < gap.after.start]
    assert across
    for gap in across:
        assert gap.seconds >= scene.delays.get(gap.key, 0.1) - 0.002, gap
