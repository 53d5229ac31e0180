"""What rules and trap guards keep from being asked for: known, with its links and the reason."""

from collections.abc import Callable

import pytest

from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.traps import TrapLimits
from terrain.store import Policy
from tests.store.terrains import Terrain, make_policy, processed, redirected

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
TAG = "https://a.test/tag/x"
PAGE = "https://a.test/page"
GROWN = "https://a.test/b/b/b"
REASON = "recorded by a rule: a.test/tag/*"
TRAP = "trap guard: a segment more than 2 times in the path"


def rules(*patterns: str, action: Action = Action.RECORD) -> LinkRules:
    return LinkRules(
        [Rule(pattern, action) for pattern in patterns], TrapLimits(repeated_segments=2)
    )


def policy(link_rules: LinkRules, **changes: object) -> Policy:
    given = {"config_hash": f"config-{id(link_rules)}", "link_rules": link_rules, **changes}
    return make_policy({"a.test": 1}, [HOME], **given)  # type: ignore[arg-type]


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    return make_terrain(policy(rules("a.test/tag/*", "*.far.test")))


def reasons(terrain: Terrain) -> dict[str, str | None]:
    return dict(terrain.rows("SELECT url, error_message FROM pages WHERE state = 'discovered'"))


def test_a_recorded_page_is_there_with_the_links_to_it_and_does_not_wait(terrain: Terrain) -> None:
    terrain.record(processed(HOME, TAG, PAGE, GROWN))
    assert terrain.states() == {
        HOME: "processed",
        TAG: "discovered",
        PAGE: "queued",
        GROWN: "discovered",
    }
    assert reasons(terrain) == {TAG: REASON, GROWN: TRAP}
    assert terrain.waiting() == {PAGE}
    assert terrain.rows("SELECT count(*) FROM links") == [(3,)]


def test_it_stays_so_however_it_is_reached_again(terrain: Terrain) -> None:
    terrain.record(processed(HOME, TAG, PAGE, "https://b.test/"))
    terrain.record(processed(PAGE, TAG), processed("https://b.test/", TAG))
    assert terrain.states()[TAG] == "discovered"


def test_what_is_recorded_is_so_at_any_depth_and_a_shorter_way_does_not_change_it(
    terrain: Terrain,
) -> None:
    far, near = "https://x.far.test/", "https://b.test/"
    terrain.record(processed(HOME, PAGE, near))
    terrain.record(processed(near, far))
    assert terrain.states()[far] == "discovered"  # two links away, where depth would say no
    terrain.record(processed(PAGE, far))
    assert terrain.states()[far] == "discovered"


def test_a_redirect_to_a_recorded_page_keeps_its_link(terrain: Terrain) -> None:
    terrain.record(processed(HOME, PAGE))
    terrain.record(redirected(PAGE, TAG))
    assert terrain.states() == {HOME: "processed", PAGE: "redirected", TAG: "discovered"}
    assert reasons(terrain) == {TAG: REASON}
    assert terrain.rows("SELECT kind FROM links WHERE kind = 'redirect'") == [("redirect",)]
    assert terrain.waiting() == set()


def test_lists_come_before_rules_and_guards(make_terrain: Make) -> None:
    terrain = make_terrain(policy(rules("bad.test"), blacklist=["bad.test"]))
    terrain.record(processed(HOME, "https://bad.test/", "https://bad.test/b/b/b"))
    found = terrain.states()
    assert found["https://bad.test/"] == found["https://bad.test/b/b/b"] == "blacklisted"


def test_seeds_are_never_taken_for_traps(make_terrain: Make) -> None:
    seed = "https://a.test/c/c/c/c"
    terrain = make_terrain(make_policy({"a.test": 1}, [seed], link_rules=rules()))
    assert terrain.waiting() == {seed}
    assert [page.fetch_url for page in terrain.supply("a.test").pages] == [seed]
    terrain.record(processed(seed, f"{seed}/c"))
    assert terrain.states() == {seed: "processed", f"{seed}/c": "discovered"}


def test_a_new_run_judges_anew(terrain: Terrain) -> None:
    terrain.record(processed(HOME, TAG))
    terrain.finish()
    terrain.policy = policy(rules())
    terrain.open()
    terrain.record(processed(HOME, TAG))
    assert terrain.states()[TAG] == "queued"
    assert terrain.rows("SELECT error_message FROM pages WHERE url = :u", u=TAG) == [(None,)]
    terrain.record(processed(TAG))
    terrain.finish()
    terrain.policy = policy(rules("a.test/tag/*"))
    terrain.open()
    terrain.record(processed(HOME, TAG))
    assert terrain.states()[TAG] == "discovered"
    assert reasons(terrain) == {TAG: REASON}


@pytest.mark.parametrize(
    ("action", "reason"),
    [(Action.RECORD, REASON), (Action.SKIP, "skipped by a rule: a.test/tag/*")],
)
def test_under_a_changed_configuration_waiting_pages_are_judged_as_they_are_loaded(
    make_terrain: Make, action: Action, reason: str
) -> None:
    terrain = make_terrain(policy(rules()))
    terrain.record(processed(HOME, TAG, PAGE))
    assert terrain.waiting() == {TAG, PAGE}
    info = terrain.reopen(policy(rules("a.test/tag/*", action=action)))
    assert info.resumed
    supply = terrain.supply("a.test")
    assert [page.fetch_url for page in supply.pages] == [PAGE]
    assert not supply.more
    assert terrain.states()[TAG] == "discovered"
    assert reasons(terrain) == {TAG: reason}
    assert terrain.waiting() == {PAGE}


def test_a_host_whose_waiting_pages_are_all_ruled_out_is_told_to_come_again_until_none_is_left(
    make_terrain: Make,
) -> None:
    terrain = make_terrain(policy(rules()))
    tags = [f"https://a.test/tag/{number}" for number in range(25)]
    terrain.record(processed(HOME, *tags, PAGE))
    terrain.reopen(policy(rules("a.test/tag/*")))
    found: list[str] = []
    for _ in range(25):
        supply = terrain.supply("a.test", pages=4, tokens=0)
        found += [page.fetch_url for page in supply.pages]
        if not supply.more:
            break
    assert found == [PAGE]
    assert terrain.waiting() == {PAGE}
    assert set(reasons(terrain)) == set(tags)


def test_what_was_recorded_stays_so_until_the_next_run(terrain: Terrain) -> None:
    terrain.record(processed(HOME, TAG))
    terrain.reopen(policy(rules()))
    assert terrain.states()[TAG] == "discovered"
    assert terrain.supply("a.test").pages == ()
