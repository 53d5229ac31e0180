"""The rows of design 3.3 for hosts that do not answer, and for addresses that are not asked (6)."""

from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Slow
from terrain.sampleweb.pages import Hang, Html, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawled import FROM_START, START, Crawled, look_at
from tests.blackbox.crawls import assert_polite, crawl, write_config

PAGE = Html("A page")
HOSTS = {
    "refused.test": Host(listener="refuse"),
    "reset.test": Host(listener="reset"),
    "plain.test": Host({"/": PAGE}, listener="plain"),
    "silent.test": Host(listener="silent"),
    "stranger.test": Host({"/": PAGE}, certificate="unknown-ca"),
    "expired.test": Host({"/": PAGE}, certificate="expired"),
    "misnamed.test": Host({"/": PAGE}, certificate="wrong-name"),
    "minute.test": Host({"/": Slow(60, PAGE)}),
    "hanging.test": Host({"/": Hang()}),
    "leads-home.test": Host({"/": Redirect("https://127.0.0.1:{port}/led")}),
    "127.0.0.1": Host(otherwise=PAGE),
    "localhost": Host(otherwise=PAGE),
}
UNKNOWN = ["no-such-host.invalid", f"{'x' * 64}.invalid"]

LOOPBACK = {
    "/dotted": "127.0.0.1",
    "/decimal": "2130706433",
    "/octal": "0177.0.0.1",
    "/hexadecimal": "0x7f000001",
    "/short": "127.1",
    "/dot-at-the-end": "127.0.0.1.",
}
"""Ways to write the one address, each with a path of its own; the parser makes them one host."""

PRIVATE = ["10.0.0.1", "192.168.1.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[fd00::1]"]

RETRY = {"timeout": 400, "timeout-step": 200, "connect-timeout": 500}


def serve_and_crawl(directory: Path, hrefs: list[str], **network: bool) -> Crawled:
    """Crawl with names outside `.test` left to DNS; `{port}` in an address is the server's own."""
    with ServedWeb(Web(HOSTS), directory / "web") as served:
        start = Host({"/": Html("Start", to(*(h.format(port=served.port) for h in hrefs)))})
        leads_home = Redirect(f"https://127.0.0.1:{served.port}/led")
        served.update(Web({**HOSTS, START: start, "leads-home.test": Host({"/": leads_home})}))
        config = write_config(
            directory,
            served,
            FROM_START,
            crawler={"max-concurrent-pages-open": 50},
            network={"resolve": served.resolve_only("*.test"), **network},
            retry=RETRY,
        )
        crawl(config)
        assert_polite(served)
        return look_at(config, served)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    names = [name for name in HOSTS if name.endswith(".test")]
    hrefs = [f"https://{name}/" for name in [*names, *UNKNOWN, *PRIVATE]]
    hrefs += [f"https://{name}:{{port}}{path}" for path, name in LOOPBACK.items()]
    hrefs.append("https://localhost:{port}/")
    return serve_and_crawl(tmp_path_factory.mktemp("unreachable"), hrefs)


def addresses(crawled: Crawled, host: str) -> dict[str, str]:
    """Path → state of the pages of a host with any port."""
    return {
        "/" + url.split("/", 3)[3]: page.state
        for url, page in crawled.pages.items()
        if url.startswith(f"https://{host}:")
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refused.test", "connection refused: "),
        ("reset.test", "connection refused: "),
        ("plain.test", "TLS error: "),
        ("stranger.test", "TLS error: "),
        ("expired.test", "TLS error: "),
        ("misnamed.test", "TLS error: "),
        *[(name, "DNS failure: ") for name in UNKNOWN],
    ],
)
def test_a_host_that_cannot_be_reached_is_unreachable_at_once(
    crawled: Crawled, name: str, reason: str
) -> None:
    page = crawled.page(f"{name}/")
    assert (page.state, page.status_code, page.retry_count) == ("unreachable", None, 0)
    assert (page.error_message or "").startswith(reason)
    assert crawled.asked(name) == []


@pytest.mark.parametrize("name", ["reset.test", "stranger.test", "expired.test"])
def test_it_is_approached_once_for_robots_txt_and_once_for_the_page(
    crawled: Crawled, name: str
) -> None:
    assert len([contact for contact in crawled.contacts if contact.host == name]) == 2


@pytest.mark.parametrize("name", ["minute.test", "hanging.test"])
def test_no_answer_in_time_is_tried_four_times_each_more_patient(
    crawled: Crawled, name: str
) -> None:
    page = crawled.page(f"{name}/")
    assert (page.state, page.retry_count) == ("failed", 3)
    assert (page.error_message or "").startswith("timeout: ")
    gets = [each for each in crawled.exchanges(name, "/") if each.kind == "get"]
    patience = [each.end - each.start for each in gets]
    assert len(patience) == 4
    assert patience == sorted(patience)
    # The server notices a little late that the client has left.
    grown = patience[-1] - patience[0]
    assert grown == pytest.approx(3 * RETRY["timeout-step"] / 1000, abs=0.3)


def test_a_host_that_says_nothing_at_all_fails_by_timeout(crawled: Crawled) -> None:
    assert crawled.state("silent.test/") == "failed"
    assert crawled.reason("silent.test/").startswith("timeout: ")


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_address_is_unreachable(crawled: Crawled, name: str) -> None:
    (page,) = [p for url, p in crawled.pages.items() if p.fetch_url == f"https://{name}/"] or [
        crawled.page("[::ffff:7f00:1]/")  # how a browser writes it
    ]
    assert page.state == "unreachable"
    assert (page.error_message or "").startswith("private address: ")


def test_loopback_is_not_asked_however_it_is_written(crawled: Crawled) -> None:
    expected = dict.fromkeys([*LOOPBACK, "/led"], "unreachable")
    assert addresses(crawled, "127.0.0.1") == expected
    assert crawled.state("leads-home.test/") == "redirected"
    assert crawled.asked("127.0.0.1") == []


def test_a_name_that_leads_to_loopback_is_not_asked(crawled: Crawled) -> None:
    assert addresses(crawled, "localhost") == {"/": "unreachable"}
    assert not crawled.contacted("localhost")


def test_private_addresses_may_be_allowed(tmp_path: Path) -> None:
    """So the server does listen where the tests above say that nobody asked."""
    hrefs = ["https://0x7f.1:{port}/asked", "https://localhost:{port}/"]
    crawled = serve_and_crawl(tmp_path, hrefs, **{"allow-private": True})
    assert addresses(crawled, "127.0.0.1") == {"/asked": "processed"}
    assert addresses(crawled, "localhost") == {"/": "processed"}


def test_an_address_mapped_by_the_user_is_asked_where_it_is_mapped_to(tmp_path: Path) -> None:
    address = "203.0.113.7"
    web = Web({address: Host({"/": PAGE}), START: Host({"/": Html(links=to(f"//{address}/"))})})
    with ServedWeb(web, tmp_path / "web") as served:
        config = write_config(tmp_path, served, FROM_START)
        crawl(config)
        crawled = look_at(config, served)
    assert crawled.state(f"{address}/") == "processed"
    assert crawled.asked(address) == ["robots", "head", "get"]
