"""The HTTP handler: aiohttp, with terrain's addresses, certificates and limits.

Scrapy has one on aiohttp too, but an experimental one that says nothing of status and type before
it holds a length against the limit, and sends two signals for every answer that nobody hears.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes
from scrapy.utils._download_handlers import check_stop_download
from scrapy.utils.python import without_none_values

from terrain.downloadhandlers.addresses import GuardedConnector, GuardedResolver, PrivateAddress
from terrain.downloadhandlers.errors import PrivateAddressError, TlsError
from terrain.errand import ErrandKind, errand_of
from terrain.listeners import Listeners
from terrain.rules.content import is_html
from terrain.rules.robots import MAX_ROBOTS_BYTES

if TYPE_CHECKING:
    from typing import Self

    from aiohttp.connector import Connection
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.exceptions import StopDownload
    from scrapy.http import Response

    from terrain.config import Config
    from terrain.errand import Errand

KEEP_ALIVE = 15.0
"""Seconds a connection waits for its host's next turn: longer than the usual delay."""

DEFAULT_TIMEOUT = 30.0
"""Seconds for a request that no errand gives its own."""

SMALL_BODY = 64 * 1024
"""An unwanted body up to this size is read all the same: it saves the connection."""

MAX_ROBOTS_UNPACKED = 10 * 1024 * 1024
"""What a compressed robots.txt may grow to; `max-body-bytes` is for pages and may be tiny."""


class Answer(aiohttp.ClientResponse):
    """A response that remembers who sent it: the connection may be gone when that is asked."""

    peer: str | None = None
    """The address that answered."""

    async def start(self, connection: Connection) -> Self:
        """Read the headers."""
        if connection.transport is not None:
            name = connection.transport.get_extra_info("peername")
            self.peer = name[0] if name else None
        await super().start(connection)
        return self


