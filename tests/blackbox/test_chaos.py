"""Chaos in small: a few kills and one of each other trouble (`make chaos` does hundreds)."""

from pathlib import Path

from benchmarks.chaos import Options, run

SCRIPT = (
    "kill early",
    "kill",
    "file size limit",
    "locked by a writer",
    "stop",
    "terminate",
    "terminate and kill",
)
"""Four of them end in a SIGKILL for sure, the last if the crawl has not ended before."""


def test_a_crawl_that_everything_happens_to_owes_nothing(tmp_path: Path) -> None:
    options = Options(
        kills=4,
        seed=1,
        lock_seconds=1.5,
        pages=5,
        steady=5,
        transient=2,
        slow=False,
        script=SCRIPT,
    )
    tally, verdict = run(options, tmp_path, loud=False)
    assert verdict.good, "\n".join(verdict.report())
    assert tally.kills >= options.kills
    assert tally.faults.total() > 20
    assert tally.pages > 20
