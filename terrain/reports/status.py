"""How a run stands, in words: shared by summary and stats."""

from terrain.reports.wording import duration, moment, parsed
from terrain.store.queries import TerrainReader


def status_of(reader: TerrainReader) -> str:
    """Return the run's status; a run whose process is gone is called by its name."""
    run = reader.run
    if run.status == "running" and reader.crawler_alive() is False:
        return "killed while running; the next crawl goes on with it"
    if run.status == "interrupted":
        return "interrupted; the next crawl goes on with it"
    return run.status


def ended(reader: TerrainReader) -> str:
    """Return when the run ended."""
    return moment(reader.run.finished_at) if reader.run.finished_at else "not yet"


def lasted(reader: TerrainReader, now: float) -> str:
    """Return how long the run took, pauses between its processes included, or takes so far."""
    run = reader.run
    begin = parsed(run.started_at).timestamp()
    end = parsed(run.finished_at).timestamp() if run.finished_at else now
    return duration(end - begin) if run.finished_at else f"{duration(end - begin)} so far"
