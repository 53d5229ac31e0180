"""What the ordinary behaviours send, seen by a client over TLS."""

import gzip

import pytest

from terrain.sampleweb.behaviours import Behaviour, ByMethod, Flaky, Framed, Gzipped
from terrain.sampleweb.pages import (
    BigBody,
    Endless,
    GzipBomb,
    Html,
    Link,
    NonHtml,
    Redirect,
    Status,
    ToHttps,
    Tree,
)
from terrain.sampleweb.web import Host, Latency, Limit, Web
from tests.sampleweb.webclient import Client, ask, read_all, request


def test_each_host_has_its_own_certificate_and_its_own_pages(client: Client) -> None:
    names = ["a.test", "www.a.test", "deep.down.b.test", "xn--mnchen-3ya.test", "localhost"]
    client.serve({name: Host({"/": Html(f"Home of {name}")}) for name in names})
    for name in names:
        sock = client.connect(name)
        certificate = sock.getpeercert()
        assert certificate is not None
        if name != "localhost":
            assert ("DNS", name) in certificate["subjectAltName"]
        assert f"<title>Home of {name}</title>".encode() in client.get(name).body


def test_a_host_that_is_an_address_has_a_certificate_though_no_hello_names_it(
    client: Client,
) -> None:
    client.serve({"203.0.113.7": Host({"/": Html("By number")})})
    assert b"By number" in client.get("203.0.113.7").body


def test_an_html_page_says_all_it_was_told_to_and_escapes_it(client: Client) -> None:
    page = Html(
        "Tea & <cake>",
        (
            Link("/a?x=1&y=2", 'say "hi"', {"rel": "nofollow"}),
            Link("/n", within="nav"),
            Link("/f", within="footer"),
        ),
        lang="en",
        description='A "fine" page',
        meta_robots="noindex",
        base="https://b.test/",
        canonical="/real",
        text=("one < two",),
        head="<style>p{}</style>",
        body="<hr>",
    )
    client.serve({"a.test": Host({"/": page})})
    reply = client.get("a.test")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    for markup in (
        '<html lang="en">',
        "<title>Tea &amp; &lt;cake&gt;</title>",
        '<base href="https://b.test/">',
        '<meta name="description" content="A &quot;fine&quot; page">',
        '<meta name="robots" content="noindex">',
        '<link rel="canonical" href="/real">',
        "<style>p{}</style>",
        '<a href="/a?x=1&amp;y=2" rel="nofollow">say &quot;hi&quot;</a>',
        '<nav>\n<a href="/n">/n</a>\n</nav>',
        '<footer>\n<a href="/f">/f</a>\n</footer>',
        "<p>one &lt; two</p>",
        "<hr>",
    ):
        assert markup in reply.body.decode()


@pytest.mark.parametrize("size", [2_000, 20_000, 200_000])
def test_a_page_is_padded_to_its_size(client: Client, size: int) -> None:
    client.serve({"a.test": Host({"/": Html("Padded", size=size)})})
    reply = client.get("a.test")
    assert len(reply.body) == size
    assert reply.body.endswith(b"</html>\n")


def test_a_page_is_encoded_as_it_says_whatever_its_header_claims(client: Client) -> None:
    page = Html("Größe €", charset="latin-1", content_type="text/html; charset=utf-8")
    client.serve({"a.test": Host({"/": page})})
    assert "Größe &#8364;".encode("latin-1") in client.get("a.test").body


def test_redirects(client: Client) -> None:
    pages = {"/a": Redirect("/b"), "/c": Redirect("https://b.test/", 308), "/none": Redirect(None)}
    client.serve({"a.test": Host(dict(pages))})
    replies = [client.get("a.test", target) for target in pages]
    assert [reply.status for reply in replies] == [302, 308, 302]
    assert [reply.headers.get("location") for reply in replies] == ["/b", "https://b.test/", None]


def test_a_status_has_its_headers_and_body(client: Client) -> None:
    client.serve({"a.test": Host({"/": Status(429, b"slow", headers=(("Retry-After", "7"),))})})
    reply = client.get("a.test")
    assert (reply.status, reply.body, reply.headers["retry-after"]) == (429, b"slow", "7")


