"""The read side of the store: what it says of the known terrain, and that it only reads."""

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from terrain.errors import NewerSchema, NotADatabase, StoreError
from terrain.reports.stats import render_stats
from terrain.rules.states import PageState
from terrain.store import Policy, Start, Store
from terrain.store.queries import DepthCount, TerrainReader, Territory, open_terrain
from tests.reports.known import SECOND, KnownTerrain
from tests.store.terrains import address, make_policy, processed


def territory(reader: TerrainReader, policy: Policy) -> Territory:
    return reader.territory(policy, most_quality=100, most_others=100)


class TestTerritory:
    def test_radius_and_settled_depths_tell_the_same(
        self, reader: TerrainReader, policy: Policy
    ) -> None:
        # Another configuration's limits may differ, so then depths are looked up page by page.
        other = replace(policy, terrain_hash="another")
        assert territory(reader, other) == territory(reader, policy)

    def test_limits_that_differ_by_origin(self, tmp_path: Path) -> None:
        policy = make_policy({"a.org": 3, "b.org": 1}, ["https://a.org/", "https://b.org/"])
        terrain = KnownTerrain(tmp_path / "t.db", policy)
        terrain.store.open_run()
        terrain.record(
            processed("https://a.org/", "https://x.com/1"),
            processed("https://b.org/", "https://x.com/2"),
            processed("https://x.com/1", "https://y.com/"),
            # From b.org alone this is the limit: the next page is beyond it, and still recorded.
            processed("https://x.com/2", "https://z.com/"),
        )
        terrain.store.close_run(completed=False)
        terrain.store.close()
        with open_terrain(tmp_path / "t.db") as reader:
            found = territory(reader, policy).depths
        assert found == [
            DepthCount(0, pages=2, read=2, new_domains=2),
            DepthCount(1, pages=2, read=2, new_domains=1),
            DepthCount(2, pages=2, read=0, new_domains=2),
        ]

    def test_depths_that_are_not_settled_are_none(self, tmp_path: Path) -> None:
        policy = make_policy({"a.org": 3, "b.org": 1}, ["https://a.org/", "https://b.org/"])
        terrain = KnownTerrain(tmp_path / "t.db", policy)
        terrain.store.open_run()
        with open_terrain(tmp_path / "t.db") as reader:
            found = territory(reader, policy)
        terrain.store.close()
        assert found.depths == [DepthCount(None, pages=2, read=0, new_domains=2)]
        assert [(domain.nearest, domain.farthest) for domain in found.quality] == [(None, None)] * 2

    def test_a_pattern_above_many_roots(self, tmp_path: Path) -> None:
        # Under github.io every name is a root of its own (Public Suffix List).
        policy = make_policy({"*.github.io": 1}, ["https://me.github.io/"])
        terrain = KnownTerrain(tmp_path / "t.db", policy)
        terrain.store.open_run()
        terrain.record(
            processed("https://me.github.io/", "https://you.github.io/", "https://x.com/")
        )
        with open_terrain(tmp_path / "t.db") as reader:
            found = territory(reader, policy)
        terrain.store.close()
        assert [domain.name for domain in found.quality] == ["me.github.io", "you.github.io"]
        assert [domain.name for domain in found.others] == ["x.com"]


