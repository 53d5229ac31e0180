"""A page's character encoding, found the way browsers find it, and its text as UTF-8.

In order: byte order mark, `Content-Type` header, `<meta>` or XML declaration in the first 1024
bytes, and for a page that says nothing, a look at the bytes. Labels mean what the WHATWG Encoding
Standard says they mean (`iso-8859-1` is windows-1252), not what Python's codec registry says: that
one knows names no browser does (`rot13`, `utf-7`, `unicode_escape`), and some of them raise.

Nothing here raises, whatever the bytes and the header are.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

PRESCAN_BYTES: Final = 1024
"""How far a declaration is looked for: HTML Standard, 13.2.3.2 "prescan a byte stream"."""

SAMPLE_BYTES: Final = 1024
"""How much text the detector reads: its cost grows with the sample, its verdict hardly does."""

WINDOW_BYTES: Final = 32_768
"""How far, from the first byte that is not ASCII on, the text for the sample is gathered."""

FALLBACK: Final = "windows-1252"
"""What browsers of most locales take when nothing else is known."""

REPLACEMENT: Final = "replacement"
"""The standard's name for encodings too dangerous to decode: the page reads as one U+FFFD."""

# https://encoding.spec.whatwg.org/#names-and-labels: name = the Python codec that decodes it: the
# labels beside the name itself. x-user-defined is read as windows-1252, as in a `<meta>`.
_TABLE: Final = """
utf-8 = utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 = cp866: 866 cp866 csibm866
iso-8859-2 = iso8859-2: csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987
    l2 latin2
iso-8859-3 = iso8859-3: csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988
    l3 latin3
iso-8859-4 = iso8859-4: csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988
    l4 latin4
iso-8859-5 = iso8859-5: csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5
    iso_8859-5:1988
iso-8859-6 = iso8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114
    iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 = iso8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7
    iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8 = iso8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138
    iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i = iso8859-8: csiso88598i logical
iso-8859-10 = iso8859-10: csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 = iso8859-13: iso8859-13 iso885913
iso-8859-14 = iso8859-14: iso8859-14 iso885914
iso-8859-15 = iso8859-15: csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 = iso8859-16:
koi8-r = koi8-r: cskoi8r koi koi8 koi8_r
koi8-u = koi8-u: koi8-ru
macintosh = mac-roman: csmacintosh mac x-mac-roman
windows-874 = cp874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 = cp1250: cp1250 x-cp1250
windows-1251 = cp1251: cp1251 x-cp1251
windows-1252 = cp1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1
    iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
    x-user-defined
windows-1253 = cp1253: cp1253 x-cp1253
windows-1254 = cp1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599
    iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255 = cp1255: cp1255 x-cp1255
windows-1256 = cp1256: cp1256 x-cp1256
windows-1257 = cp1257: cp1257 x-cp1257
windows-1258 = cp1258: cp1258 x-cp1258
x-mac-cyrillic = mac-cyrillic: x-mac-ukrainian
gbk = gb18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030 = gb18030:
big5 = big5hkscs: big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp = euc-jp: cseucpkdfmtjapanese x-euc-jp
iso-2022-jp = iso2022-jp: csiso2022jp
shift_jis = cp932: csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr = cp949: cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989
    ksc5601 ksc_5601 windows-949
replacement = -: csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
utf-16be = utf-16-be: unicodefffe
utf-16le = utf-16-le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
"""
_ROW: Final = re.compile(r"^(\S+) = (\S+):((?:[^\n]|\n )*)", re.MULTILINE)
_ROWS: Final[tuple[tuple[str, str, list[str]], ...]] = tuple(
    (name, codec, labels.split()) for name, codec, labels in _ROW.findall(_TABLE)
)
_NAMES: Final = {label: name for name, _, labels in _ROWS for label in (name, *labels)}
_CODECS: Final = {name: codec for name, codec, _ in _ROWS}

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
)

_HEADER_CHARSET: Final = re.compile(
    r"""(?:^|;)\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;,\s]+))""", re.IGNORECASE
)

# One attribute of a start tag, HTML Standard 13.2.5.32-40: possessive, so no input can make it
# go back over what it has read.
_ATTRIBUTE: Final = re.compile(
    rb"""[\s/]*+(=?[^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"'][^\s>]*+))?)?+"""
)
_PRESCAN_TOKEN: Final = re.compile(
    rb"<!--.*?-->|<meta(?=[\s/])|</?[a-z]|<[!/?][^>]*>", re.IGNORECASE | re.DOTALL
)
_XML_DECLARATION: Final = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*(?:"([^">]*)"|'([^'>]*)')""")
_CONTENT_CHARSET: Final = re.compile(
    rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s"']+))""", re.IGNORECASE
)

