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

from terrain.downloadhandlers.addresses import GuardedResolver, PrivateAddress
from terrain.downloadhandlers.errors import PrivateAddressError, TlsError
from terrain.errand import ErrandKind, errand_of

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
            connector=aiohttp.TCPConnector(
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
        large PDF would then be a failure instead of a page that is not HTML.
        """
        errand = errand_of(request)
        if errand is not None:
            errand.status = response.status
            if errand.kind is ErrandKind.HEAD or not 200 <= response.status < 300:
                request.meta["download_maxsize"] = UNLIMITED
        return await super()._read_response(response, request)

    async def close(self) -> None:
        """Close the connections."""
        await self._unused_session.close()
        await super().close()


def _ssl_context(config: Config) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if config.network.ca_file is not None:
        context.load_verify_locations(config.network.ca_file)
    return context


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
