"""Plain Scrapy with a delay per host: `scrapy_polite.py PORT DELAY PLACES HOST…`."""

import sys
from collections.abc import Iterator

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache


class PoliteSpider(Spider):
    name = "polite"

    def parse(self, response: Response) -> Iterator[Request]:
        assert isinstance(response, TextResponse)
        for link in LinkExtractor().extract_links(response):
            yield response.follow(link)


def main() -> None:
    port, delay, places, *hosts = sys.argv[1:]
    for host in hosts:
        # Every name leads to this machine; Scrapy looks here before it asks DNS.
        dnscache[host] = "127.0.0.1"
    process = AsyncCrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": int(places),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": float(delay),
            "RANDOMIZE_DOWNLOAD_DELAY": False,
            "ROBOTSTXT_OBEY": False,
            "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        }
    )
    start = [f"https://{host}:{port}/" for host in hosts]
    process.crawl(PoliteSpider, start_urls=start)
    process.start()


if __name__ == "__main__":
    main()
