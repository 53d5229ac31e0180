"""Hosts that may not be asked any more in a run: suspended, out of budget, or one too many."""

from collections.abc import Callable

import pytest

from terrain.rules.states import PageState
from terrain.store import Policy, Start, supply
from terrain.store.clock import iso
from tests.store.terrains import Terrain, address, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
NEWS = "https://a.test/news"
PAUSE = "host asked for a pause (429)"


def page(number: int) -> str:
    return f"https://c.test/{number}"


def states_on(terrain: Terrain, host: str) -> dict[tuple[object, object], object]:
    rows = terrain.rows(
        "SELECT state, error_message, count(*) FROM pages WHERE domain = :host GROUP BY 1, 2",
        host=host,
    )
    return {(state, message): count for state, message, count in rows}


def suspend(terrain: Terrain, retry_after: float | None = None) -> None:
    closing = terrain.opened.close_host("c.test", PageState.RATE_LIMITED, retry_after=retry_after)
    closing.result()


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """Three pages of c.test wait, and NEWS."""
    terrain = make_terrain(make_policy({"a.test": 3}, [HOME]))
    terrain.record(processed(HOME, NEWS, *(page(number) for number in range(3))))
    return terrain


class TestSuspended:
    def test_it_gets_neither_pages_nor_tokens(self, terrain: Terrain) -> None:
        suspend(terrain)
        answer = terrain.supply("c.test")
        assert answer.closed is PageState.RATE_LIMITED
        assert (answer.pages, answer.more, answer.tokens) == ((), False, 0)

    def test_its_waiting_pages_get_the_state_with_the_reason(self, terrain: Terrain) -> None:
        suspend(terrain)
        assert not terrain.opened.drain("c.test").result()
        assert states_on(terrain, "c.test") == {("rate_limited", PAUSE): 3}
        assert terrain.waiting() == {NEWS}

    def test_so_do_pages_found_later(self, terrain: Terrain) -> None:
        suspend(terrain)
        terrain.opened.drain("c.test").result()
        assert terrain.record(processed(NEWS, page(3))).hosts == set()
        assert states_on(terrain, "c.test") == {("rate_limited", PAUSE): 4}

    def test_it_stays_so_after_a_crash(self, terrain: Terrain) -> None:
        suspend(terrain)
        terrain.reopen()
        assert terrain.supply("c.test").closed is PageState.RATE_LIMITED

    def test_the_next_run_asks_again(self, terrain: Terrain) -> None:
        suspend(terrain)
        terrain.reopen(start=Start.FRESH)
        terrain.record(processed(HOME, page(0)))
        answer = terrain.supply("c.test")
        assert (answer.closed, len(answer.pages)) == (None, 1)

    def test_not_before_the_time_it_asked_for(self, terrain: Terrain) -> None:
        suspend(terrain, retry_after=terrain.time + 3600)
        terrain.reopen(start=Start.FRESH)
        terrain.record(processed(HOME, page(0)))
        assert terrain.states()[page(0)] == "rate_limited"
        terrain.time += 3600
        terrain.reopen(start=Start.FRESH)
        terrain.record(processed(HOME, page(0)))
        assert terrain.states()[page(0)] == "queued"

    def test_the_public_view_says_so(self, terrain: Terrain) -> None:
        until = terrain.time + 3600
        suspend(terrain, retry_after=until)
        rows = terrain.rows("SELECT domain, rate_limited, retry_after FROM domain_states")
        assert set(rows) == {("a.test", 0, None), ("c.test", 1, iso(until))}

    def test_a_second_429_without_a_time_keeps_the_first_one(self, terrain: Terrain) -> None:
        until = terrain.time + 3600
        suspend(terrain, retry_after=until)
        suspend(terrain)
        rows = terrain.rows("SELECT retry_after FROM domain_states WHERE domain = 'c.test'")
        assert rows == [(iso(until),)]


class TestDraining:
    @pytest.fixture(autouse=True)
    def small_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(supply, "DRAIN_CHUNK", 2)

    @pytest.fixture
    def many(self, terrain: Terrain) -> Terrain:
        """Seven pages of c.test wait, and the host is suspended."""
        terrain.record(processed(NEWS, *(page(number) for number in range(7))))
        suspend(terrain)
        return terrain

    def test_goes_chunk_by_chunk_and_says_when_it_is_done(self, many: Terrain) -> None:
        left, more = [], True
        while more:
            more = many.opened.drain("c.test").result()
            left.append(len(many.waiting()))
        assert left == [5, 3, 1, 0]

    def test_leaves_held_pages_to_their_outcome(self, many: Terrain) -> None:
        held = {address(page(number)).page_id for number in (0, 3)}
        while many.opened.drain("c.test", held).result():
            pass
        assert many.waiting() == {page(0), page(3)}

    def test_is_not_confused_by_held_pages_that_no_longer_wait(self, many: Terrain) -> None:
        held = {address(f"https://c.test/gone-{number}").page_id for number in range(3)}
        assert many.opened.drain("c.test", held).result()
        assert len(many.waiting()) == 5

    def test_is_finished_when_the_run_closes(self, many: Terrain) -> None:
        assert many.opened.close_run(completed=True)
        assert states_on(many, "c.test") == {("rate_limited", PAUSE): 7}

    def test_does_not_touch_an_open_host(self, terrain: Terrain) -> None:
        assert not terrain.opened.drain("c.test").result()
        terrain.opened.close_run(completed=False)
        assert states_on(terrain, "c.test") == {("queued", None): 3}

    def test_at_the_close_finds_closed_hosts_among_open_ones(self, many: Terrain) -> None:
        others = {f"https://h{number}.test/" for number in range(250)}
        many.reopen(start=Start.FRESH)
        many.record(processed(HOME, *others, *(page(number) for number in range(5))))
        suspend(many)
        many.opened.close_run(completed=False)
        assert many.waiting() == others


