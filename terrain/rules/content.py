"""Is this HTML? By the type the server gives, by the first bytes, by the look of the address."""

import codecs
import re
from typing import Final
from urllib.parse import urlsplit

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
"""The types that are read."""

_NO_TYPE: Final = frozenset({"unknown/unknown", "application/unknown", "*/*"})
"""Types that say nothing, so that browsers sniff (WHATWG MIME Sniffing, section 7)."""

_ESSENCE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""`type/subtype`, both of them HTTP tokens (WHATWG MIME Sniffing, 4.4)."""

SNIFFED_BYTES: Final = 1445
"""How much of a body is looked at (WHATWG MIME Sniffing, 5.2, "resource header")."""

_HTML_START: Final = re.compile(
    rb"[\t\n\x0c\r ]*<"
    rb"(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)"
    rb"[ >])",
    re.IGNORECASE,
)
"""WHATWG MIME Sniffing, 7.1: blanks, then a comment, or one of these tags and its end."""

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_FILE_KINDS: Final = {
    "documents": (
        "pdf ps eps djvu doc docx docm dot dotx odt ods odp odg rtf xls xlsx xlsm xlsb ppt pptx pps"
        " ppsx pptm epub mobi azw azw3 tex bib ris vsd"
    ),
    "images": (
        "jpg jpeg jpe jfif png apng gif webp avif heic heif bmp ico svg svgz tif tiff psd ai cr2"
        " nef dng xcf"
    ),
    "sound and film": (
        "mp3 m4a m4b aac ogg oga opus flac wav wma aif aiff mid midi mp4 m4v mov avi wmv flv mkv"
        " webm mpg mpeg ogv 3gp m3u m3u8 srt vtt swf"
    ),
    "archives and packages": (
        "zip gz tgz bz2 tbz xz txz zst 7z rar tar lz lzma jar war whl egg deb rpm apk ipa dmg pkg"
        " iso img bin exe msi msix appimage cab torrent asc sig sha256 md5"
    ),
    "data and feeds": (
        "json jsonl ndjson geojson xml rss atom csv tsv txt yaml yml toml sql sqlite parquet avro"
        " kml kmz gpx shp ics vcf wasm"
    ),
    "parts of pages": "css js mjs map woff woff2 ttf otf eot",
}
"""Names that end like this are seldom HTML.

Programs that write HTML (php, aspx, jsp, cgi) are not here, nor what may be a word after a dot
(`/v1.2`, `/example.com`, `/john.pages`).
"""

_FILE_EXTENSIONS: Final = frozenset(
    extension for extensions in _FILE_KINDS.values() for extension in extensions.split()
)


def is_html(content_type: str | None) -> bool | None:
    """Judge a Content-Type header; None if it gives no type, so that the body must be sniffed.

    What cannot be read as a type counts as none, as in browsers.
    """
    if content_type is None:
        return None
    # Two header lines may have been joined by a comma; the first one is taken.
    essence = content_type.partition(";")[0].partition(",")[0].strip().lower()
    if essence in _NO_TYPE or _ESSENCE.fullmatch(essence) is None:
        return None
    return essence in HTML_TYPES


def sniff_html(first_bytes: bytes) -> bool:
    """Judge a body without a type by its first bytes.

    The rules of WHATWG MIME Sniffing for HTML, with one difference: after a byte order mark
    browsers settle for plain text, but here a page with one is still a page.
    """
    start = first_bytes[:SNIFFED_BYTES]
    for mark, encoding in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            text = start[len(mark) :].decode(encoding, "ignore")
            start = text.encode("ascii", "replace")
            break
    return _HTML_START.match(start) is not None


def looks_like_file(fetch_url: str) -> bool:
    """Tell whether the last part of the path is named like a file that is not HTML.

    A guess that only decides whether a HEAD request is worth its while.
    """
    try:
        path = urlsplit(fetch_url).path
    except ValueError:
        return False
    name = path.rpartition("/")[2].partition(";")[0]
    stem, _, extension = name.rpartition(".")
    return bool(stem) and extension.lower() in _FILE_EXTENSIONS
