"""Rules hold until the host says otherwise, not until it, or this machine, has a bad moment."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Behaviour, Flaky
from terrain.sampleweb.pages import Hang, Html, Reset, Status, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import CLOCK_SLACK, Database, crawl, write_config

CRAWL_DELAY = 0.4


def web(robots: str | Behaviour) -> Web:
    pages: dict[str, Behaviour] = {"/": Html("home", to("/open", "/private"))}
    pages |= {path: Html(path) for path in ("/open", "/private")}
    return Web({"a.test": Host(pages, robots=robots)})


@pytest.mark.parametrize("trouble", [Reset(), Status(500)])
def test_expired_rules_serve_while_no_better_answer_comes(
    serve: Callable[[Web], ServedWeb], tmp_path: Path, trouble: Behaviour
) -> None:
    served = serve(web(f"User-agent: *\nDisallow: /private\nCrawl-delay: {CRAWL_DELAY}\n"))
    quality = [{"domain": "a.test", "seeds": ["https://a.test/"]}]
    config = write_config(tmp_path, served, quality)
    crawl(config)
    with closing(sqlite3.connect(Database(config).path)) as connection:
        connection.execute("UPDATE robots SET expires_at = 1")
        connection.commit()
    asked_before = len(served.log())
    served.update(web(trouble))
    crawl(config, "-q", "--fresh")

    page = Database(config).pages()["https://a.test/private"]
    assert (page.state, page.error_message, page.last_run) == ("failed", "robots denied", 2)
    second = served.log()[asked_before:]
    assert [each.target for each in second if each.kind != "head"] == ["/robots.txt", "/", "/open"]
    for before, after in pairwise(second):
        assert after.start - before.end >= CRAWL_DELAY - CLOCK_SLACK


def test_a_host_that_takes_its_rules_back_is_heard(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    served = serve(web("User-agent: *\nDisallow: /private\n"))
    config = write_config(tmp_path, served, [{"domain": "a.test", "seeds": ["https://a.test/"]}])
    crawl(config)
    with closing(sqlite3.connect(Database(config).path)) as connection:
        connection.execute("UPDATE robots SET expires_at = 1")
        connection.commit()
    served.update(web(Status(404)))
    crawl(config, "-q", "--fresh")
    assert Database(config).states()["https://a.test/private"] == "processed"


def test_rules_that_do_not_come_in_time_are_asked_for_once_more(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    served = serve(web(Flaky((Hang(), Status(200, b"User-agent: *\nDisallow: /private\n")))))
    config = write_config(
        tmp_path,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/"]}],
        retry={"delay": 100, "timeout": 1000},
    )
    crawl(config)
    assert Database(config).pages()["https://a.test/private"].error_message == "robots denied"
    assert [each.kind for each in served.log()].count("robots") == 2


def test_rules_that_never_come_in_time_are_not_waited_for_longer(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    served = serve(web(Hang()))
    config = write_config(
        tmp_path,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/"]}],
        retry={"delay": 100, "timeout": 1000},
    )
    crawl(config)
    assert Database(config).states()["https://a.test/private"] == "processed"
    assert [each.kind for each in served.log()].count("robots") == 2
