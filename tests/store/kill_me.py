"""A process that records a generated web and expects to be killed: see test_killed_writer.py.

It forks a child for every line it reads, so that a start costs no imports. The child says `at` for
every statement that SQLite runs and `committed` for every batch, and takes up what the last one
left. So it can be killed between any two statements, in or out of a transaction.
"""

import os
import sys
from pathlib import Path
from random import Random

from sqlalchemy import event

from terrain.store import Store
from terrain.store import store as store_module
from terrain.store.engine import make_engine
from tests.store.terrains import make_policy
from tests.store.webs import HEAVY_QUALITY, SEED, Web, heavy_web


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def traced_engine(*arguments: object, **options: object) -> object:
    engine = make_engine(*arguments, **options)  # type: ignore[arg-type]

    @event.listens_for(engine, "connect")
    def trace(connection: object, _: object) -> None:
        connection.set_trace_callback(lambda _: say("at"))  # type: ignore[attr-defined]

    return engine


def record_all(path: Path, web: Web) -> None:
    """Read the web to its end, three pages at a time."""
    store = Store(path, make_policy(HEAVY_QUALITY, [SEED], blacklist=["bad.test"]))
    store.open_run()
    urls = {web.outcome(url).page_id: url for url in web.pages}
    while found := store.hosts_with_work(100).result():
        for _, host in found:
            pages = store.supply(host, held=(), pages=3, tokens=3).result().pages
            store.mark_fetching([page.page_id for page in pages]).result()
            futures = [store.record(web.outcome(urls[page.page_id])) for page in pages]
            for future in futures:
                future.result()
            say(f"committed {len(pages)}")
    store.close_run(completed=True)
    store.close()


def main() -> None:
    web = heavy_web(Random(int(sys.argv[2])))
    vars(store_module)["make_engine"] = traced_engine
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            record_all(Path(sys.argv[1]), web)
            say("done")
            os._exit(0)
        say(f"pid {child}")
        os.waitpid(child, 0)
        say("gone")


if __name__ == "__main__":
    main()
