"""What a host's window gets from the durable frontier: pages by priority, page by page."""

from collections.abc import Callable

import pytest

from terrain.rules.states import PageState
from terrain.store import HostSupply, Policy, RobotsRecord
from terrain.store.clock import iso
from tests.store.terrains import Terrain, address, ended, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
DAY = 86_400.0


def page(number: int) -> str:
    return f"https://c.test/{number}"


def urls(supply: HostSupply) -> list[str]:
    return [waiting.fetch_url for waiting in supply.pages]


def ids(*targets: str) -> set[int]:
    return {address(target).page_id for target in targets}


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """Five pages of c.test wait, found in this order: 0 and 1 at depth 1, 2 to 4 at depth 2."""
    terrain = make_terrain(make_policy({"a.test": 3}, [HOME], budget=100))
    other = "https://b.test/"
    terrain.record(processed(HOME, other))
    terrain.record(processed(other, page(2), page(3), page(4)))
    return terrain


def find(terrain: Terrain, *found: str) -> None:
    """An own page of the origin links to these: they are one link deep."""
    seed = "https://a.test/found"
    terrain.record(processed(page(2), seed))
    terrain.record(processed(seed, *found))


class TestPages:
    def test_come_shallow_ones_first_then_older_ones(self, terrain: Terrain) -> None:
        find(terrain, page(0), page(1))
        assert urls(terrain.supply("c.test")) == [page(0), page(1), page(3), page(4)]

    def test_a_shorter_way_moves_a_page_forward(self, terrain: Terrain) -> None:
        find(terrain, page(4))
        assert urls(terrain.supply("c.test")) == [page(4), page(3)]

    def test_come_as_many_as_are_wanted_and_it_is_said_if_there_are_more(
        self, terrain: Terrain
    ) -> None:
        first = terrain.supply("c.test", pages=2)
        assert (urls(first), first.more) == ([page(2), page(3)], True)
        all_of_them = terrain.supply("c.test", pages=3)
        assert (len(all_of_them.pages), all_of_them.more) == (3, False)

    def test_held_ones_are_not_sent_again(self, terrain: Terrain) -> None:
        supply = terrain.supply("c.test", held=ids(page(2), page(3)), pages=1)
        assert (urls(supply), supply.more) == ([page(4)], False)

    def test_whether_more_wait_is_known_without_taking_any(self, terrain: Terrain) -> None:
        nearly = terrain.supply("c.test", held=ids(page(2), page(3)), pages=0)
        assert (nearly.pages, nearly.more) == ((), True)
        assert not terrain.supply("c.test", held=ids(page(2), page(3), page(4)), pages=0).more

    def test_stay_in_the_store_until_their_outcome_is_committed(self, terrain: Terrain) -> None:
        first = terrain.supply("c.test")
        assert terrain.supply("c.test").pages == first.pages
        terrain.record(processed(page(2)))
        assert urls(terrain.supply("c.test")) == [page(3), page(4)]

    def test_survive_a_crash(self, terrain: Terrain) -> None:
        before = terrain.supply("c.test").pages
        terrain.reopen()
        assert terrain.supply("c.test").pages == before

    def test_are_asked_at_the_address_as_found(self, terrain: Terrain) -> None:
        found = "https://www.c.test/%7Euser/?utm_source=x"
        terrain.record(processed(page(2), found))
        assert urls(terrain.supply("c.test"))[-1] == found

    def test_of_a_host_without_any_are_none(self, terrain: Terrain) -> None:
        supply = terrain.supply("nowhere.test")
        assert (supply.pages, supply.more, supply.closed) == ((), False, None)


