from collections.abc import Callable
from pathlib import Path

from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, assert_polite, crawl, write_config


def test_a_small_crawl(serve: Callable[[Web], ServedWeb], tmp_path: Path) -> None:
    home = Html("Home", links=(Link("/docs"), Link("https://b.test/"), Link("/file.pdf")))
    pages = {"/": home, "/docs": Redirect("/docs/"), "/docs/": Html("Docs"), "/file.pdf": NonHtml()}
    served = serve(Web({"a.test": Host(pages), "b.test": Host({"/": Html("B")})}))
    config = write_config(tmp_path, served, [{"domain": "a.test", "seeds": ["https://a.test/"]}])
    crawl(config)
    assert Database(config).states() == {
        "https://a.test/": "processed",
        "https://a.test/docs": "processed",
        "https://a.test/file.pdf": "content_mismatch",
        "https://b.test/": "processed",
    }
    assert_polite(served)
