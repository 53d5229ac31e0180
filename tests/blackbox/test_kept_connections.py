"""One permission, one request on the wire: also when a kept connection breaks under it."""

from collections.abc import Callable
from pathlib import Path

from terrain.sampleweb.log import gaps
from terrain.sampleweb.pages import Html, Reset, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import CLOCK_SLACK, DELAY, Database, crawl, write_config


def test_a_request_on_a_connection_that_breaks_is_not_sent_again_past_the_clock(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    served = serve(Web({"a.test": Host({"/": Html("a", to("/reset")), "/reset": Reset()})}))
    config = write_config(
        tmp_path,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/"]}],
        retry={"delay": 100, "attempts": 2},
    )
    crawl(config)
    assert Database(config).states()["https://a.test/reset"] == "failed"
    log = served.log()
    asked = [each.method for each in log if each.target == "/reset"]
    assert asked == ["HEAD", "GET", "GET", "GET"]
    # The first of them came over the connection that had served the page before.
    before = next(each for each in log if (each.target, each.method) == ("/", "GET"))
    first = next(each for each in log if each.target == "/reset")
    assert first.connection == before.connection
    assert all(gap.seconds >= DELAY - CLOCK_SLACK for gap in gaps(log))
