"""The radius: one number that tells crawlability for all origins (design 3.4)."""

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.depth import DepthRules, after_link, after_redirect, crawlable
from terrain.rules.hosts import HostRules


def rules(**limits: int) -> DepthRules:
    """Make rules for origins such as `a="a.org"`: the name with `.org`, `wide_` for `*.`."""
    patterns = [
        f"*.{name.removeprefix('wide_')}.org" if name.startswith("wide_") else f"{name}.org"
        for name in limits
    ]
    hosts = HostRules(blacklist=[], stub=[], quality=patterns)
    return DepthRules(hosts, list(limits.values()))


def test_a_link_takes_one_and_a_redirect_nothing() -> None:
    assert after_link(3) == 2
    assert after_redirect(3) == 3


@pytest.mark.parametrize(("radius", "asked"), [(2, True), (1, True), (0, True), (-1, False)])
def test_a_page_is_asked_for_while_its_radius_is_not_negative(radius: int, asked: bool) -> None:
    assert crawlable(radius) is asked


def test_limit_0_means_the_origins_own_pages_only() -> None:
    own = rules(a=0).own_radius("a.org")
    assert own == 0
    assert crawlable(own)
    assert not crawlable(after_link(own))


def test_every_page_of_an_origins_host_has_its_limit() -> None:
    assert rules(a=2, b=5).own_radius("a.org") == 2
    assert rules(a=2, b=5).own_radius("b.org") == 5


def test_a_host_of_no_origin_has_no_radius_of_its_own() -> None:
    assert rules(a=2).own_radius("c.org") is None
    assert rules(a=2).own_radius("sub.a.org") is None


def test_of_several_origins_the_widest_counts_wherever_it_stands_in_the_list() -> None:
    assert rules(a=1, wide_a=4).own_radius("a.org") == 4
    assert rules(wide_a=4, a=1).own_radius("a.org") == 4
    assert rules(a=4, wide_a=1).own_radius("a.org") == 4
    assert rules(a=4, wide_a=1).own_radius("sub.a.org") == 1


@pytest.mark.parametrize(
    ("host", "passed_on", "radius"),
    [
        ("a.org", -1, 2),  # a way back into an origin starts anew
        ("a.org", 1, 2),
        ("a.org", 4, 4),  # from a wider origin than its own
        ("c.org", 1, 1),
        ("c.org", -1, -1),
    ],
)
def test_a_page_keeps_the_better_of_its_own_radius_and_the_one_passed_on(
    host: str, passed_on: int, radius: int
) -> None:
    assert rules(a=2, b=5).reached(host, passed_on) == radius


def test_seeds_have_the_limit_of_their_own_entry() -> None:
    assert rules(a=2, b=5).seed_radius(0) == 2
    assert rules(a=2, b=5).seed_radius(1) == 5


def test_the_shallowest_pages_come_first() -> None:
    depth = rules(a=2, b=5)
    assert depth.widest == 5
    assert depth.priority(5) == 0
    assert [depth.priority(radius) for radius in (5, 2, 0)] == [0, 3, 5]


@pytest.mark.parametrize("limits", [[], [3, -1]])
def test_limits_that_make_no_sense_are_refused(limits: list[int]) -> None:
    hosts = HostRules(blacklist=[], stub=[], quality=["a.org", "b.org"][: len(limits)])
    with pytest.raises(ValueError, match=r"at least one origin|must not be negative"):
        DepthRules(hosts, limits)


def test_asking_for_many_hosts_does_not_keep_them_all() -> None:
    depth = rules(wide_a=3)
    for number in range(20_000):
        assert depth.own_radius(f"h{number}.a.org") == 3
    assert depth._own_radius.cache_info().currsize < 20_000


HOSTS = ["a.org", "b.org", "c.org", "d.org", "e.org"]
EDGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["link", "redirect"])),
    max_size=30,
)


@given(
    hosts=st.lists(st.sampled_from(HOSTS), min_size=8, max_size=8),
    edges=EDGES,
    limits=st.lists(st.integers(0, 3), min_size=2, max_size=2),
    order=st.randoms(use_true_random=False),
)
def test_the_radius_tells_what_a_search_from_each_origin_tells(
    hosts: list[str], edges: list[tuple[int, int, str]], limits: list[int], order: Random
) -> None:
    depth = rules(a=limits[0], b=limits[1])

    # Crawlable by the definition: one breadth-first search per origin over the links that are
    # seen, which are those of crawlable pages; so search, look, and search again until it stands.
    seen: set[int] = set()
    while True:
        near = {
            page
            for origin, limit in zip(["a.org", "b.org"], limits, strict=True)
            for page, steps in _search(hosts, edges, origin, seen).items()
            if steps <= limit
        }
        if near == seen:
            break
        seen = near

    # Crawlable by radius, edges taken in a random order until nothing grows.
    radius = {
        page: own for page, host in enumerate(hosts) if (own := depth.own_radius(host)) is not None
    }
    shuffled = list(edges)
    order.shuffle(shuffled)
    growing = True
    while growing:
        growing = False
        for source, target, kind in shuffled:
            if not crawlable(radius.get(source, -1)):
                continue
            passed_on = (after_link if kind == "link" else after_redirect)(radius[source])
            reached = depth.reached(hosts[target], passed_on)
            if reached > radius.get(target, -2):
                radius[target] = reached
                growing = True
    assert {page for page, value in radius.items() if crawlable(value)} == seen


def _search(
    hosts: list[str], edges: list[tuple[int, int, str]], origin: str, seen: set[int]
) -> dict[int, int]:
    """Give the depth of every page from an origin, through the pages that have been read."""
    depths = {page: 0 for page, host in enumerate(hosts) if host == origin}
    todo = deque(depths)
    while todo:
        page = todo.popleft()
        for source, target, kind in edges:
            if source != page or source not in seen:
                continue
            steps = depths[page] + (1 if kind == "link" else 0)
            if steps < depths.get(target, 1_000):
                depths[target] = steps
                todo.append(target)
    return depths
