"""Between frontier and store: what is committed is let go of."""

import asyncio
import gc
from pathlib import Path

from terrain.conductor import Conductor
from terrain.config import parse_config
from terrain.rules.states import PageState
from terrain.rules.urls import UrlRules
from terrain.store import PageOutcome, Start

CONFIG = """
[output]
database-path = "{database}"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
"""


def outcomes_alive() -> int:
    return sum(isinstance(each, PageOutcome) for each in gc.get_objects())


def test_a_committed_page_does_not_wait_for_the_cycle_collector(tmp_path: Path) -> None:
    """Fifty links a page, a thousand pages a second: that would be all of the memory."""
    config = parse_config(CONFIG.format(database=tmp_path / "terrain.db"))
    seed = UrlRules().address("https://a.test/")

    async def committed() -> int:
        conductor = Conductor(config, places=1)
        conductor.open(Start.AUTO, None)
        recorded = conductor.record(seed.host, PageOutcome(seed.page_id, PageState.PROCESSED))
        await recorded
        # The writer's thread lets go of the batch when it asks for the next one.
        await asyncio.wrap_future(conductor.store.settle())  # type: ignore[union-attr]
        alive = outcomes_alive()
        await conductor.close(completed=True)
        return alive

    gc.collect()
    gc.disable()
    try:
        before = outcomes_alive()
        assert asyncio.run(committed()) == before
    finally:
        gc.enable()
