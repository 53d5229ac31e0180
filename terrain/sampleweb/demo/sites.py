"""How the sites of the demo are put together: a few words per page become a whole page."""

from dataclasses import replace

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Html, Link, Region
from terrain.sampleweb.web import Host

STYLE = """<style>
body { max-width: 38rem; margin: 3rem auto; padding: 0 1rem; color: #1d2b33; background: #fbfaf6;
  font: 1.05rem/1.6 Georgia, serif; }
a { color: #1f6f78; } nav a, footer a { margin-right: 1em; font-size: .9rem; }
footer { margin-top: 3rem; border-top: 1px solid #cfd8d3; padding-top: .5rem; }
h1 { font-weight: normal; }
</style>"""
"""So that a page looks like one when somebody opens it in a browser."""


def page(title: str, about: str, *links: str, language: str = "en") -> Html:
    """Return a page; each of `links` is an address, a space and the text of the link."""
    return Html(
        title=title,
        description=about,
        lang=language,
        text=(about,),
        head=STYLE,
        links=anchors("main", links),
    )


def anchors(within: Region, links: tuple[str, ...]) -> tuple[Link, ...]:
    """Return the links given as address, space and text."""
    pairs = (link.partition(" ") for link in links)
    return tuple(Link(href, text, within=within) for href, _, text in pairs)


def site(
    pages: dict[str, Behaviour],
    *,
    nav: tuple[str, ...] = (),
    footer: tuple[str, ...] = (),
    host: Host | None = None,
) -> Host:
    """Return a host whose HTML pages all carry the navigation and the footer of the site.

    `host` brings what else is special about it: robots.txt, a limit, how it listens.
    """
    around = (*anchors("nav", nav), *anchors("footer", footer))
    dressed = {
        path: replace(body, links=(*body.links, *around)) if isinstance(body, Html) else body
        for path, body in pages.items()
    }
    return replace(host or Host(), pages=dressed)


def series(
    pattern: str, titles: dict[str, str], about: str, *links: str
) -> tuple[dict[str, Behaviour], tuple[str, ...]]:
    """Return a page for each of `titles`, and the links to them all.

    `pattern` has a `{}` for the key of a title, `about` one for the title itself.
    """
    pages: dict[str, Behaviour] = {
        pattern.format(key): page(title, about.format(title), *links)
        for key, title in titles.items()
    }
    return pages, tuple(f"{pattern.format(key)} {title}" for key, title in titles.items())
