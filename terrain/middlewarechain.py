"""The downloader middlewares, called directly.

Scrapy makes a coroutine of every call and looks the middleware's name up for a warning that is
never given; with eight middlewares that is as much work as the request itself. Here only an answer
that has to be waited for is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.http import Response
from scrapy.utils.defer import ensure_awaitable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class MiddlewareChain(DownloaderMiddlewareManager):
    """Scrapy's own manager but for the two ways that every request takes."""

    async def _process_request(
        self,
        request: Request,
        download_func: Callable[[Request], Coroutine[Any, Any, Response]],
    ) -> Response | Request:
        for method in self.methods["process_request"]:
            assert method is not None
            answer = self._handle_mw_method(method, request=request)
            if answer is None:
                continue
            if not isinstance(answer, (Response, Request)):
                answer = await _waited_for(answer, method, or_none=True)
            if answer is not None:
                return answer  # type: ignore[no-any-return]
        return await download_func(request)

    async def _process_response(
        self, response: Response | Request, request: Request
    ) -> Response | Request:
        if isinstance(response, Request):
            return response
        answer: Any = response
        for method in self.methods["process_response"]:
            assert method is not None
            answer = self._handle_mw_method(method, request=request, response=answer)
            if not isinstance(answer, (Response, Request)):
                answer = await _waited_for(answer, method)
            if isinstance(answer, Request):
                break
        return answer  # type: ignore[no-any-return]


async def _waited_for(answer: Any, method: Callable[..., Any], *, or_none: bool = False) -> Any:
    """Wait for what a middleware of another author promised, and see that it is of use."""
    answer = await ensure_awaitable(answer)
    if isinstance(answer, (Response, Request)) or (or_none and answer is None):
        return answer
    raise TypeError(
        f"{method.__qualname__} must return Response or Request, got {type(answer).__name__}"
    )