@pytest.mark.parametrize("size", [5, 1_000, 300_000])
def test_a_file_has_its_type_and_size(client: Client, size: int) -> None:
    client.serve({"a.test": Host({"/x.pdf": NonHtml(size=size)})})
    reply = client.get("a.test", "/x.pdf")
    assert reply.headers["content-type"] == "application/pdf"
    assert len(reply.body) == size
    assert reply.body.startswith(b"%PDF-1.7"[:size])


def test_an_answer_may_have_no_type(client: Client) -> None:
    client.serve({"a.test": Host({"/": Html("x", content_type=None)})})
    assert "content-type" not in client.get("a.test").headers


def test_head_gets_the_same_head_and_no_body(client: Client) -> None:
    pages: list[Behaviour] = [
        Html("x"),
        NonHtml(size=10**9),
        BigBody(10**9),
        Redirect("/y"),
        GzipBomb(10**6),
    ]
    client.serve({"a.test": Host({f"/{n}": page for n, page in enumerate(pages)})})
    for number in range(len(pages)):
        raw = client.connect("a.test")
        raw.sendall(request("a.test", f"/{number}", "HEAD", "Connection: close\r\n"))
        head = read_all(raw)
        assert head.endswith(b"\r\n\r\n")
        assert b"Content-Length: " in head
    assert client.get("a.test", "/1", "HEAD").headers["content-length"] == "1000000000"


def test_head_and_get_may_differ(client: Client) -> None:
    page = ByMethod(head=Status(403), get=Html("Open"))
    client.serve({"a.test": Host({"/": page})})
    assert client.get("a.test", method="HEAD").status == 403
    assert client.get("a.test").status == 200


def test_a_flaky_page_takes_turns_and_stays_with_the_last_for_each_method(client: Client) -> None:
    page = Flaky((Status(500), Status(503), Html("Well")))
    client.serve({"a.test": Host({"/": page})})
    assert [client.get("a.test").status for _ in range(4)] == [500, 503, 200, 200]
    assert client.get("a.test", method="HEAD").status == 500
    client.serve({"a.test": Host({"/": page})})
    assert client.get("a.test").status == 500


def test_flaky_pages_within_flaky_pages_count_for_themselves(client: Client) -> None:
    inner = Flaky((Status(500), Html("Well")))
    client.serve({"a.test": Host({"/": Flaky((Status(502), inner))})})
    assert [client.get("a.test").status for _ in range(3)] == [502, 500, 200]


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
@pytest.mark.parametrize("page", [Html("x", size=500), BigBody(300_000)])
def test_a_body_arrives_whole_whichever_way_its_end_is_told(
    client: Client, framing: str, page: Html | BigBody
) -> None:
    client.serve({"a.test": Host({"/": Framed(page, framing)})})  # type: ignore[arg-type]
    reply = client.get("a.test")
    assert len(reply.body) == page.size
    assert ("content-length" in reply.headers) == (framing == "length")
    assert client.log()[-1].outcome == "done"


def test_a_gzipped_page_unpacks_to_the_page(client: Client) -> None:
    client.serve({"a.test": Host({"/": Gzipped(Html("Packed")), "/plain": Html("Packed")})})
    reply = client.get("a.test")
    assert reply.headers["content-encoding"] == "gzip"
    assert gzip.decompress(reply.body) == client.get("a.test", "/plain").body


def test_a_gzip_bomb_is_small_and_unpacks_to_its_size(client: Client) -> None:
    client.serve({"a.test": Host({"/": GzipBomb(30_000_000)})})
    reply = client.get("a.test")
    assert len(reply.body) < 60_000
    assert len(gzip.decompress(reply.body)) == 30_000_000


def test_what_is_not_there_is_not_found_and_so_is_a_host_that_is_not_there(client: Client) -> None:
    client.serve({"a.test": Host({"/": Html("x")})})
    assert client.get("a.test", "/other").status == 404
    assert client.get("a.test", "/robots.txt").status == 404
    assert client.get("unlisted.test").status == 404
    assert [record.host for record in client.log()][-1] == "unlisted.test"


