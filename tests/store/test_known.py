"""What is remembered of pages: never wrong, and never more than it was given room for."""

from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.links import LinkKind, OutLink
from terrain.store.known import FIRST_SLOTS, KnownPages
from tests.store.terrains import link

PLAIN = link("https://c.test/")


def to(page_id: int, check: int = 7, kind: LinkKind = LinkKind.ANCHOR) -> OutLink:
    address = PLAIN.address._replace(page_id=page_id, check=check)
    return PLAIN._replace(address=address, kind=kind)


def test_a_link_to_a_page_not_remembered_is_news() -> None:
    assert KnownPages(8).news([to(1)], 0) == [to(1)]


def test_a_page_reached_with_as_many_steps_left_is_no_news() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    assert known.news([to(1)], 2) == []
    assert known.news([to(1)], -1) == []


def test_more_steps_left_are_news() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    assert known.news([to(1)], 3) == [to(1)]


def test_another_identity_with_the_same_id_is_news() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    assert known.news([to(1, check=8)], 0) == [to(1, check=8)]


def test_a_redirect_is_always_news() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    assert known.news([to(1, kind=LinkKind.REDIRECT)], 0) != []


def test_a_page_with_the_same_slot_takes_the_place() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    known.remember(9, check=7, radius=2)
    assert known.news([to(1), to(9)], 0) == [to(1)]


def test_nothing_is_left_after_forgetting() -> None:
    known = KnownPages(8)
    known.remember(1, check=7, radius=2)
    known.forget()
    assert known.news([to(1)], -1) == [to(1)]


def test_page_and_check_of_zero_are_not_mistaken_for_an_empty_place() -> None:
    assert KnownPages(8).news([to(0, check=0)], -1) != []


def test_growing_keeps_what_is_known_and_ends_at_the_size_given() -> None:
    known = KnownPages(4 * FIRST_SLOTS)
    pages = range(3 * FIRST_SLOTS)
    for page_id in pages:
        known.remember(page_id, check=7, radius=2)
    assert known.news([to(page_id) for page_id in pages], 2) == []
    for page_id in range(4 * FIRST_SLOTS, 8 * FIRST_SLOTS):
        known.remember(page_id, check=7, radius=2)
    assert known.news([to(page_id) for page_id in pages], 2) == [to(page_id) for page_id in pages]


IDS = st.sampled_from([0, 1, 2, 8, 9, 2**63 - 1, 2**63 - 8])
CHECKS = st.sampled_from([0, 1, 2**31 - 1])
RADII = st.one_of(st.integers(-1, 3), st.integers(250, 400))


@given(
    remembered=st.lists(st.tuples(IDS, CHECKS, RADII), max_size=20),
    asked=st.lists(st.tuples(IDS, CHECKS), max_size=10),
    radius=RADII,
)
def test_what_it_leaves_out_was_remembered_with_at_least_that_radius(
    remembered: list[tuple[int, int, int]], asked: list[tuple[int, int]], radius: int
) -> None:
    known = KnownPages(8)
    links = [to(page_id, check) for page_id, check in asked]
    for count, (page_id, check, found) in enumerate(remembered, 1):
        known.remember(page_id, check, found)
        # Asked at every step: what was found out once is remembered a second time.
        for wanted in (radius, max(radius - 1, -1)):
            news = known.news(links, wanted)
            for left_out in (each for each in links if each not in news):
                target = (left_out.address.page_id, left_out.address.check)
                radii = [r for known_id, c, r in remembered[:count] if (known_id, c) == target]
                assert max(radii) >= wanted
