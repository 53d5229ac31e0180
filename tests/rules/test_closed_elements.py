"""Which formatting elements cannot be opened again: those that are closed where they stand."""

import pytest

from terrain.rules.markup import MAX_TAGS, _without_closed, bounded

CLOSED = [
    b"<em>text</em>",
    b'<code class="xref py"><span class="pre">len()</span></code>',
    b"<B Id=x>a > b</b>",
    b"<i class='a b' hidden><strong>x</strong> and <small>y</small></i>",
    b"<em\nclass=sig><span><span>deep</span></span></em>",
]
OPEN = [
    b"<b>",
    b"<b id=1>text",
    b"<b><i></b></i>",
    b"<b><!--</b>-->",
    b"<b><p></b>",
    b'<b title=">x</b>',
    b"<b title='>x</b>",
    b"<b title=`a>x</b>",
    b'<b x="a"y>x</b>',
    b"<b/>x</b>",
    b"<b><table></b>",
    b"<b><a>x</a></b>",
    b"<b>x</i>",
    b"<b>x</b ",
]


@pytest.mark.parametrize("html", CLOSED)
def test_closed_at_once(html: bytes) -> None:
    *_, last = _without_closed(b"<p>" + html + b"</p>")
    assert last.replace(b" and ", b"") == b"<p></p>"


@pytest.mark.parametrize("html", OPEN)
def test_not_beyond_doubt(html: bytes) -> None:
    assert not list(_without_closed(html))


def test_a_large_page_of_documentation_is_read_as_it_is() -> None:
    names = [
        b'<code class="c%d"><span class="pre">f%d</span></code><em id=e%d>x</em>' % (n, n, n)
        for n in range(MAX_TAGS // 10)
    ]
    page = b"<p>" + b"<p>".join(names)
    assert bounded(page).html == page


@pytest.mark.parametrize("html", OPEN)
def test_a_page_of_what_may_be_opened_again_is_not(html: bytes) -> None:
    page = b"".join(b"<p>%s<b id=%d>" % (html, n) for n in range(2_000))
    assert bounded(page).html != page


def test_many_tags_are_no_matter_if_most_are_closed_at_once() -> None:
    page = b"<p><code><span>x</span></code></p>" * (MAX_TAGS // 4)
    assert page.count(b"<") > MAX_TAGS
    assert bounded(page).html == page
    assert bounded(page.replace(b"</span>", b"")).html != page.replace(b"</span>", b"")
