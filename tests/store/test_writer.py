"""One thread writes: what waits goes into one transaction, and one failure is one failure."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from terrain.errors import StoreError
from terrain.rules.states import PageState
from terrain.store import PageOutcome, Policy
from terrain.store.engine import database_url, make_engine
from terrain.store.writer import MAX_OPERATIONS, Writer
from tests.store.terrains import Terrain, address, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"


class Notebook:
    """A writer over a table of words; `hold` keeps its thread busy while operations gather."""

    def __init__(self, path: Path) -> None:
        self.rollbacks = 0
        url = database_url(path)
        self.engine = make_engine(url)
        with self.engine.begin() as connection:
            connection.execute(text("CREATE TABLE note (word TEXT UNIQUE)"))
        self.writer = Writer(self.engine, url, self._rolled_back)

    def _rolled_back(self) -> None:
        self.rollbacks += 1

    def hold(self) -> threading.Event:
        reached, release = threading.Event(), threading.Event()

        def wait(_: Connection) -> None:
            reached.set()
            release.wait(30)

        self.writer.submit(wait)
        assert reached.wait(30)
        return release

    def write(self, word: str) -> Future[str]:
        def work(connection: Connection) -> str:
            connection.execute(text("INSERT INTO note VALUES (:word)"), {"word": word})
            return word

        return self.writer.submit(work)

    def write_merged(self, word: str) -> Future[str]:
        return self.writer.submit_merged(self._write_all, word)

    def _write_all(self, connection: Connection, words: list[str]) -> list[str]:
        for word in words:
            connection.execute(text("INSERT INTO note VALUES (:word)"), {"word": word})
        return ["+".join(words)] * len(words)

    def words(self) -> list[str]:
        with self.engine.connect() as connection:
            return list(connection.scalars(text("SELECT word FROM note ORDER BY rowid")))


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    notebook = Notebook(tmp_path / "notes.db")
    yield notebook
    notebook.writer.close()
    notebook.engine.dispose()


class TestBatches:
    def test_an_operation_alone_is_committed_at_once(self, notebook: Notebook) -> None:
        assert notebook.write("one").result(10) == "one"
        assert notebook.words() == ["one"]
        assert notebook.writer.transactions == 1

    def test_what_waits_goes_into_one_transaction(self, notebook: Notebook) -> None:
        release = notebook.hold()
        futures = [notebook.write(str(number)) for number in range(20)]
        release.set()
        assert [future.result(10) for future in futures] == [str(n) for n in range(20)]
        assert notebook.writer.transactions == 2

    def test_a_transaction_has_its_limit(self, notebook: Notebook) -> None:
        release = notebook.hold()
        futures = [notebook.write(str(number)) for number in range(MAX_OPERATIONS + 1)]
        release.set()
        futures[-1].result(10)
        assert notebook.writer.transactions == 3

    def test_a_future_is_resolved_after_the_commit(self, notebook: Notebook) -> None:
        seen: list[list[str]] = []
        future = notebook.write("one")
        future.add_done_callback(lambda _: seen.append(notebook.words()))
        future.result(10)
        notebook.write("two").result(10)
        assert seen[0][0] == "one"

    def test_order_is_kept(self, notebook: Notebook) -> None:
        release = notebook.hold()
        for number in range(6):
            (notebook.write if number % 2 else notebook.write_merged)(str(number))
        release.set()
        notebook.write("last").result(10)
        assert notebook.words() == ["0", "1", "2", "3", "4", "5", "last"]

    def test_neighbours_that_can_be_merged_are(self, notebook: Notebook) -> None:
        release = notebook.hold()
        first = [notebook.write_merged(word) for word in "ab"]
        notebook.write("between")
        second = notebook.write_merged("c")
        release.set()
        assert [future.result(10) for future in first] == ["a+b", "a+b"]
        assert second.result(10) == "c"


class TestFailures:
    def test_one_does_not_take_its_neighbours_down(self, notebook: Notebook) -> None:
        notebook.write("twice").result(10)
        release = notebook.hold()
        futures = [notebook.write(word) for word in ("before", "twice", "after")]
        release.set()
        assert futures[0].result(10) == "before"
        assert "UNIQUE" in str(futures[1].exception(10))
        assert futures[2].result(10) == "after"
        assert notebook.words() == ["twice", "before", "after"]

    def test_one_of_merged_ones_fails_alone(self, notebook: Notebook) -> None:
        notebook.write("twice").result(10)
        release = notebook.hold()
        futures = [notebook.write_merged(word) for word in ("before", "twice", "after")]
        release.set()
        assert [future.exception(10) is None for future in futures] == [True, False, True]

    def test_each_rollback_is_told(self, notebook: Notebook) -> None:
        notebook.write("twice").result(10)
        notebook.write("twice").exception(10)
        assert notebook.rollbacks == 1

    def test_a_cancelled_operation_is_left_out_and_harms_nobody(self, notebook: Notebook) -> None:
        release = notebook.hold()
        futures = [notebook.write(word) for word in ("one", "two", "three")]
        assert futures[1].cancel()
        release.set()
        assert futures[2].result(10) == "three"
        assert notebook.words() == ["one", "three"]


class TestClosing:
    def test_finishes_what_is_queued(self, notebook: Notebook) -> None:
        release = notebook.hold()
        future = notebook.write("late")
        closing = threading.Thread(target=notebook.writer.close)
        closing.start()
        release.set()
        closing.join(10)
        assert future.result(0) == "late"

    def test_then_refuses_more(self, notebook: Notebook) -> None:
        notebook.writer.close()
        with pytest.raises(StoreError, match="the store is closed"):
            notebook.write("too late")


class TestCachesAfterARollback:
    """What the recorder remembers must be true of the database, also after a failed batch."""

    @pytest.fixture
    def terrain(self, make_terrain: Make) -> Terrain:
        policy = make_policy({"a.test": 3}, [HOME], max_subdomains=1, budget=5)
        return make_terrain(policy)

    def test_the_same_outcomes_again_give_the_right_result(self, terrain: Terrain) -> None:
        outcomes = [processed(HOME, "https://s0.big.test/", "https://c.test/")]
        unknown = PageOutcome(address("https://never.test/").page_id, PageState.PROCESSED)
        with pytest.raises(StoreError, match="which this run has not reached"):
            terrain.record(*outcomes, unknown)
        assert terrain.states() == {HOME: "queued"}
        recorded = terrain.record(*outcomes)
        assert recorded.hosts == {"s0.big.test", "c.test"}
        assert recorded.new_pages == 2
        assert terrain.waiting() == {"https://s0.big.test/", "https://c.test/"}

    def test_a_failure_on_the_way_leaves_nothing_behind(
        self, terrain: Terrain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorder = terrain.opened._recorder
        assert recorder is not None
        with monkeypatch.context() as broken:

            def fail(*_: object) -> None:
                raise RuntimeError("in the middle")

            # All pages, links and hosts are worked out by then, and most of them written.
            broken.setattr(recorder, "_write_facts", fail)
            with pytest.raises(RuntimeError, match="in the middle"):
                terrain.record(processed(HOME, "https://s0.big.test/", "https://s1.big.test/"))
        terrain.record(processed(HOME, "https://s1.big.test/", "https://s0.big.test/"))
        # The place under the root that the failed batch took is free again.
        assert terrain.waiting() == {"https://s1.big.test/"}

    def test_reservations_of_a_failed_batch_are_not_counted(self, terrain: Terrain) -> None:
        def reserve_and_fail(connection: Connection) -> None:
            terrain.opened._supplying.supply(
                connection, "a.test", held=(), pages=1, tokens=5, now=terrain.now()
            )
            raise RuntimeError("after the reservation")

        with pytest.raises(RuntimeError, match="after the reservation"):
            terrain.opened._do(reserve_and_fail).result()
        assert terrain.supply("a.test", tokens=9).tokens == 5


def test_a_page_with_more_hosts_than_are_cached_is_recorded(
    make_terrain: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from terrain.store import hosts

    monkeypatch.setattr(hosts, "CACHED_HOSTS", 10)
    terrain = make_terrain(make_policy({"a.test": 1}, [HOME]))
    urls = {f"https://h{number}.test/" for number in range(100)}
    assert terrain.record(processed(HOME, *urls)).new_pages == 100
    assert terrain.waiting() == urls
    for number in range(100):
        assert terrain.supply(f"h{number}.test", tokens=2).tokens == 2
    assert terrain.rows("SELECT sum(request_count) FROM domain_states") == [(200,)]
