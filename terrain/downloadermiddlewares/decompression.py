"""Scrapy's decompression; what may be sent compressed is said by the handler, with all the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

if TYPE_CHECKING:
    from scrapy import Request, Spider


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Unpacks bodies, up to the size limit."""

    def process_request(
        self,
        request: Request,
        spider: Spider | None = None,
    ) -> None:
        """Nothing: the header is among the usual ones."""
