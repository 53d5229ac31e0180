"""A web is plain data: there and back through JSON, and errors that say where they are."""

import json
from typing import get_args

import pytest
from hypothesis import given

from terrain.sampleweb.answers import _MAKERS
from terrain.sampleweb.behaviours import Behaviour, Flaky, Slow
from terrain.sampleweb.pages import Html, Raw, Status, to
from terrain.sampleweb.web import Host, Web, WebError
from tests.sampleweb.web_strategies import webs


@given(webs)
def test_a_web_comes_back_from_json_as_it_was(web: Web) -> None:
    assert Web.from_json(web.to_json()) == web


def test_the_json_names_what_each_page_does_and_leaves_out_the_ordinary() -> None:
    web = Web({"a.test": Host({"/": Slow(2.0, Html("A", to("/b")))}, robots="")})
    assert json.loads(web.to_json()) == {
        "hosts": {
            "a.test": {
                "pages": {
                    "/": {
                        "kind": "slow",
                        "delay": 2.0,
                        "then": {"kind": "html", "title": "A", "links": [{"href": "/b"}]},
                    }
                },
                "robots": "",
            }
        }
    }


def test_bytes_are_text_of_one_character_each() -> None:
    web = Web({"a.test": Host({"/": Raw(b"HTTP/1.1 \xff\r\n\0")})})
    assert "HTTP/1.1 ÿ\\r\\n\\u0000" in web.to_json()


def test_what_has_nothing_said_about_it_is_empty() -> None:
    assert Web.from_json("{}") == Web()


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ({"kind": "teapot"}, "does not match any of the expected tags"),
        ({"title": "no kind"}, "Unable to extract tag"),
        ({"kind": "html", "titel": "x"}, "titel: Unexpected keyword argument"),
        ({"kind": "status", "code": 99}, "code: Input should be greater than or equal to 100"),
        ({"kind": "flaky", "then": []}, "then: Tuple should have at least 1 item"),
        ({"kind": "slow", "delay": -1, "then": {"kind": "hang"}}, "delay: Input should be greater"),
        ({"kind": "raw", "data": "€"}, "data"),
    ],
)
def test_a_wrong_page_is_refused_with_its_place(page: object, complaint: str) -> None:
    text = json.dumps({"hosts": {"a.test": {"pages": {"/x": page}}}})
    with pytest.raises(WebError) as caught:
        Web.from_json(text)
    assert str(caught.value).startswith("hosts.a.test.pages./x")
    assert complaint in str(caught.value)


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(WebError, match="Invalid JSON"):
        Web.from_json("hosts = {}")


def test_every_behaviour_can_be_answered() -> None:
    union, *_ = get_args(Behaviour)
    assert set(_MAKERS) | {Flaky} == set(get_args(union))


def test_a_web_can_be_asked_what_an_address_does() -> None:
    host = Host({"/": Html("A")}, robots="x", under={"/u": Html("U")})
    assert host.behaviour("/") == Html("A")
    assert host.behaviour("/robots.txt") == Status(200, b"x")
    assert host.behaviour("/u/v") == Html("U")
    assert host.behaviour("/nowhere") == Status(404, b"Not found\n")
