"""What terrain relies on in aiohttp and in Scrapy's handler on it, which is experimental."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import aiohttp
import pytest
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from terrain.config import parse_config
from terrain.downloadhandlers.addresses import GuardedConnector
from terrain.downloadhandlers.errors import PrivateAddressError, TlsError
from terrain.downloadhandlers.http import TerrainDownloadHandler
from terrain.sampleweb.behaviours import Framed, Gzipped, HalfBody
from terrain.sampleweb.pages import BigBody, Garbage, Hang, Html, NonHtml, Raw, Redirect, Status
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web

MAX_BODY = 100_000
Result = TypeVar("Result")

WEB = Web(
    {
        "a.test": Host(
            {
                "/": Html("Home"),
                "/%7Euser?q=%7e&x=%C3%a9": Html("Verbatim"),
                "/moved": Redirect("/"),
                "/pdf": NonHtml(size=5_000_000),
                "/large": BigBody(1_000_000),
                "/large-chunked": Framed(BigBody(1_000_000), "chunked"),
                "/packed": Gzipped(Html("Packed")),
                "/cut": HalfBody(Html(size=50_000)),
                "/garbage": Garbage(),
                "/hang": Hang(),
                "/cookie": Html(headers=(("Set-Cookie", "a=b"),)),
                "/latin-1": Raw(b"HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\nContent-Length: 0\r\n\r\n"),
                "/404": Status(404, b"x" * 50),
            }
        ),
        "refused.test": Host(listener="refuse"),
        "stranger.test": Host(certificate="unknown-ca"),
    }
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    with ServedWeb(WEB, tmp_path_factory.mktemp("web")) as served:
        yield served


def open_sockets() -> int:
    files = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
    return sum("socket:" in file for file in files)


class Bench:
    """A handler on its own, with a crawler that is no more than it needs."""

    def __init__(self, served: ServedWeb) -> None:
        routes = {**served.resolve_only("*.test")}
        table = ", ".join(f'"{name}" = "{place}"' for name, place in routes.items())
        config = parse_config(
            f'[network]\nca-file = "{served.ca_file}"\nresolve = {{ {table} }}\n'
            '[[quality]]\ndomain = "a.test"\nseeds = ["https://a.test/"]\n',
            env={},
        )
        settings = Settings({"DOWNLOAD_MAXSIZE": MAX_BODY, "DOWNLOAD_WARNSIZE": 0})
        self.signals = SignalManager(sender=self)
        self.crawler: Any = SimpleNamespace(
            settings=settings, signals=self.signals, spider=SimpleNamespace(config=config)
        )

    def run(self, work: Callable[[TerrainDownloadHandler], Coroutine[Any, Any, Result]]) -> Result:
        async def whole() -> Result:
            before = open_sockets()
            handler = TerrainDownloadHandler(self.crawler)
            try:
                return await work(handler)
            finally:
                await handler.close()
                # TLS connections take leave of the server before they are gone.
                async with asyncio.timeout(30):
                    while open_sockets() > before:  # noqa: ASYNC110 - nobody else tells
                        await asyncio.sleep(0.001)

        return asyncio.run(whole())

    def get(self, url: str, method: str = "GET", **meta: Any) -> Response:
        request = Request(url, method=method, meta={"verbatim_url": True, **meta})
        return self.run(lambda handler: handler.download_request(request))


@pytest.fixture
def bench(served: ServedWeb) -> Bench:
    return Bench(served)


def test_the_address_goes_out_byte_for_byte(bench: Bench, served: ServedWeb) -> None:
    assert b"Verbatim" in bench.get("https://a.test/%7Euser?q=%7e&x=%C3%a9").body
    assert served.log()[-1].target == "/%7Euser?q=%7e&x=%C3%a9"


def test_the_session_is_ours_and_has_our_connector(bench: Bench) -> None:
    async def look(handler: TerrainDownloadHandler) -> None:
        assert isinstance(handler._session.connector, GuardedConnector)
        assert handler._session.connector._resolver is handler._resolver
        assert isinstance(handler._session.cookie_jar, aiohttp.DummyCookieJar)

    bench.run(look)


def test_the_session_is_closed(bench: Bench) -> None:
    sessions: list[aiohttp.ClientSession] = []

    async def look(handler: TerrainDownloadHandler) -> None:
        sessions.append(handler._session)

    bench.run(look)
    assert all(session.closed for session in sessions)


def test_a_connection_is_kept_for_the_next_request(bench: Bench, served: ServedWeb) -> None:
    async def twice(handler: TerrainDownloadHandler) -> None:
        for _ in range(2):
            await handler.download_request(Request("https://a.test/"))

    bench.run(twice)
    assert len({each.connection for each in served.log()[-2:]}) == 1


def test_redirects_are_not_followed(bench: Bench) -> None:
    response = bench.get("https://a.test/moved")
    assert (response.status, response.headers[b"Location"]) == (302, b"/")


def test_bodies_come_as_they_are_sent(bench: Bench) -> None:
    response = bench.get("https://a.test/packed")
    assert response.headers[b"Content-Encoding"] == b"gzip"
    assert response.body.startswith(b"\x1f\x8b")


def test_headers_are_bytes_whatever_they_contain(bench: Bench) -> None:
    assert bench.get("https://a.test/latin-1").headers[b"X-Name"] == b"caf\xe9"


def test_head_has_no_body(bench: Bench, served: ServedWeb) -> None:
    response = bench.get("https://a.test/", "HEAD")
    assert (response.status, response.body) == (200, b"")
    assert served.log()[-1].method == "HEAD"


@pytest.mark.parametrize("path", ["/large", "/large-chunked"])
def test_a_body_over_the_limit_is_cancelled(bench: Bench, path: str) -> None:
    with pytest.raises(DownloadCancelledError):
        bench.get(f"https://a.test{path}")


def test_a_download_may_be_stopped_at_its_headers(bench: Bench) -> None:
    told: list[int | None] = []

    def stop(body_length: int | None) -> None:
        told.append(body_length)
        raise StopDownload(fail=False)

    bench.signals.connect(stop, signals.headers_received)
    response = bench.get("https://a.test/pdf", download_maxsize=0)
    assert (response.status, response.body, told) == (200, b"", [5_000_000])
    assert "download_stopped" in response.flags


def test_a_download_may_be_stopped_on_the_way(bench: Bench) -> None:
    def stop(data: bytes) -> None:
        raise StopDownload(fail=False)

    bench.signals.connect(stop, signals.bytes_received)
    response = bench.get("https://a.test/large", download_maxsize=0)
    assert 0 < len(response.body) < 1_000_000


def test_a_body_cut_short_is_data_loss(bench: Bench) -> None:
    with pytest.raises(ResponseDataLossError):
        bench.get("https://a.test/cut")
    response = bench.get("https://a.test/cut", download_fail_on_dataloss=False)
    assert "dataloss" in response.flags


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("https://a.test/garbage", DownloadFailedError),
        ("https://a.test/hang", DownloadTimeoutError),
        ("https://refused.test/", DownloadConnectionRefusedError),
        ("https://stranger.test/", TlsError),
        ("https://no-such-host.invalid/", CannotResolveHostError),
        ("https://localhost/", PrivateAddressError),
        ("https://127.0.0.1/", PrivateAddressError),
        ("https://[::1]/", PrivateAddressError),
    ],
)
def test_failures_are_told_apart(bench: Bench, url: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        bench.get(url, download_timeout=0.5)


def test_an_ip_address_passes_the_resolver_and_not_only_the_first_check(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aiohttp connects to literals without asking a resolver; ours makes it ask."""

    async def unchecked(handler: TerrainDownloadHandler) -> None:
        monkeypatch.setattr(handler._resolver, "check_literal", lambda _: None)
        asked: list[str] = []

        async def resolve(host: str, *_: object, **__: object) -> list[Any]:
            asked.append(host)
            raise OSError("asked")

        monkeypatch.setattr(handler._resolver, "resolve", resolve)
        with pytest.raises(CannotResolveHostError):
            await handler.download_request(Request("https://127.0.0.1/"))
        assert asked == ["127.0.0.1"]

    bench.run(unchecked)


def test_no_cookie_is_kept(bench: Bench) -> None:
    async def once(handler: TerrainDownloadHandler) -> None:
        await handler.download_request(Request("https://a.test/cookie"))
        assert len(handler._session.cookie_jar) == 0

    bench.run(once)
