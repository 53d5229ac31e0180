"""Two identities with one id are refused loudly, never merged silently (design 3.2)."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from terrain.errors import IdentityCollision
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.states import PageState
from terrain.store import PageOutcome, Policy, Start, hosts
from tests.store.terrains import Terrain, address, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
SUB = "https://a.test/sub"
FIRST, SECOND = "https://c.test/first", "https://c.test/second"


def colliding(url: str, with_id_of: str) -> OutLink:
    """A link to an address whose hash happens to be another's; its second hash is its own."""
    forged = address(url)._replace(page_id=address(with_id_of).page_id)
    return OutLink(forged, LinkKind.ANCHOR, "forged", "", Position.BODY)


def read(url: str, *links: OutLink) -> PageOutcome:
    return PageOutcome(address(url).page_id, PageState.PROCESSED, links=links)


def anchors(terrain: Terrain) -> list[tuple[object, ...]]:
    return terrain.rows(
        "SELECT url, anchor FROM links JOIN pages ON pages.id = to_page_id ORDER BY url"
    )


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """FIRST and SUB are known."""
    terrain = make_terrain(make_policy({"a.test": 3}, [HOME]))
    terrain.record(processed(HOME, FIRST, SUB))
    return terrain


class TestPages:
    def test_the_second_identity_is_refused_and_named(
        self, terrain: Terrain, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.ERROR):
            recorded = terrain.record(read(SUB, colliding(SECOND, FIRST)))
        assert recorded.collisions == [SECOND]
        assert f"two identities have one page id; refused the second: {SECOND}" in caplog.text

    def test_the_first_stays_what_it_was(self, terrain: Terrain) -> None:
        terrain.record(read(SUB, colliding(SECOND, FIRST)))
        assert set(terrain.states()) == {HOME, SUB, FIRST}
        assert anchors(terrain) == [(SUB, None), (FIRST, None)]

    def test_a_remembered_page_is_no_excuse(self, terrain: Terrain) -> None:
        # FIRST was found by this process, so it is answered from memory.
        terrain.record(read(SUB, colliding(SECOND, FIRST)))
        terrain.reopen()
        terrain.record(read(FIRST, colliding(SECOND, SUB)))
        assert set(terrain.states()) == {HOME, SUB, FIRST}

    def test_two_new_ones_in_one_page(self, terrain: Terrain) -> None:
        one, two = "https://d.test/1", "https://d.test/2"
        genuine = OutLink(address(one), LinkKind.ANCHOR, "genuine", "", Position.BODY)
        recorded = terrain.record(read(SUB, genuine, colliding(two, one)))
        assert recorded.collisions == [two]
        assert (one, "genuine") in anchors(terrain)
        assert two not in terrain.states()

    def test_one_with_the_page_that_links_to_it(self, terrain: Terrain) -> None:
        recorded = terrain.record(read(SUB, colliding(SECOND, SUB)))
        assert recorded.collisions == [SECOND]
        assert SECOND not in terrain.states()

    def test_the_rest_of_the_page_is_recorded(self, terrain: Terrain) -> None:
        good = OutLink(address("https://d.test/"), LinkKind.ANCHOR, "good", "", Position.BODY)
        terrain.record(read(SUB, colliding(SECOND, FIRST), good))
        assert ("https://d.test/", "good") in anchors(terrain)
        assert terrain.states()[SUB] == "processed"

    def test_in_a_later_run_too(self, terrain: Terrain) -> None:
        terrain.reopen(start=Start.FRESH)
        terrain.record(processed(HOME, SUB))
        assert terrain.record(read(SUB, colliding(SECOND, FIRST))).collisions == [SECOND]
        assert terrain.rows(f"SELECT last_run FROM pages WHERE url = '{FIRST}'") == [(1,)]

    def test_a_seed_that_collides_stops_the_start(self, terrain: Terrain) -> None:
        seed = address(SECOND.replace("c.test", "a.test"))._replace(page_id=address(FIRST).page_id)
        policy = replace(terrain.policy, seeds=((seed, 0),), terrain_hash="other seeds")
        before = terrain.states()
        with pytest.raises(IdentityCollision, match=r"the seed https://a\.test/second has the id"):
            terrain.reopen(policy)
        # Nothing of the refused run is there: the old one can be gone on with.
        assert terrain.reopen(make_policy({"a.test": 3}, [HOME])).id == 1
        assert terrain.states() == before


class TestHosts:
    @pytest.fixture(autouse=True)
    def same_id(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def forged(name: str) -> int:
            return genuine("c.test" if name == "forged.test" else name)

        genuine = hosts.host_id
        monkeypatch.setattr(hosts, "host_id", forged)

    def test_pages_of_the_second_host_are_refused_and_named(self, terrain: Terrain) -> None:
        recorded = terrain.record(processed(SUB, "https://forged.test/x", "https://d.test/"))
        assert recorded.collisions == ["https://forged.test/x"]
        domains = terrain.rows("SELECT domain FROM pages")
        assert set(domains) == {("a.test",), ("c.test",), ("d.test",)}

    def test_two_new_ones_in_one_page(self, make_terrain: Make) -> None:
        terrain = make_terrain(make_policy({"a.test": 3}, [HOME]))
        recorded = terrain.record(processed(HOME, "https://forged.test/", "https://c.test/"))
        assert len(recorded.collisions) == 1
        assert terrain.rows("SELECT count(*) FROM nodes") == [(2,)]