class TerrainDownloadHandler(BaseDownloadHandler):
    """Asks a host over a verified connection to a public address."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config: Config = crawler.spider.config  # type: ignore[union-attr]
        self._usual = _usual_headers(crawler)
        self._usual_list = self._usual.to_tuple_list()
        self._max_size = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._listeners = Listeners(crawler)
        self._connect_timeout = config.retry.connect_timeout / 1000
        self._resolver = GuardedResolver(config)
        bind = crawler.settings.get("DOWNLOAD_BIND_ADDRESS")
        self._session = aiohttp.ClientSession(
            connector=GuardedConnector(
                resolver=self._resolver,
                # Every connection resolves anew: no answer outlives its check.
                use_dns_cache=False,
                local_addr=(bind, 0) if isinstance(bind, str) else bind,
                limit=0,
                keepalive_timeout=KEEP_ALIVE,
                ssl=self._tls(config),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=Answer,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        )
        # aiohttp would send a request again by itself when a kept connection breaks: a second
        # request to the host, at once, past the frontier's clock and budget.
        self._session._retry_connection = False  # noqa: SLF001 - there is no public way

    def _tls(self, config: Config) -> ssl.SSLContext | bool:
        """Give what a certificate is verified against."""
        if config.network.ca_file is None:
            return True  # aiohttp has loaded all the world's certificates, which takes a while.
        context = ssl.create_default_context()
        context.load_verify_locations(config.network.ca_file)
        return context

    async def download_request(self, request: Request) -> Response:
        """Ask, and read what is of use of the answer."""
        errand = errand_of(request)
        timeout = request.meta.get("download_timeout", DEFAULT_TIMEOUT)
        started = time.monotonic()
        url = yarl.URL(request.url, encoded=True)
        try:
            self._resolver.check_literal(url.host or "")
            async with self._session.request(
                request.method,
                url,
                headers=self._headers(request),
                timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=self._connect_timeout),
                allow_redirects=False,
            ) as response:
                request.meta["download_latency"] = time.monotonic() - started
                assert isinstance(response, Answer)  # as the session was told
                return await self._answer(response, request, errand)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"no whole answer within {timeout:g} s") from error
        except PrivateAddress as error:
            raise PrivateAddressError(str(error)) from error
        except (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except (aiohttp.ClientSSLError, ssl.SSLError) as error:
            raise TlsError(_words(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            if isinstance(error.os_error, PrivateAddress):
                raise PrivateAddressError(str(error.os_error)) from error
            raise CannotResolveHostError(_words(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(_words(error)) from error
        except aiohttp.ClientPayloadError as error:
            raise ResponseDataLossError(_words(error)) from error
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise DownloadFailedError(_words(error)) from error

    def _headers(self, request: Request) -> list[tuple[str, str]]:
        """Return the usual headers; what a component has put on the request goes before them."""
        if not request.headers:
            return self._usual_list
        headers = self._usual.copy()
        headers.update(request.headers)
        return headers.to_tuple_list()

    async def _answer(self, response: Answer, request: Request, errand: Errand | None) -> Response:
        """Read the body, unless status and type say that nobody wants it."""
        kind, status = ErrandKind.GET, response.status
        if errand is not None:
            kind, errand.status = errand.kind, status
        # As bytes: as text, one byte that is not UTF-8 would fail the page.
        headers = Headers(list(response.raw_headers))
        # The last one, as Scrapy's headers have it: all must judge by the same type.
        content_type = response.headers.getall("Content-Type", [None])[-1]
        html = is_html(content_type)
        succeeded = 200 <= status < 300
        page = kind is ErrandKind.GET and succeeded and html is not False
        expected = response.content_length
        stop = self._stops(signals.headers_received, request, headers=headers, body_length=expected)
        body = b""
        flags: list[str] = []
        if stop is None and kind is not ErrandKind.HEAD:
            large = expected is None or expected > SMALL_BODY
            if page or kind is ErrandKind.ROBOTS or not (succeeded or large):
                body, stop = await self._body(response, request, kind, flags, page=page)
        if kind is ErrandKind.ROBOTS:
            # From here on the limit is for unpacking.
            request.meta["download_maxsize"] = MAX_ROBOTS_UNPACKED
        elif not succeeded:
            body = b""  # Nobody reads an error page; unpacked it might be a bomb.
        return _made(response, request, headers, body, flags, html=html is True, stop=stop)

    async def _body(
        self,
        response: Answer,
        request: Request,
        kind: ErrandKind,
        flags: list[str],
        *,
        page: bool,
    ) -> tuple[bytes, StopDownload | None]:
        """Read up to the limit; beyond it a page is an error, and a robots.txt read far enough."""
        limit = request.meta.get("download_maxsize", self._max_size) if page else 0
        expected = response.content_length
        if limit and expected is not None and expected > limit:
            raise DownloadCancelledError(f"{expected} bytes announced, {limit} allowed")
        parts: list[bytes] = []
        received = 0
        content = response.content
        try:
            while part := await content.readany():
                parts.append(part)
                received += len(part)
                stop = self._stops(signals.bytes_received, request, data=part)
                if stop is not None:
                    return b"".join(parts), stop
                if limit and received > limit:
                    raise DownloadCancelledError(f"more than the {limit} bytes allowed")
                if kind is ErrandKind.ROBOTS and received > MAX_ROBOTS_BYTES:
                    break  # The rules stop reading here (RFC 9309, 2.5).
        except aiohttp.ClientPayloadError:
            # Of an error page the status is all that counts.
            if request.meta.get("download_fail_on_dataloss", 200 <= response.status < 300):
                raise
            flags.append("dataloss")
        return b"".join(parts), None

    def _stops(self, signal: object, request: Request, **facts: Any) -> StopDownload | None:
        """Ask whoever listens to a signal whether to go on."""
        if not self._listeners.to(signal):
            return None
        return check_stop_download(signal, self.crawler, request, **facts)

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()
        await self._resolver.close()


class PlainHttpHandler(TerrainDownloadHandler):
    """The same for plain http, made when it is first needed, which it rarely is."""

    lazy = True


def _usual_headers(crawler: Crawler) -> Headers:
    """Return the headers of nearly every request, from the settings that Scrapy has for them."""
    settings = crawler.settings
    headers = Headers(without_none_values(settings.getdict("DEFAULT_REQUEST_HEADERS")))
    headers["User-Agent"] = settings["USER_AGENT"]
    headers["Accept-Encoding"] = b", ".join(ACCEPTED_ENCODINGS)
    return headers


def _made(
    response: Answer,
    request: Request,
    headers: Headers,
    body: bytes,
    flags: list[str],
    *,
    html: bool,
    stop: StopDownload | None,
) -> Response:
    """Make Scrapy's response; for HTML without guessing its type from all there is."""
    url, status = request.url, response.status
    kind = HtmlResponse if html else responsetypes.from_args(headers=headers, url=url, body=body)
    made = kind(url, status=status, body=body, flags=flags, protocol=_protocol(response))
    made.headers = headers  # Given to the constructor it would be made once more.
    if response.peer is not None:
        made.ip_address = _ip_address(response.peer)
    if stop is not None:
        made.flags.append("download_stopped")
        if stop.fail:
            stop.response = made
            raise stop
    return made


def _protocol(response: Answer) -> str:
    version = response.version
    return f"HTTP/{version.major}.{version.minor}" if version else "HTTP/1.1"


@lru_cache(maxsize=1024)
def _ip_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text)


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
