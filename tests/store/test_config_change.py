"""A changed configuration is noticed and recorded, and the run goes on under it (design 3.6)."""

from collections.abc import Callable

import pytest

from terrain.rules.states import PageState
from terrain.store import Policy
from tests.store.terrains import Terrain, address, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
SHOP = "https://shop.test/"
BLOG = "https://blog.test/"


def policy(**changes: object) -> Policy:
    """The configuration of these tests, or one that differs from it."""
    given = {"config_hash": f"config-{changes}", **changes}
    return make_policy({"a.test": 2}, [HOME], **given)  # type: ignore[arg-type]


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    return make_terrain(policy())


def subdomains(count: int) -> list[str]:
    return [f"https://s{number}.big.test/" for number in range(count)]


def test_it_is_said_aloud_and_written_down(terrain: Terrain) -> None:
    info = terrain.reopen(policy(config_hash="changed"))
    assert (info.id, info.resumed) == (1, True)
    assert info.notices[1] == (
        "the configuration differs from the one run 1 was under (config-{} -> changed): "
        "going on under the new one"
    )
    assert terrain.rows("SELECT config_hash FROM runs") == [("changed",)]
    changes = terrain.rows("SELECT detail FROM run_events WHERE kind = 'config_changed'")
    assert changes == [("changed",)]


def test_the_same_configuration_is_nothing_to_speak_of(terrain: Terrain) -> None:
    assert len(terrain.reopen().notices) == 1


def test_a_changed_terrain_starts_a_new_run_and_says_so(terrain: Terrain) -> None:
    terrain.record(processed(HOME, SHOP))
    info = terrain.reopen(policy(terrain_hash="other"))
    assert (info.id, info.resumed) == (2, False)
    (notice,) = info.notices
    assert notice == (
        "quality entries or depth limits differ from run 1: its depths would mean something else, "
        "so a new run starts"
    )
    assert terrain.waiting() == {HOME}
    assert terrain.rows("SELECT status FROM runs WHERE id = 1") == [("interrupted",)]


def test_a_changed_terrain_takes_the_jobdir_along(terrain: Terrain) -> None:
    terrain.reopen(job="one")
    assert terrain.reopen(policy(terrain_hash="other"), job="one").id == 3
    assert terrain.reopen(job="one").id == 3


class TestLists:
    def test_waiting_pages_of_a_host_now_listed_are_not_asked(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, SHOP, BLOG))
        terrain.reopen(policy(blacklist=["shop.test"], stub=["blog.test"]))
        shop, blog = terrain.supply("shop.test"), terrain.supply("blog.test")
        assert (shop.closed, shop.pages, shop.tokens) == (PageState.BLACKLISTED, (), 0)
        assert (blog.closed, blog.pages, blog.tokens) == (PageState.STUBBED, (), 0)
        for host in ("shop.test", "blog.test"):
            assert not terrain.opened.drain(host).result()
        assert terrain.states() == {HOME: "processed", SHOP: "blacklisted", BLOG: "stubbed"}

    def test_the_views_know_the_links_that_led_there_before(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, SHOP))
        terrain.reopen(policy(blacklist=["shop.test"]))
        terrain.opened.drain("shop.test").result()
        urls = terrain.rows("SELECT url, reference_count FROM blacklisted_urls")
        assert urls == [(SHOP, 1)]
        referrers = terrain.rows("SELECT referrer_page_id FROM blacklisted_referrers")
        assert referrers == [(address(HOME).page_id,)]

    def test_in_a_new_run_too(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, SHOP))
        terrain.record(processed(SHOP))
        terrain.finish()
        terrain.reopen(policy(stub=["shop.test"]))
        # The link has not changed, so it is not written again; still it is found.
        terrain.record(processed(HOME, SHOP))
        assert terrain.states()[SHOP] == "stubbed"
        assert terrain.rows("SELECT url, reference_count FROM stubbed_urls") == [(SHOP, 1)]

    def test_a_host_taken_off_a_list_leaves_its_views_when_it_is_reached(
        self, make_terrain: Make
    ) -> None:
        terrain = make_terrain(policy(blacklist=["shop.test"]))
        terrain.record(processed(HOME, SHOP))
        terrain.finish()
        terrain.reopen(policy())
        assert terrain.rows("SELECT url FROM blacklisted_urls") == [(SHOP,)]
        terrain.record(processed(HOME, SHOP))
        assert terrain.rows("SELECT url FROM blacklisted_urls") == []
        assert terrain.waiting() == {SHOP}

    def test_pages_read_before_keep_their_outcome(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, SHOP))
        terrain.record(processed(SHOP))
        terrain.reopen(policy(blacklist=["shop.test"]))
        assert terrain.states()[SHOP] == "processed"


class TestLimits:
    def test_a_larger_budget_opens_the_host_for_what_comes(self, make_terrain: Make) -> None:
        terrain = make_terrain(policy(budget=2))
        assert terrain.supply("a.test", tokens=2).spent
        terrain.opened.close_host("a.test", PageState.REQUEST_LIMIT_HIT).result()
        terrain.reopen(policy(budget=5))
        supply = terrain.supply("a.test")
        assert (supply.closed, supply.tokens, supply.spent) == (None, 3, True)

    def test_a_smaller_budget_holds_at_once(self, terrain: Terrain) -> None:
        terrain.supply("a.test", tokens=5)
        terrain.reopen(policy(budget=4))
        supply = terrain.supply("a.test")
        assert (supply.tokens, supply.spent) == (0, True)

    def test_a_429_stands(self, terrain: Terrain) -> None:
        terrain.opened.close_host("a.test", PageState.RATE_LIMITED).result()
        terrain.reopen(policy(budget=4))
        assert terrain.supply("a.test").closed is PageState.RATE_LIMITED

    def test_a_new_cap_counts_the_hosts_that_were_asked(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, *subdomains(4)))
        for number in (0, 1):
            terrain.supply(f"s{number}.big.test")
        terrain.reopen(policy(max_subdomains=3))
        closed = [terrain.supply(f"s{number}.big.test").closed for number in (2, 3, 0, 1)]
        assert closed == [None, PageState.SUBDOMAIN_LIMIT_HIT, None, None]
        terrain.opened.drain("s3.big.test").result()
        assert terrain.states()["https://s3.big.test/"] == "subdomain_limit_hit"

    def test_a_larger_cap_lets_more_hosts_in(self, make_terrain: Make) -> None:
        terrain = make_terrain(policy(max_subdomains=1))
        terrain.record(processed(HOME, "https://x.a.test/", *subdomains(2)))
        terrain.supply("s0.big.test")
        terrain.reopen(policy(max_subdomains=2))
        terrain.record(processed("https://s0.big.test/", "https://s1.big.test/more"))
        assert "https://s1.big.test/more" in terrain.waiting()

    def test_a_host_with_a_spent_budget_does_not_take_a_second_place(
        self, make_terrain: Make
    ) -> None:
        terrain = make_terrain(policy(max_subdomains=2, budget=1))
        terrain.record(processed(HOME, "https://s0.big.test/"))
        terrain.supply("s0.big.test")
        terrain.opened.close_host("s0.big.test", PageState.REQUEST_LIMIT_HIT).result()
        terrain.reopen(policy(max_subdomains=2, budget=9))
        assert terrain.supply("s0.big.test").closed is None
        terrain.opened.close_run(completed=False)
        assert terrain.rows("SELECT subdomains FROM root_state WHERE name = 'big.test'") == [(1,)]
