"""The HTTP handler: Scrapy's on aiohttp, with terrain's addresses, certificates and limits.

Scrapy's class is experimental; tests/downloadhandlers holds the parts used here to their word.
"""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers

from terrain.downloadhandlers.addresses import GuardedConnector, GuardedResolver, PrivateAddress
from terrain.downloadhandlers.errors import PrivateAddressError, TlsError
from terrain.errand import ErrandKind, errand_of
from terrain.rules.content import is_html

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import ClassVar

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from terrain.config import Config

KEEP_ALIVE = 15.0
"""Seconds a connection waits for its host's next turn: longer than the usual delay."""

UNLIMITED = 0
"""Scrapy's word for no size limit."""

MAX_ROBOTS_UNPACKED = 10 * 1024 * 1024
"""What a compressed robots.txt may grow to; `max-body-bytes` is for pages and may be tiny."""


class TerrainDownloadHandler(AiohttpDownloadHandler):
    """Asks a host over a verified connection to a public address."""

    # Its experimental status is a decision of ours (docs/dependencies.md), not news for the log.
    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config: Config = crawler.spider.config  # type: ignore[union-attr]
        self._connect_timeout = config.retry.connect_timeout / 1000
        self._resolver = GuardedResolver(config)
        self._ssl_context = _ssl_context(config)
        self._unused_session = self._session
        self._session = aiohttp.ClientSession(
            connector=GuardedConnector(
                resolver=self._resolver,
                # Every connection resolves anew: no answer outlives its check.
                use_dns_cache=False,
                local_addr=self._bind_address,
                limit=0,
                keepalive_timeout=KEEP_ALIVE,
                ssl=self._ssl_context,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=_ClientResponse,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        )
        # aiohttp would send a request again by itself when a kept connection breaks: a second
        # request to the host, at once, past the frontier's clock and budget.
        self._session._retry_connection = False  # noqa: SLF001 - there is no public way

    @asynccontextmanager
    async def _make_request(
        self,
        request: Request,
        timeout: float,  # noqa: ASYNC109 - Scrapy's signature
    ) -> AsyncIterator[_ClientResponse]:
        url = yarl.URL(request.url, encoded=True)
        try:
            self._resolver.check_literal(url.host or "")
            async with self._session.request(
                request.method,
                url,
                headers=self._request_headers(request).to_tuple_list(),
                timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=self._connect_timeout),
                allow_redirects=False,
            ) as response:
                yield response  # type: ignore[misc]
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
        except aiohttp.ClientPayloadError:
            raise  # Scrapy's base class makes a data loss of it.
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise DownloadFailedError(_words(error)) from error

    async def _read_response(self, response: Any, request: Request) -> Response:
        """Read the body, unless status and type say that nobody wants it.

        Scrapy holds Content-Length against the size limit before anything else, for HEAD too; a
        large PDF would then be a failure instead of a page that is not HTML. What is let through
        here is cut off at its headers (extensions/cutoff.py).
        """
        errand = errand_of(request)
        if errand is None:
            return await super()._read_response(response, request)
        errand.status = response.status
        succeeded = 200 <= response.status < 300
        # The last one, as Scrapy's headers have it: all must judge by the same type.
        content_type = response.headers.getall("Content-Type", [None])[-1]
        page = errand.kind is ErrandKind.GET and succeeded and is_html(content_type) is not False
        if not page:
            request.meta["download_maxsize"] = UNLIMITED
        # Of an error page the status is all that counts.
        request.meta["download_fail_on_dataloss"] = succeeded
        answer = await super()._read_response(response, request)
        # From here on the limit is for unpacking.
        if errand.kind is ErrandKind.ROBOTS:
            request.meta["download_maxsize"] = MAX_ROBOTS_UNPACKED
        elif not succeeded:
            # Nobody reads an error page; unpacked it might be a bomb.
            answer = answer.replace(body=b"")
        return answer

    @staticmethod
    def _extract_headers(response: _ClientResponse) -> Headers:
        """Take the headers as bytes: as text, one byte that is not UTF-8 would fail the page."""
        return Headers(list(response.raw_headers))

    async def close(self) -> None:
        """Close the connections."""
        await self._unused_session.close()
        await super().close()
        await self._resolver.close()


def _ssl_context(config: Config) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if config.network.ca_file is not None:
        context.load_verify_locations(config.network.ca_file)
    return context


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