class TestVisits:
    def test_outcomes_leave_out_what_was_never_asked(self, reader: TerrainReader) -> None:
        # The page that robots.txt forbids is `failed` too, and was not asked for.
        assert reader.outcomes() == {
            PageState.PROCESSED: 5,
            PageState.REDIRECTED: 1,
            PageState.CONTENT_MISMATCH: 1,
            PageState.DEAD_LINK: 1,
            PageState.FAILED: 2,
            PageState.RATE_LIMITED: 1,
        }

    @pytest.mark.parametrize(
        ("times", "p95"),
        [([7], 7), ([1, 2], 2), (list(range(1, 21)), 19), (list(range(1, 101)), 95), ([5] * 40, 5)],
    )
    def test_p95_is_the_nearest_rank(self, tmp_path: Path, times: list[int], p95: int) -> None:
        policy = make_policy({"a.org": 1}, ["https://a.org/0"])
        terrain = KnownTerrain(tmp_path / "t.db", policy)
        terrain.store.open_run()
        urls = [f"https://a.org/{number}" for number in range(len(times))]
        outcomes = [
            processed(url, *urls, fetch_ms=took) for url, took in zip(urls, times, strict=True)
        ]
        terrain.store.record_all(outcomes[:1]).result()
        terrain.store.record_all(outcomes[1:]).result()
        with open_terrain(tmp_path / "t.db") as reader:
            assert reader.fetch_times().p95_ms == p95
        terrain.store.close()

    def test_domains(self, reader: TerrainReader) -> None:
        assert reader.domains_met() == 11
        # alpha.org, docs.beta.org, beta.org, gamma.com, s1.gamma.com, big.com, slow.com
        assert reader.domains_visited() == 7


class TestReading:
    def test_a_crawl_goes_on_and_the_reader_sees_one_moment(
        self, own_database: Path, policy: Policy
    ) -> None:
        terrain = KnownTerrain(own_database, policy, at=SECOND + 10_000)
        terrain.store.open_run(Start.FRESH)
        with open_terrain(own_database) as before:
            assert before.run.id == 3
            assert before.states() == {PageState.QUEUED: 2}
            terrain.record(processed("https://alpha.org/", "https://new.com/"))
            assert before.states() == {PageState.QUEUED: 2}
            with open_terrain(own_database) as after:
                assert after.states() == {PageState.QUEUED: 2, PageState.PROCESSED: 1}
        terrain.store.close()

    def test_after_a_kill(self, own_database: Path) -> None:
        script = f"""
import os, signal
from tests.reports.known import KnownTerrain
from tests.store.terrains import processed
from pathlib import Path
from terrain.store import Start
terrain = KnownTerrain(Path({str(own_database)!r}), at={SECOND + 10_000})
terrain.store.open_run(Start.FRESH)
terrain.record(processed("https://alpha.org/", "https://new.com/"))
os.kill(os.getpid(), signal.SIGKILL)
"""
        root = Path(__file__).parent.parent.parent
        killed = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
        assert killed.returncode == -signal.SIGKILL
        with open_terrain(own_database) as reader:
            assert reader.crawler_alive() is False
            assert reader.states() == {PageState.QUEUED: 2, PageState.PROCESSED: 1}
            text = render_stats(reader, now=SECOND + 10_060)
        assert "3, killed while running; the next crawl goes on with it" in text

    def test_nothing_is_written(self, own_database: Path) -> None:
        before = own_database.read_bytes()
        with open_terrain(own_database) as reader:
            with pytest.raises(OperationalError, match="readonly"):
                reader._connection.exec_driver_sql("DELETE FROM page")
            reader.totals()
        assert own_database.read_bytes() == before

    def test_a_running_crawl_is_alive(self, own_database: Path, policy: Policy) -> None:
        store = Store(own_database, policy)
        with open_terrain(own_database) as reader:
            assert reader.crawler_alive() is True
        store.close()


class TestRefusals:
    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(NotADatabase, match="there is no such file; run a crawl first"):
            open_terrain(tmp_path / "none.db")
        assert not (tmp_path / "none.db").exists()

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(NotADatabase, match="is a directory"):
            open_terrain(tmp_path)

    def test_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "letter.txt").write_text("Dear reader, " * 1_000)
        with pytest.raises(NotADatabase, match="is not a SQLite database"):
            open_terrain(tmp_path / "letter.txt")

    def test_another_programs_database(self, tmp_path: Path) -> None:
        database = sqlite3.connect(tmp_path / "other.db")
        database.execute("CREATE TABLE songs (name)")
        database.close()
        with pytest.raises(NotADatabase, match="another program"):
            open_terrain(tmp_path / "other.db")

    def test_no_run_yet(self, tmp_path: Path, policy: Policy) -> None:
        Store(tmp_path / "t.db", policy).close()
        with pytest.raises(NotADatabase, match="holds no terrain yet; run a crawl first"):
            open_terrain(tmp_path / "t.db")

    def test_a_newer_schema(self, own_database: Path) -> None:
        database = sqlite3.connect(own_database)
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
        database.close()
        with pytest.raises(NewerSchema, match="newer terrain"):
            open_terrain(own_database)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, own_database: Path) -> None:
        own_database.chmod(0)
        with pytest.raises(StoreError, match="permission"):
            open_terrain(own_database)