# What undeclared pages are written in, as far as the detector can tell: of the Latin ones only
# windows-1252, since it takes French for windows-1250 (and Czech and Turkish can't be told apart).
_CANDIDATES: Final = (
    "cp1252",
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1255",
    "cp1256",
    "cp874",
    "cp932",
    "euc_jp",
    "cp949",
    "gb18030",
    "big5hkscs",
)
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")
_TAG: Final = re.compile(rb"<[^>]*+>?")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's markup, readable."""

    utf8: bytes
    """The markup as valid UTF-8, without a byte order mark; undecodable bytes are U+FFFD."""
    encoding: str
    """The WHATWG name of the encoding it was read as, lower case."""


def encoding_for(label: str) -> str | None:
    """Return the WHATWG name a label stands for, or None when no browser knows the label."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def decode(body: bytes, content_type: str | None) -> Decoded:
    """Read a body as UTF-8 markup.

    `content_type` is the header's value as received; it may be missing or malformed.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return _as_utf8(body[len(bom) :], encoding)
    name = _declared_in_header(content_type) or _declared_in_markup(body[:PRESCAN_BYTES])
    return _as_utf8(body, name or _detected(body))


def _as_utf8(body: bytes, name: str) -> Decoded:
    if name == "utf-8" and body.isascii():  # the common case, and the cheapest test
        return Decoded(body, name)
    if name == REPLACEMENT:
        return Decoded("\ufffd".encode() if body else b"", name)
    if name == "utf-8" and _is_utf8(body):
        return Decoded(body, name)
    # "replace" on the way out too: some multi-byte codecs yield lone surrogates.
    text = body.decode(_CODECS[name], "replace")
    return Decoded(text.encode("utf-8", "replace"), name)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _declared_in_header(content_type: str | None) -> str | None:
    if not content_type:
        return None
    match = _HEADER_CHARSET.search(content_type)
    if match is None:
        return None
    return encoding_for(next(filter(None, match.groups()), ""))


def _declared_in_markup(head: bytes) -> str | None:
    if head.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if head.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    name = _declared_in_meta(head)
    if name is None and (match := _XML_DECLARATION.match(head)):
        name = encoding_for((match[1] or match[2] or b"").decode("latin-1"))
    # A declaration that could be read as ASCII is not in UTF-16, whatever it claims.
    if name in {"utf-16be", "utf-16le"}:
        return "utf-8"
    return name


def _declared_in_meta(head: bytes) -> str | None:
    if b"charset" not in head.lower():  # no label without the word: most pages end here
        return None
    at = 0
    while token := _PRESCAN_TOKEN.search(head, at):
        text = token[0]
        if text[1:2] in b"!?" or (text[1:2] == b"/" and not text[2:3].isalpha()):
            at = token.end()
            continue
        attributes, at = _attributes(head, token.end())
        if text[:5].lower() == b"<meta" and (name := _meta_encoding(attributes)):
            return name
    return None


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Read a start tag's attributes from `at` on; return them and where the tag ends."""
    attributes: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(head, at):
        if match.end() == at or not match[1]:
            return attributes, max(match.end(), at)
        attributes.setdefault(match[1].lower(), match[2] or match[3] or match[4] or b"")
        at = match.end()
    return attributes, at


def _meta_encoding(attributes: dict[bytes, bytes]) -> str | None:
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CONTENT_CHARSET.search(attributes.get(b"content", b""))
        label = next(filter(None, match.groups()), None) if match else None
    return encoding_for(label.decode("latin-1")) if label is not None else None


def _detected(body: bytes) -> str:
    """Guess the encoding of a page that declares none."""
    if body.isascii():
        return "utf-8"
    try:
        # final=False: a body that was cut off in the middle of a character is still UTF-8.
        codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return _detected_legacy(body)
    return "utf-8"


def _detected_legacy(body: bytes) -> str:
    """Ask the detector about a little of the text that is not ASCII.

    Markup is ASCII and would only dilute the sample; and the detector can take seconds for a page.
    """
    first = _NOT_ASCII.search(body)
    start = max(0, first.start() - SAMPLE_BYTES) if first else 0
    pieces = _TAG.split(body[start : start + WINDOW_BYTES])
    sample = b" ".join(b" ".join(piece for piece in pieces if not piece.isascii()).split())
    sample = sample[:SAMPLE_BYTES]
    if sample.isascii():
        return FALLBACK
    # Late: with its codecs it takes 3 MB, and few pages leave their encoding to be guessed.
    from charset_normalizer import from_bytes

    best = from_bytes(
        sample, steps=1, chunk_size=SAMPLE_BYTES, cp_isolation=list(_CANDIDATES)
    ).best()
    if best is None:
        return FALLBACK
    return _names_by_codec().get(codecs.lookup(best.encoding).name, FALLBACK)


@cache
def _names_by_codec() -> dict[str, str]:
    """Give the WHATWG names by Python's; late, because that loads every codec there is."""
    others = {"gbk", "iso-8859-8-i", REPLACEMENT}
    return {codecs.lookup(codec).name: name for name, codec, _ in _ROWS if name not in others}