def test_an_address_is_taken_byte_for_byte(client: Client) -> None:
    pages = {"/%7Euser": Html("escaped"), "/~user": Html("plain"), "/q?b=1&a=2": Html("query")}
    client.serve({"a.test": Host(dict(pages))})
    for target, page in pages.items():
        assert f"<title>{page.title}</title>".encode() in client.get("a.test", target).body
    assert client.get("a.test", "/q?a=2&b=1").status == 404


def test_robots_txt_may_be_text_or_do_anything_else(client: Client) -> None:
    client.serve(
        {
            "a.test": Host(robots="User-agent: *\nDisallow: /x\n"),
            "b.test": Host(robots=Redirect("https://a.test/robots.txt", 301)),
            "c.test": Host(robots=Status(503)),
        }
    )
    reply = client.get("a.test", "/robots.txt")
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.body == b"User-agent: *\nDisallow: /x\n"
    assert client.get("b.test", "/robots.txt").status == 301
    assert client.get("c.test", "/robots.txt").status == 503


def test_the_longest_beginning_that_fits_answers_before_the_rest(client: Client) -> None:
    host = Host(
        {"/cal/about": Html("page")},
        under={"/cal": Html("short"), "/cal/2": Html("long")},
        otherwise=Html("rest"),
    )
    client.serve({"a.test": host})
    bodies = [client.get("a.test", t).body for t in ("/cal/about", "/cal/2024", "/cal/x", "/y")]
    titles = [body.partition(b"<title>")[2].partition(b"<")[0] for body in bodies]
    assert titles == [b"page", b"long", b"short", b"rest"]


def test_an_endless_calendar_always_links_to_a_next_month(client: Client) -> None:
    trap = Endless(("/cal?month={next}", "{path}/a"))
    client.serve({"a.test": Host(under={"/cal": trap})})
    assert b'href="/cal?month=1"' in client.get("a.test", "/cal").body
    body = client.get("a.test", "/cal?month=41").body
    assert b'href="/cal?month=42"' in body
    assert b'href="/cal/a"' in body


def test_a_tree_has_as_many_children_as_it_says_and_ends(client: Client) -> None:
    client.serve({"a.test": Host(otherwise=Tree((3, 2)))})
    session = client.session("a.test")
    assert ask(session, "/").body.count(b"<a ") == 3
    assert b'href="/2/1"' in ask(session, "/2").body
    assert ask(session, "/2/1").body.count(b"<a ") == 0
    for nowhere in ("/3", "/0/2", "/0/0/0", "/00", "/x", "//", "/0/", "/-1", "/%30"):
        assert ask(session, nowhere).status == 404


def test_a_limited_host_has_enough_after_so_many_requests_of_any_kind(client: Client) -> None:
    client.serve({"a.test": Host({"/": Html("x")}, robots="", limit=Limit(3))})
    asked = [("/robots.txt", "GET"), ("/", "HEAD"), ("/", "GET"), ("/", "GET"), ("/", "HEAD")]
    replies = [client.get("a.test", target, method) for target, method in asked]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert replies[-1].headers["retry-after"] == "3600"


def test_latency_holds_answers_back(client: Client) -> None:
    client.served.update(
        Web(
            {"a.test": Host({"/": Html("x")}), "b.test": Host(latency=Latency(0.0))},
            latency=Latency(0.05, sigma=0),
        )
    )
    client.get("a.test")
    client.get("b.test")
    slow, fast = client.log()
    assert slow.end - slow.start >= 0.05
    assert fast.end - fast.start < 0.05


def test_plain_http_is_served_on_the_same_port(client: Client) -> None:
    client.serve(
        {"a.test": Host({"/": Html("x")}), "b.test": Host({"/": Html("y")}, http=ToHttps())}
    )
    sock = client.reach("a.test")
    sock.sendall(request("a.test", extra="Connection: close\r\n"))
    assert read_all(sock).startswith(b"HTTP/1.1 200 OK\r\n")
    sock = client.reach("b.test")
    sock.sendall(request("b.test", "/z?q", extra="Connection: close\r\n"))
    assert b"Location: https://b.test/z?q\r\n" in read_all(sock)
    assert [(record.scheme, record.port, record.sni) for record in client.log()] == [
        ("http", 80, None)
    ] * 2