class TestHosts:
    def names(self, terrain: Terrain, most: int, window: set[str], after: int) -> list[str]:
        return terrain.opened.hosts_outside(most, window, after).result()[0]

    @pytest.fixture
    def many(self, terrain: Terrain) -> Terrain:
        terrain.record(processed(page(2), *(f"https://h{n}.test/" for n in range(150))))
        return terrain

    def test_with_work_come_in_pages_by_id(self, many: Terrain) -> None:
        found, after = [], -1
        while batch := many.opened.hosts_with_work(40, after).result():
            assert len(batch) <= 40
            found += [name for _, name in batch]
            after = batch[-1][0]
        assert sorted(found) == sorted([*(f"h{n}.test" for n in range(150)), "c.test"])

    def test_outside_the_window_go_round_until_all_have_come(self, many: Terrain) -> None:
        everyone = {f"h{n}.test" for n in range(150)} | {"c.test"}
        window: set[str] = set()
        cursor, more = -1, True
        while more:
            found, cursor, more = many.opened.hosts_outside(20, window, cursor).result()
            assert not window & set(found)
            window |= set(found)
        assert window == everyone

    def test_outside_the_window_start_again_at_the_front(self, many: Terrain) -> None:
        everyone = [name for _, name in many.opened.hosts_with_work(200).result()]
        keys = [key for key, _ in many.opened.hosts_with_work(200).result()]
        window = set(everyone) - {everyone[3], everyone[100]}
        found, _, more = many.opened.hosts_outside(5, window, keys[50]).result()
        assert (found, more) == ([everyone[100], everyone[3]], False)
        # The one asked after comes last, not never.
        assert self.names(many, 5, set(everyone) - {everyone[50]}, keys[50]) == [everyone[50]]

    def test_outside_the_window_are_none_when_all_are_in_it(self, many: Terrain) -> None:
        everyone = {name for _, name in many.opened.hosts_with_work(200).result()}
        assert many.opened.hosts_outside(5, everyone, 12).result() == ([], -1, False)

    def test_are_told_by_the_commit_that_gives_them_work(self, terrain: Terrain) -> None:
        recorded = terrain.record(processed(page(2), page(5), "https://new.test/", HOME))
        assert recorded.hosts == {"c.test", "new.test"}
        assert (recorded.new_pages, recorded.queued, recorded.links) == (2, 2, 3)
        assert terrain.record(ended(page(3), PageState.DEAD_LINK)).hosts == set()


class TestRobots:
    def record(self, terrain: Terrain, origin: str = "https://c.test") -> RobotsRecord:
        return RobotsRecord(
            origin, 200, "User-agent: *", iso(terrain.time), int(terrain.time + DAY)
        )

    def test_is_kept_for_a_day_across_restarts_and_runs(self, terrain: Terrain) -> None:
        record = self.record(terrain)
        terrain.opened.keep_robots("c.test", record).result()
        terrain.reopen()
        assert terrain.supply("c.test").robots == (record,)
        assert terrain.opened.robots_of("c.test").result() == (record,)
        terrain.time += DAY
        assert terrain.opened.robots_of("c.test").result() == ()

    def test_expired_ones_still_come_with_the_supply(self, terrain: Terrain) -> None:
        record = self.record(terrain)
        terrain.opened.keep_robots("c.test", record).result()
        terrain.time += 2 * DAY
        assert terrain.supply("c.test").robots == (record,)

    def test_belongs_to_scheme_host_and_port(self, terrain: Terrain) -> None:
        records = [self.record(terrain, f"https://{name}") for name in ("c.test", "www.c.test:8")]
        for record in records:
            terrain.opened.keep_robots("c.test", record).result()
        assert set(terrain.supply("c.test").robots) == set(records)
        assert terrain.supply("b.test").robots == ()

    def test_a_new_answer_replaces_the_old_one(self, terrain: Terrain) -> None:
        terrain.opened.keep_robots("c.test", self.record(terrain)).result()
        newer = RobotsRecord("https://c.test", None, None, iso(terrain.time), 2**31)
        terrain.opened.keep_robots("c.test", newer).result()
        assert terrain.supply("c.test").robots == (newer,)
