"""By domain: from where a later run starts, who is asked again, and what the others keep."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from terrain.errors import ConfigError
from terrain.rules.states import PageState
from terrain.store import Policy, Start, revisits
from tests.store.terrains import Terrain, ended, make_policy, processed, redirected

Make = Callable[[Policy], Terrain]

A, B, C, D, E = (f"https://{name}.test/" for name in "abcde")


def by_domain(
    quality: dict[str, int] | None = None, seeds: tuple[str, ...] = (A,), **options: object
) -> Policy:
    most = options.pop("max_crawls", 3)
    policy = make_policy(quality or {"a.test": 1}, seeds, **options)  # type: ignore[arg-type]
    return replace(policy, by_domain=True, max_crawls=most)


def run_again(terrain: Terrain, policy: Policy | None = None) -> None:
    """End the run as a signal does, with its depths settled, and start a new one."""
    terrain.opened.close_run(completed=False)
    terrain.reopen(policy, start=Start.FRESH)


def depths(terrain: Terrain) -> set[tuple[str, str, int]]:
    terrain.opened.settle().result()
    return {
        (str(url), str(origin), int(depth))
        for url, origin, depth in terrain.rows(
            "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON id = page_id"
            " WHERE last_run = (SELECT max(id) FROM runs)"
        )
    }


def weights(terrain: Terrain) -> set[tuple[object, ...]]:
    return set(
        terrain.rows(
            "SELECT s.domain_name, t.domain_name, weight FROM edges"
            " JOIN nodes s ON s.node_id = from_node_id JOIN nodes t ON t.node_id = to_node_id"
        )
    )


class TestStartingPoints:
    def test_are_the_seeds_and_what_has_been_visited(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain())
        terrain.record(processed(A, B, C))
        terrain.record(processed(B, D))
        assert terrain.states()[D] == "depth_exceeded"
        run_again(terrain)
        # C was never visited and D never asked: they must be found again.
        assert terrain.waiting() == {A, B}
        terrain.record(processed(B, D))
        assert terrain.waiting() == {A, D}

    def test_are_at_depth_0_from_the_origins_they_had(self, make_terrain: Make) -> None:
        policy = by_domain({"a.test": 1, "e.test": 2}, (A, E))
        terrain = make_terrain(policy)
        terrain.record(processed(A, B), processed(E, C))
        terrain.record(processed(B), processed(C, B))
        assert (B, "e.test", 2) in depths(terrain)
        run_again(terrain)
        expected = {(A, "a.test", 0), (E, "e.test", 0), (C, "e.test", 0)}
        assert depths(terrain) == expected | {(B, "a.test", 0), (B, "e.test", 0)}

    def test_stay_what_they_are_when_depths_are_settled_again(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain({"a.test": 1, "e.test": 2}, (A, E)))
        terrain.record(processed(A, B), processed(E))
        terrain.record(processed(B))
        run_again(terrain)
        terrain.record(processed(E, B))
        first = depths(terrain)
        terrain.reopen()
        assert depths(terrain) == first
        assert {(B, "a.test", 0), (B, "e.test", 1)} <= first

    def test_start_from_all_origins_if_theirs_are_not_known(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain({"a.test": 1, "e.test": 4}, (A, E)))
        terrain.record(processed(A, B))
        terrain.record(processed(B))
        terrain.reopen(start=Start.FRESH)  # killed before the depths were settled
        assert {(B, "a.test", 0), (B, "e.test", 0)} <= depths(terrain)

    def test_start_from_all_origins_if_theirs_are_gone(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain({"a.test": 1, "e.test": 1}, (A, E)))
        terrain.record(processed(A, B), processed(E, C))
        terrain.record(processed(B), processed(C))
        run_again(terrain, by_domain({"e.test": 3}, (E,), terrain_hash="other"))
        found = depths(terrain)
        assert {(A, "e.test", 0), (B, "e.test", 0), (C, "e.test", 0)} <= found

    def test_have_the_reach_of_their_widest_origin(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain({"a.test": 2, "e.test": 1}, (A, E)))
        terrain.record(processed(A, B), processed(E, B, C))
        terrain.record(processed(B), processed(C))
        run_again(terrain)
        radii = dict(terrain.rows("SELECT url, radius FROM page JOIN pages USING (id)"))
        assert radii == {A: 2, B: 2, C: 1, E: 1}

    def test_are_as_many_as_there_are(
        self, make_terrain: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(revisits, "CHUNK", 3)
        others = [f"https://n{number}.test/" for number in range(10)]
        terrain = make_terrain(by_domain())
        terrain.record(processed(A, *others))
        terrain.record(*map(processed, others))
        run_again(terrain)
        assert terrain.waiting() == {A, *others}

    def test_have_origins_beyond_the_first_word_of_bits(self, make_terrain: Make) -> None:
        names = [f"o{number}.test" for number in range(70)]
        seeds = tuple(f"https://{name}/" for name in names)
        terrain = make_terrain(by_domain(dict.fromkeys(names, 1), seeds))
        terrain.record(processed(seeds[3], B), processed(seeds[68], B))
        terrain.record(processed(B))
        run_again(terrain)
        assert {row for row in depths(terrain) if row[0] == B} == {
            (B, "o3.test", 0), (B, "o68.test", 0),
        }  # fmt: skip

    def test_by_page_there_are_none_but_the_seeds(self, make_terrain: Make) -> None:
        terrain = make_terrain(make_policy({"a.test": 1}, [A]))
        terrain.record(processed(A, B))
        terrain.record(processed(B))
        run_again(terrain)
        assert terrain.waiting() == {A}

    def test_of_which_a_listed_one_is_not_asked(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain())
        terrain.record(processed(A, B))
        terrain.record(processed(B))
        run_again(terrain, by_domain(blacklist=["b.test"], config_hash="other"))
        assert terrain.waiting() == {A}
        assert terrain.states()[B] == "blacklisted"


class TestHavingHadItsVisits:
    """A node visited as often as allowed."""

    @pytest.fixture
    def terrain(self, make_terrain: Make) -> Terrain:
        """B and A have had their visits, C has not."""
        terrain = make_terrain(by_domain({"a.test": 3}, max_crawls=2))
        terrain.record(processed(A, B, title="A"))
        terrain.record(processed(B, title="B"))
        run_again(terrain)
        terrain.record(processed(A, C, title="A"))
        terrain.record(ended(B, PageState.DEAD_LINK, status_code=404, error_message="HTTP 404"))
        terrain.record(processed(C))
        return terrain

    def test_it_is_not_asked_again_be_it_a_seed(self, terrain: Terrain) -> None:
        run_again(terrain)
        assert terrain.waiting() == {C}
        terrain.record(processed(C, A, B))
        assert terrain.waiting() == set()

    def test_it_keeps_what_its_last_visit_found(self, terrain: Terrain) -> None:
        run_again(terrain)
        terrain.record(processed(C, A, B))
        rows = terrain.rows("SELECT url, state, error_message, last_run, title FROM pages")
        assert (A, "processed", None, 3, "A") in rows
        assert (B, "dead_link", "HTTP 404", 3, None) in rows

    def test_it_has_its_depth_of_this_run(self, terrain: Terrain) -> None:
        run_again(terrain)
        terrain.record(processed(C, B))
        assert (B, "a.test", 1) in depths(terrain)

    def test_its_links_are_not_followed(self, terrain: Terrain) -> None:
        run_again(terrain)
        assert depths(terrain) == {(A, "a.test", 0), (C, "a.test", 0)}

    def test_it_is_not_too_deep_either(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain({"a.test": 1}, max_crawls=1))
        terrain.record(processed(A, B))
        terrain.record(processed(B))
        run_again(terrain, by_domain({"a.test": 0, "e.test": 0}, (A, E), max_crawls=1,
                                     terrain_hash="other"))  # fmt: skip
        terrain.record(processed(E, B))
        assert terrain.states()[B] == "processed"

    def test_off_a_list_again_it_is_what_it_was(self, terrain: Terrain) -> None:
        listed = by_domain({"a.test": 3}, max_crawls=2, blacklist=["b.test"], config_hash="other")
        run_again(terrain, listed)
        terrain.record(processed(C, B))
        assert terrain.states()[B] == "blacklisted"
        both = {"a.test": 3, "d.test": 3}
        run_again(terrain, by_domain(both, (A, D), max_crawls=2, terrain_hash="other"))
        terrain.record(processed(D, B))
        assert terrain.states()[B] == "dead_link"

    def test_more_visits_allowed_bring_it_back(self, terrain: Terrain) -> None:
        run_again(terrain, by_domain({"a.test": 3}, max_crawls=3, terrain_hash="other"))
        assert terrain.waiting() == {A, B, C}

    def test_a_redirect_kept_leads_nowhere_in_this_run(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain(max_crawls=1))
        terrain.record(redirected(A, B))
        terrain.record(redirected(B, A))
        run_again(terrain)
        # In the first run it was a cycle; in this one nobody was asked.
        assert terrain.rows("SELECT url, state FROM pages WHERE last_run = 2") == [(A, "failed")]


def test_a_weight_is_the_number_of_visits_that_saw_the_link(make_terrain: Make) -> None:
    terrain = make_terrain(by_domain())
    terrain.record(processed(A, B, C))
    run_again(terrain)
    terrain.record(processed(A, B))
    run_again(terrain)
    terrain.record(redirected(A, B))
    assert weights(terrain) == {("a.test", "b.test", 3), ("a.test", "c.test", 1)}


class TestPlacesUnderARoot:
    """`max-subdomains-per-root`, by domain: over all runs."""

    SUBS = tuple(f"https://{name}.root.test/" for name in "abcde")

    def visited(self, terrain: Terrain) -> set[str]:
        return {url for url, count in self.counts(terrain).items() if count}

    def counts(self, terrain: Terrain) -> dict[str, int]:
        rows = terrain.rows("SELECT domain_name, crawl_count FROM nodes")
        return {f"https://{name}/": count for name, count in rows}

    def test_who_has_been_visited_keeps_its_place(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain(max_subdomains=2, max_crawls=2))
        for _ in range(4):
            if A in terrain.waiting():
                terrain.record(processed(A, *self.SUBS))
            terrain.record(*map(processed, terrain.waiting()))
            run_again(terrain)
        assert self.visited(terrain) == {A, *self.SUBS[:2]}
        assert set(self.counts(terrain).values()) == {0, 2}

    def test_who_was_only_let_in_does_not(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain(max_subdomains=2))
        terrain.record(processed(A, *self.SUBS))
        run_again(terrain)
        terrain.record(processed(A, *reversed(self.SUBS)))
        assert terrain.waiting() == set(self.SUBS[-2:])

    def test_a_changed_configuration_counts_anew(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain(max_subdomains=2))
        terrain.record(processed(A, *self.SUBS[:2]))
        terrain.record(*map(processed, self.SUBS[:2]))
        run_again(terrain)
        terrain.reopen(by_domain(max_subdomains=3, config_hash="other"))
        terrain.record(processed(A, *self.SUBS))
        states = terrain.states()
        assert [states[url] for url in self.SUBS] == ["queued"] * 3 + ["subdomain_limit_hit"] * 2

    def test_one_that_becomes_quality_frees_its_place(self, make_terrain: Make) -> None:
        terrain = make_terrain(by_domain(max_subdomains=1))
        terrain.record(processed(A, *self.SUBS[:2]))
        terrain.record(processed(self.SUBS[0]))
        quality = {"a.test": 1, "a.root.test": 1}
        run_again(terrain, by_domain(quality, max_subdomains=1, terrain_hash="other"))
        terrain.record(processed(A, self.SUBS[1]))
        assert self.SUBS[1] in terrain.waiting()


ROOTS = {
    "a suffix of two labels": (["a.one.co.uk", "b.one.co.uk"], ["one.co.uk", "a.two.co.uk"]),
    "a private suffix": (["a.me.github.io", "b.me.github.io"], ["me.github.io", "you.github.io"]),
    "punycode": (["a.xn--85x722f.com.cn", "b.食狮.com.cn"], ["xn--85x722f.com.cn"]),
    "punycode in the suffix": (["a.食狮.公司.cn", "b.食狮.公司.cn"], ["食狮.公司.cn"]),
    "a trailing dot": (["a.one.test.", "b.one.test"], ["one.test.", "a.two.test"]),
    "www.": (["a.one.test", "www.b.one.test"], ["www.one.test"]),
    "addresses": ([], ["192.0.2.1", "192.0.2.2", "198.51.2.1", "[2001:db8::1]", "[2001:db8::2]"]),
    "single labels": ([], ["intranet", "wiki", "localhost"]),
    "public suffixes": ([], ["co.uk", "github.io"]),
}


@pytest.mark.parametrize(("under_one_root", "free"), ROOTS.values(), ids=ROOTS)
def test_the_cap_counts_under_the_right_root(
    make_terrain: Make, under_one_root: list[str], free: list[str]
) -> None:
    """Of the first list one host is let in; the others are roots of their own or alone there."""
    terrain = make_terrain(by_domain(max_subdomains=1))
    links = [f"https://{host}/" for host in (*under_one_root, *free)]
    terrain.record(processed(A, *links))
    found = sorted(state for url, state in terrain.states().items() if url != A)
    left_out = max(0, len(under_one_root) - 1)
    assert found == ["queued"] * (len(links) - left_out) + ["subdomain_limit_hit"] * left_out


def test_quality_hosts_do_not_count(make_terrain: Make) -> None:
    terrain = make_terrain(by_domain({"a.test": 1, "b.root.test": 1}, max_subdomains=1))
    hosts = ["b.root.test", "c.root.test", "d.root.test"]
    terrain.record(processed(A, *(f"https://{host}/" for host in hosts)))
    states = terrain.states()
    assert [states[f"https://{host}/"] for host in hosts] == [
        "queued", "queued", "subdomain_limit_hit",
    ]  # fmt: skip


@pytest.mark.parametrize("first", [False, True])
def test_a_database_keeps_its_granularity(make_terrain: Make, *, first: bool) -> None:
    policy = by_domain()
    terrain = make_terrain(replace(policy, by_domain=first))
    words = ("domain", "page") if first else ("page", "domain")
    with pytest.raises(ConfigError) as error:
        terrain.reopen(replace(policy, by_domain=not first))
    assert str(error.value) == (
        f'{terrain.location}: holds a terrain by {words[0]}, and crawler.granularity = "{words[1]}"'
        ": name another output.database-path, or set the key back"
    )
    terrain.policy = replace(policy, by_domain=first)
