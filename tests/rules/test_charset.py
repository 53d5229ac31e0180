"""Which encoding a page is read in: the order browsers ask in, and what their labels mean."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.charset import PRESCAN_BYTES, decode, encoding_for

CAFE = "café €"
LABELS = """
utf-8 utf-16 utf-16be gbk gb18030 big5 euc-jp iso-2022-jp sjis euc-kr koi8-u hz-gb-2312
x-user-defined macintosh iso-8859-8-i windows-874 nonsense
"""


def encoding(body: bytes, content_type: str | None = None) -> str:
    return decode(body, content_type).encoding


def text(body: bytes, content_type: str | None = None) -> str:
    return decode(body, content_type).utf8.decode()


class TestOrder:
    def test_a_byte_order_mark_beats_the_header(self):
        body = codecs.BOM_UTF8 + CAFE.encode()
        assert encoding(body, "text/html; charset=koi8-r") == "utf-8"
        assert text(body, "text/html; charset=koi8-r") == CAFE

    @pytest.mark.parametrize(
        ("bom", "codec", "name"),
        [
            (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
            (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
        ],
    )
    def test_utf_16_with_a_mark(self, bom, codec, name):
        body = bom + CAFE.encode(codec)
        assert (encoding(body), text(body)) == (name, CAFE)

    def test_the_header_beats_the_meta(self):
        body = b"<meta charset=koi8-r>" + CAFE.encode("cp1252")
        assert encoding(body, "text/html; charset=iso-8859-1") == "windows-1252"

    def test_the_meta_beats_detection(self):
        body = b"<meta charset=koi8-r>" + CAFE.encode()
        assert encoding(body, "text/html") == "koi8-r"

    def test_an_unknown_label_in_the_header_is_as_good_as_none(self):
        assert encoding(b"<meta charset=koi8-r>", "text/html; charset=none") == "koi8-r"


class TestHeader:
    @pytest.mark.parametrize(
        "header",
        [
            "text/html; charset=koi8-r",
            "text/html;charset=KOI8-R",
            'text/html; charset="koi8-r"',
            "text/html; charset='koi8-r'",
            "text/html ; charset = koi8-r ; q=1",
            "text/html; boundary=x; charset=koi8-r",
            "charset=koi8-r",
            "text/html; charset=koi8-r, text/html",
        ],
    )
    def test_spellings(self, header):
        assert encoding(b"", header) == "koi8-r"

    @pytest.mark.parametrize(
        "header", ["", ";", "charset", "text/html; charset=", 'text/html; charset="', "\0\xff;=,"]
    )
    def test_malformed_ones_say_nothing(self, header):
        assert encoding(b"<meta charset=koi8-r>", header) == "koi8-r"


class TestMeta:
    @pytest.mark.parametrize(
        "markup",
        [
            b"<meta charset=koi8-r>",
            b"<META CHARSET='koi8-r'/>",
            b'<meta charset=" koi8-r ">',
            b'<html><head><title>x</title><meta name=a content="b"><meta charset="koi8-r">',
            b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
            b"<meta content='text/html;charset=\"koi8-r\"' http-equiv=content-type>",
            b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>",
            b'<p title="<meta charset=utf-8>"><meta charset=koi8-r>',
            b"<meta charset=nonsense><meta charset=koi8-r>",
            b'<?xml version="1.0" encoding="koi8-r"?><html xmlns="http://www.w3.org/1999/xhtml">',
            b"<?xml version='1.0' encoding='koi8-r'?>",
        ],
    )
    def test_declarations(self, markup):
        assert encoding(markup) == "koi8-r"

    @pytest.mark.parametrize(
        "markup",
        [
            b'<meta content="text/html; charset=koi8-r">',
            b'<meta name="content-type" content="text/html; charset=koi8-r">',
            b"<metadata charset=koi8-r>",
            b"<!-- <meta charset=koi8-r> -->",
            b"charset=koi8-r",
            b" " * PRESCAN_BYTES + b"<meta charset=koi8-r>",
        ],
    )
    def test_no_declarations(self, markup):
        assert encoding(markup) == "utf-8"

    def test_a_meta_that_can_be_read_is_not_in_utf_16(self):
        assert encoding(b"<meta charset=utf-16le>") == "utf-8"

    def test_an_xml_declaration_in_utf_16_without_a_mark(self):
        for codec, name in (("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")):
            assert encoding('<?xml version="1.0"?>'.encode(codec)) == name


class TestDetection:
    def test_ascii_and_utf_8_are_utf_8(self):
        assert encoding(b"plain") == "utf-8"
        assert encoding(CAFE.encode()) == "utf-8"

    def test_utf_8_cut_off_within_a_character_is_still_utf_8(self):
        assert encoding("snow ☃".encode()[:-1]) == "utf-8"

    @pytest.mark.parametrize(
        ("codec", "name", "words"),
        [
            ("cp1252", "windows-1252", "Les élèves étudiaient déjà à l'école, très âgés"),
            ("cp1251", "windows-1251", "Это обычная страница на русском языке про жизнь людей"),
            ("koi8-r", "koi8-r", "Это обычная страница на русском языке про жизнь людей"),
            ("cp932", "shift_jis", "これは日本語のページです。東京の天気は晴れです。"),
            ("euc-jp", "euc-jp", "これは日本語のページです。東京の天気は晴れです。"),
            ("cp949", "euc-kr", "안녕하세요 이것은 한국어 페이지입니다 서울의 날씨는 맑습니다"),
            ("gb18030", "gb18030", "这是一个中文网页。今天北京的天气很好。我们去公园玩"),
            ("cp1253", "windows-1253", "Αυτή είναι μια ελληνική σελίδα και η ζωή των ανθρώπων"),
        ],
    )
    def test_undeclared_legacy_pages(self, codec, name, words):
        body = f"<html><body><p class=x>{words}</p>".encode(codec)
        assert encoding(body) == name
        assert words in text(body)

    def test_what_nobody_can_tell_is_windows_1252(self):
        assert encoding(b"\xff\x81\x00") == "windows-1252"


class TestLabels:
    @pytest.mark.parametrize(
        ("label", "name"),
        [
            ("iso-8859-1", "windows-1252"),
            ("latin1", "windows-1252"),
            ("US-ASCII", "windows-1252"),
            ("iso-8859-9", "windows-1254"),
            ("gb2312", "gbk"),
            ("shift-jis", "shift_jis"),
            ("ks_c_5601-1987", "euc-kr"),
            ("tis-620", "windows-874"),
            ("utf8", "utf-8"),
            ("\tUTF-8\n", "utf-8"),
            ("unicode", "utf-16le"),
            ("iso_8859-6:1987", "iso-8859-6"),
            ("iso-2022-kr", "replacement"),
        ],
    )
    def test_mean_what_browsers_mean(self, label, name):
        assert encoding_for(label) == name

    @pytest.mark.parametrize(
        "label", ["utf-7", "rot13", "hex", "idna", "unicode_escape", "utf-32", "cp037", "", "\0"]
    )
    def test_of_python_only_are_unknown(self, label):
        assert encoding_for(label) is None

    def test_windows_1252_is_meant_by_latin_1(self):
        assert text(b"\x80 \x93quoted\x94", "text/html; charset=iso-8859-1") == "€ “quoted”"

    def test_an_encoding_too_dangerous_to_decode_reads_as_one_replacement_character(self):
        assert text(b"<a href=/x>", "text/html; charset=iso-2022-kr") == "\ufffd"


class TestAlwaysUtf8:
    def test_a_wrong_charset_is_replaced_not_raised(self):
        assert text(b"caf\xe9", "text/html; charset=utf-8") == "caf\ufffd"
        assert text(b"a\x00b\xd8", "text/html; charset=utf-16") != ""

    @given(
        st.binary(max_size=200),
        st.sampled_from(LABELS.split()),
    )
    def test_any_bytes_in_any_encoding(self, body, label):
        decode(body, f"text/html; charset={label}").utf8.decode("utf-8", "strict")

    @given(st.binary(max_size=300), st.none() | st.text(max_size=40))
    def test_any_bytes_with_any_header(self, body, header):
        decoded = decode(body, header)
        decoded.utf8.decode("utf-8", "strict")
        assert encoding_for(decoded.encoding) == decoded.encoding
