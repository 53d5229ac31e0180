"""Which run a start goes on with, what it refuses, and what it says (design 3.6)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from terrain.errors import RunRefused
from terrain.store import Policy, Start
from tests.store.terrains import Terrain, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
OTHER = "https://a.test/other"


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """A terrain whose first run has begun and read nothing."""
    return make_terrain(make_policy({"a.test": 2}, [HOME]))


def statuses(terrain: Terrain) -> list[tuple[object, ...]]:
    return terrain.rows("SELECT id, status, finished_at IS NULL FROM runs ORDER BY id")


def events(terrain: Terrain, run: int) -> list[object]:
    found = terrain.rows("SELECT kind FROM run_events WHERE run_id = :run ORDER BY id", run=run)
    return [kind for (kind,) in found]


def test_the_first_start_makes_the_first_run_and_reaches_its_seeds(terrain: Terrain) -> None:
    run = terrain.opened.run
    assert run is not None
    assert (run.id, run.resumed, run.finished, run.notices) == (1, False, False, ())
    assert terrain.waiting() == {HOME}
    assert statuses(terrain) == [(1, "running", True)]
    assert events(terrain, 1) == ["started"]


def test_a_run_that_was_killed_is_gone_on_with(terrain: Terrain) -> None:
    terrain.record(processed(HOME, OTHER))
    info = terrain.reopen()
    assert (info.id, info.resumed) == (1, True)
    assert info.notices == ("going on with run 1, started 2023-11-14T22:13:21.000Z",)
    assert terrain.waiting() == {OTHER}
    assert events(terrain, 1) == ["started", "resumed"]


def test_an_interrupted_run_is_running_again_when_it_is_resumed(terrain: Terrain) -> None:
    assert not terrain.opened.close_run(completed=False)
    assert statuses(terrain) == [(1, "interrupted", False)]
    assert terrain.reopen().resumed
    assert statuses(terrain) == [(1, "running", True)]
    assert events(terrain, 1) == ["started", "closed", "resumed"]


def test_after_a_complete_run_a_new_one_starts(terrain: Terrain) -> None:
    terrain.record(processed(HOME))
    terrain.finish()
    info = terrain.reopen()
    assert (info.id, info.resumed, info.notices) == (2, False, ())
    assert statuses(terrain) == [(1, "completed", False), (2, "running", True)]


def test_fresh_gives_the_unfinished_run_up(terrain: Terrain) -> None:
    terrain.record(processed(HOME, OTHER))
    info = terrain.reopen(start=Start.FRESH)
    assert (info.id, info.resumed) == (2, False)
    assert statuses(terrain) == [(1, "interrupted", False), (2, "running", True)]
    assert terrain.waiting() == {HOME}


def test_resume_goes_on_like_auto(terrain: Terrain) -> None:
    assert terrain.reopen(start=Start.RESUME).id == 1


def test_resume_refuses_when_the_newest_run_is_complete(terrain: Terrain) -> None:
    terrain.record(processed(HOME))
    terrain.finish()
    with pytest.raises(RunRefused, match="there is no unfinished run to resume"):
        terrain.open(start=Start.RESUME)


def test_resume_refuses_an_empty_database(terrain: Terrain, tmp_path: Path) -> None:
    empty = Terrain(tmp_path / "empty.db", terrain.policy)
    with pytest.raises(RunRefused, match="there is no unfinished run to resume"):
        empty.open(start=Start.RESUME)


def test_a_run_is_never_complete_while_pages_wait(terrain: Terrain) -> None:
    assert not terrain.opened.close_run(completed=True)
    assert statuses(terrain) == [(1, "interrupted", False)]


def test_abandoning_marks_the_run_and_changes_no_page(terrain: Terrain) -> None:
    terrain.record(processed(HOME, OTHER))
    before = terrain.states()
    terrain.opened.abandon_run()
    assert statuses(terrain) == [(1, "interrupted", False)]
    assert terrain.states() == before


def test_metrics_of_a_run_survive_a_stop_that_has_none(terrain: Terrain) -> None:
    terrain.opened.close_run(completed=False, metrics='{"pages": 0}')
    terrain.reopen()
    terrain.opened.abandon_run()
    assert terrain.rows("SELECT metrics FROM runs") == [('{"pages": 0}',)]


def test_pages_that_were_out_at_a_kill_are_asked_again(terrain: Terrain) -> None:
    page = terrain.supply("a.test").pages[0]
    terrain.opened.mark_fetching([page.page_id]).result()
    assert terrain.states() == {HOME: "fetching"}
    terrain.reopen()
    assert terrain.states() == {HOME: "queued"}
    assert terrain.supply("a.test").pages == (page,)


class TestJobdir:
    """JOBDIR names a run: the same one resumes it, a new one starts a new run."""

    @pytest.fixture
    def job(self, terrain: Terrain) -> Terrain:
        """A terrain whose second run is named by the token `one`."""
        terrain.reopen(job="one")
        return terrain

    def test_a_new_one_starts_a_new_run_even_if_the_newest_is_unfinished(
        self, job: Terrain
    ) -> None:
        assert statuses(job) == [(1, "interrupted", False), (2, "running", True)]

    def test_the_same_one_resumes_its_run(self, job: Terrain) -> None:
        info = job.reopen(job="one")
        assert (info.id, info.resumed) == (2, True)

    def test_without_one_the_newest_run_is_resumed_and_keeps_its_name(self, job: Terrain) -> None:
        assert job.reopen().id == 2
        assert job.reopen(job="one").id == 2

    def test_an_older_one_is_refused_with_the_reason(self, job: Terrain) -> None:
        job.reopen(job="two")
        job.crash()
        with pytest.raises(RunRefused) as refused:
            job.open(job="one")
        assert str(refused.value) == (
            "the JOBDIR names run 2, but run 3 has walked this terrain since; "
            "only the newest run can be resumed: use a new JOBDIR"
        )

    def test_a_complete_one_has_nothing_left_to_do(self, job: Terrain) -> None:
        job.record(processed(HOME))
        job.finish()
        info = job.reopen(job="one")
        assert (info.id, info.finished) == (2, True)
        (notice,) = info.notices
        assert notice == (
            "run 2, which the JOBDIR names, is complete: nothing to do "
            "(a new JOBDIR starts a new run)"
        )
        assert statuses(job)[-1] == (2, "completed", False)

    def test_fresh_gives_the_name_to_a_new_run(self, job: Terrain) -> None:
        assert job.reopen(start=Start.FRESH, job="one").id == 3
        assert job.reopen(job="one").id == 3

    def test_resume_refuses_one_that_names_no_run(self, job: Terrain) -> None:
        job.crash()
        with pytest.raises(RunRefused, match="names no run of this database"):
            job.open(start=Start.RESUME, job="other")
