"""Turns an `Html` page into the bytes of a document."""

from html import escape

from terrain.sampleweb.pages import Html, Link, Region

_REGIONS: tuple[Region, ...] = ("header", "nav", "main", "body", "aside", "footer")
"""The order in which the regions of a page stand in its document."""


def render(page: Html) -> bytes:
    """Return the document."""
    lang = f' lang="{escape(page.lang)}"' if page.lang is not None else ""
    document = f"<!DOCTYPE html>\n<html{lang}>\n<head>\n{_head(page)}</head>\n<body>\n{_body(page)}"
    end = "</body>\n</html>\n"
    # characters that the encoding lacks become references, as an editor would write them
    data = document.encode(page.charset, "xmlcharrefreplace")
    tail = end.encode(page.charset)
    missing = page.size - len(data) - len(tail)
    if missing > 0:
        data += _padding(missing).encode(page.charset)
    return data + tail


def _head(page: Html) -> str:
    parts = []
    if page.base is not None:
        parts.append(f'<base href="{escape(page.base)}">')
    if page.title is not None:
        parts.append(f"<title>{escape(page.title)}</title>")
    if page.description is not None:
        parts.append(f'<meta name="description" content="{escape(page.description)}">')
    if page.meta_robots is not None:
        parts.append(f'<meta name="robots" content="{escape(page.meta_robots)}">')
    if page.canonical is not None:
        parts.append(f'<link rel="canonical" href="{escape(page.canonical)}">')
    if page.head:
        parts.append(page.head)
    return "".join(part + "\n" for part in parts)


def _body(page: Html) -> str:
    parts: list[str] = []
    regions: dict[Region, list[str]] = {}
    for link in page.links:
        regions.setdefault(link.within, []).append(_anchor(link))
    for region in _REGIONS:
        anchors = "\n".join(regions.get(region, ()))
        if region == "body":
            parts.extend(f"<p>{escape(paragraph)}</p>" for paragraph in page.text)
            if anchors:
                parts.append(anchors)
        elif anchors:
            parts.append(f"<{region}>\n{anchors}\n</{region}>")
    if page.body:
        parts.append(page.body)
    return "".join(part + "\n" for part in parts)


def _anchor(link: Link) -> str:
    attrs = "".join(f' {name}="{escape(value)}"' for name, value in link.attrs.items())
    return f'<a href="{escape(link.href)}"{attrs}>{escape(link.text or link.href)}</a>'


def _padding(size: int) -> str:
    """Return a comment of `size` characters, or the shortest one there is."""
    room = max(size - len("<!--  -->\n"), 0)
    return f"<!-- {('filler ' * (room // 7 + 1))[:room]} -->\n"