class TestGraph:
    def test_nodes_and_edges_of_the_known_terrain(
        self, reader: TerrainReader, policy: Policy
    ) -> None:
        graph = reader.domain_graph(policy, 60)
        names = {node.id: node.name for node in graph.nodes}
        edges = {(names[edge.source], names[edge.target]): edge.weight for edge in graph.edges}
        assert edges == {
            ("alpha.org", "docs.beta.org"): 1,
            ("alpha.org", "gamma.com"): 2,
            ("alpha.org", "ads.net"): 3,
            ("alpha.org", "wiki.net"): 2,
            ("alpha.org", "slow.com"): 1,
            ("alpha.org", "s1.gamma.com"): 1,
            ("alpha.org", "s2.gamma.com"): 1,
            ("alpha.org", "big.com"): 2,
            ("docs.beta.org", "ads.net"): 1,
            ("docs.beta.org", "beta.org"): 1,
            ("beta.org", "docs.beta.org"): 1,
            ("gamma.com", "far.io"): 1,
        }
        assert (graph.all_nodes, graph.all_edges) == (11, 12)
        assert reader.domain_edges() == 12
        links = {node.name: node.links for node in graph.nodes}
        assert (links["alpha.org"], links["ads.net"], links["docs.beta.org"]) == (13, 4, 4)

    def test_quality_domains_come_before_better_connected_ones(
        self, reader: TerrainReader, policy: Policy
    ) -> None:
        graph = reader.domain_graph(policy, 4)
        assert [node.name for node in graph.nodes] == [
            "alpha.org",
            "ads.net",
            "docs.beta.org",
            "beta.org",
        ]
        assert (graph.all_nodes, graph.all_edges) == (11, 12)

    def test_a_quality_domain_without_links_is_on_the_map(self, tmp_path: Path) -> None:
        policy = make_policy({"a.org": 1}, ["https://a.org/"])
        terrain = KnownTerrain(tmp_path / "t.db", policy)
        terrain.store.open_run()
        terrain.store.close()
        with open_terrain(tmp_path / "t.db") as reader:
            graph = reader.domain_graph(policy, 60)
        assert [(node.name, node.links) for node in graph.nodes] == [("a.org", 0)]
        assert graph.edges == []


def test_listed_urls_count_links_that_are_there(own_database: Path, policy: Policy) -> None:
    """A page that no longer links to it does not count, as in the public view."""
    terrain = KnownTerrain(own_database, policy, at=SECOND + 10_000)
    terrain.store.open_run(Start.FRESH)
    terrain.record(
        processed("https://alpha.org/", "https://ads.net/x", "https://alpha.org/a"),
        processed("https://docs.beta.org/"),
    )
    with open_terrain(own_database) as reader:
        found = reader.listed(20)[PageState.BLACKLISTED]
    terrain.store.close()
    view = sqlite3.connect(own_database).execute(
        "SELECT url, reference_count FROM blacklisted_urls WHERE id = ?",
        (address("https://ads.net/x").page_id,),
    )
    # alpha.org/ has it still, alpha.org/a has not been read again, docs.beta.org/ has dropped it;
    # ads.net/y has not been reached in this run.
    assert [(listed.url, listed.references) for listed in found] == [("https://ads.net/x", 2)]
    assert view.fetchall() == [("https://ads.net/x", 2)]