class TestBudgetSpent:
    def test_pages_say_so(self, terrain: Terrain) -> None:
        terrain.opened.close_host("c.test", PageState.REQUEST_LIMIT_HIT).result()
        terrain.opened.drain("c.test").result()
        reason = "the host's request budget is spent"
        assert states_on(terrain, "c.test") == {("request_limit_hit", reason): 3}


class TestSubdomainCap:
    @pytest.fixture
    def capped(self, make_terrain: Make) -> Terrain:
        policy = make_policy({"a.test": 3, "*.own.test": 3}, [HOME], max_subdomains=2)
        return make_terrain(policy)

    def test_the_first_ones_found_are_let_in(self, capped: Terrain) -> None:
        capped.record(processed(HOME, *(f"https://s{n}.big.test/" for n in range(4))))
        states = capped.states()
        assert [states[f"https://s{n}.big.test/"] for n in range(4)] == [
            "queued",
            "queued",
            "subdomain_limit_hit",
            "subdomain_limit_hit",
        ]
        reason = "the root already has its number of subdomains"
        assert states_on(capped, "s3.big.test") == {("subdomain_limit_hit", reason): 1}

    def test_further_pages_of_a_host_that_was_let_in_are_too(self, capped: Terrain) -> None:
        capped.record(processed(HOME, *(f"https://s{n}.big.test/" for n in range(3))))
        more = [f"https://s{n}.big.test/more" for n in range(3)]
        capped.record(processed("https://s0.big.test/", *more))
        states = capped.states()
        assert [states[url] for url in more] == ["queued", "queued", "subdomain_limit_hit"]

    def test_the_root_itself_does_not_count(self, capped: Terrain) -> None:
        hosts = ["big.test", "x.big.test", "y.big.test"]
        capped.record(processed(HOME, *(f"https://{host}/" for host in hosts)))
        assert capped.waiting() == {f"https://{host}/" for host in hosts}

    def test_hosts_of_quality_entries_do_not_count(self, capped: Terrain) -> None:
        own = [f"https://s{n}.own.test/" for n in range(4)]
        capped.record(processed(HOME, *own))
        assert capped.waiting() == set(own)

    def test_roots_are_registrable_domains(self, capped: Terrain) -> None:
        urls = [f"https://{name}.co.uk/" for name in ("one", "two", "three", "four")]
        capped.record(processed(HOME, *urls))
        assert capped.waiting() == set(urls)

    def test_pages_too_deep_take_no_place(self, capped: Terrain) -> None:
        capped.policy = make_policy({"a.test": 0}, [HOME], max_subdomains=1, terrain_hash="flat")
        capped.reopen()
        capped.record(processed(HOME, "https://s0.big.test/"))
        assert capped.rows("SELECT admitted FROM host WHERE name = 's0.big.test'") == [(0,)]

    def test_listed_hosts_take_no_place(self, make_terrain: Make) -> None:
        capped = make_terrain(
            make_policy({"a.test": 3}, [HOME], blacklist=["s0.big.test"], max_subdomains=1)
        )
        capped.record(processed(HOME, "https://s0.big.test/", "https://s1.big.test/"))
        assert capped.waiting() == {"https://s1.big.test/"}

    def test_it_survives_a_restart(self, capped: Terrain) -> None:
        capped.record(processed(HOME, "https://s0.big.test/", NEWS))
        capped.reopen()
        capped.record(processed(NEWS, *(f"https://s{n}.big.test/" for n in (1, 2))))
        assert capped.waiting() == {"https://s0.big.test/", "https://s1.big.test/"}

    def test_each_run_counts_anew(self, capped: Terrain) -> None:
        capped.record(processed(HOME, *(f"https://s{n}.big.test/" for n in (0, 1))))
        capped.reopen(start=Start.FRESH)
        capped.record(processed(HOME, *(f"https://s{n}.big.test/" for n in (2, 3, 0))))
        assert capped.waiting() == {"https://s2.big.test/", "https://s3.big.test/"}
        assert capped.states()["https://s0.big.test/"] == "subdomain_limit_hit"
