"""What a Scrapy user would write: a CrawlSpider as in the tutorial, and a tuned plain Spider."""

import sys

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

EXTRACTOR = LinkExtractor()


def facts(response):  # type: ignore[no-untyped-def]
    links = [(link.url, link.text) for link in EXTRACTOR.extract_links(response)]
    return {"url": response.url, "title": response.css("title::text").get(), "links": links}


class Plain(CrawlSpider):
    name = "plain"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_start_url(self, response, **_):  # type: ignore[no-untyped-def]
        return self.parse_page(response)

    def parse_page(self, response):  # type: ignore[no-untyped-def]
        if isinstance(response, TextResponse):
            yield facts(response)


class Tuned(Spider):
    name = "tuned"

    def parse(self, response, **_):  # type: ignore[no-untyped-def]
        if not isinstance(response, TextResponse):
            return
        found = facts(response)
        yield found
        for url, _text in found["links"]:
            yield response.follow(url, callback=self.parse)


def main() -> None:
    kind, seed, host, port, output, jobdir = sys.argv[1:7]
    settings = {
        "FEEDS": {output: {"format": "jsonlines"}},
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    }
    if kind == "tuned":
        settings |= {
            "JOBDIR": jobdir,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_ITEMS": 1,
            "REFERER_ENABLED": False,
        }
    spider = {"plain": Plain, "tuned": Tuned}[kind]
    spider.start_urls = [seed.replace(f"http://{host}", f"http://127.0.0.1:{port}")]
    spider.allowed_domains = ["127.0.0.1"]
    process = AsyncCrawlerProcess(settings)
    process.crawl(spider)
    process.start()


if __name__ == "__main__":
    main()
