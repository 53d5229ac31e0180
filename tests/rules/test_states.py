"""Which changes of state are legal (design 3.3, 3.4, 3.6)."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.states import (
    INITIAL,
    TERMINAL,
    WAITING,
    IllegalTransition,
    PageState,
    check_transition,
    legal,
)

STATES = st.sampled_from(PageState)

IN_THE_DESIGN = (
    "discovered queued fetching processed redirected blacklisted stubbed dead_link unreachable "
    "rate_limited failed depth_exceeded request_limit_hit subdomain_limit_hit content_mismatch"
)

WITHIN_A_RUN = [
    # from, to, why
    ("discovered", "queued", "near enough"),
    ("queued", "fetching", "its turn"),
    ("fetching", "queued", "a crash lost the request"),
    # every outcome of asking
    ("fetching", "processed", "2xx HTML"),
    ("fetching", "redirected", "3xx to another identity"),
    ("fetching", "dead_link", "404, 410"),
    ("fetching", "unreachable", "refused, TLS, DNS, private address, downgrade"),
    ("fetching", "rate_limited", "429"),
    ("fetching", "failed", "5xx, 4xx, too large, cut off"),
    ("fetching", "content_mismatch", "not HTML"),
    ("fetching", "request_limit_hit", "HEAD took the last request of the budget"),
    # decided without asking
    ("queued", "rate_limited", "its host is suspended"),
    ("queued", "request_limit_hit", "its host's budget is spent"),
    ("queued", "subdomain_limit_hit", "its root has enough subdomains"),
    ("queued", "failed", "robots denied, or too many hops"),
    ("queued", "blacklisted", "a changed config"),
    ("queued", "stubbed", "a changed config"),
    ("queued", "depth_exceeded", "classified anew"),
    ("queued", "discovered", "a rule of a changed config"),
    ("fetching", "blacklisted", "a crash, then a changed config"),
    # a shorter way
    ("depth_exceeded", "queued", "now near enough"),
    ("depth_exceeded", "rate_limited", "near enough, but its host is suspended"),
    ("depth_exceeded", "request_limit_hit", "near enough, but its host's budget is spent"),
    ("depth_exceeded", "subdomain_limit_hit", "near enough, but its root has enough subdomains"),
    ("depth_exceeded", "blacklisted", "near enough, after a changed config"),
    ("depth_exceeded", "stubbed", "near enough, after a changed config"),
    ("depth_exceeded", "failed", "near enough, but too many hops away"),
    ("redirected", "failed", "it leads into a cycle, or too far"),
    ("failed", "redirected", "a shorter way to where it leads"),
    ("failed", "queued", "no longer too many hops away"),
    ("failed", "request_limit_hit", "no longer too many hops away, but the budget is spent"),
    # a larger limit in a changed config
    ("request_limit_hit", "queued", "a larger budget"),
    ("subdomain_limit_hit", "queued", "more subdomains"),
    ("request_limit_hit", "rate_limited", "its host was suspended meanwhile"),
]

NEVER_WITHIN_A_RUN = [
    ("processed", "queued", "it would be asked twice"),
    ("processed", "processed", "it was asked twice"),
    ("processed", "failed", "its content is committed"),
    ("dead_link", "queued", "it would be asked twice"),
    ("dead_link", "dead_link", "it was asked twice"),
    ("content_mismatch", "queued", "it would be asked twice"),
    ("unreachable", "queued", "it would be asked twice"),
    ("redirected", "queued", "it would be asked twice"),
    ("redirected", "processed", "it has an outcome"),
    ("rate_limited", "queued", "the host is suspended for the whole run"),
    ("blacklisted", "queued", "a shorter way does not take it off the list"),
    ("stubbed", "queued", "a shorter way does not take it off the list"),
    ("blacklisted", "fetching", "such hosts see no request"),
    ("depth_exceeded", "discovered", "rules are asked before depth"),
    ("discovered", "fetching", "only what is queued is leased"),
    ("discovered", "processed", "only what is leased has an answer"),
    ("queued", "processed", "only what is leased has an answer"),
    ("queued", "dead_link", "only what is leased has an answer"),
    ("fetching", "fetching", "one lease at a time"),
    ("fetching", "depth_exceeded", "a radius never shrinks"),
    ("request_limit_hit", "depth_exceeded", "a radius never shrinks"),
    ("fetching", "discovered", "what is out is not taken back by a rule"),
    ("discovered", "processed", "only what is leased has an answer"),
]


def test_the_words_are_those_of_the_design_in_its_order() -> None:
    assert [state.value for state in PageState] == IN_THE_DESIGN.split()


def test_every_state_but_discovered_is_either_waiting_or_terminal() -> None:
    assert {PageState.QUEUED, PageState.FETCHING} == WAITING
    assert not WAITING & TERMINAL
    assert set(PageState) - WAITING - TERMINAL == {PageState.DISCOVERED}


@pytest.mark.parametrize(("old", "new", "why"), WITHIN_A_RUN)
def test_legal_within_a_run(old: str, new: str, why: str) -> None:
    assert legal(PageState(old), PageState(new), new_run=False), why


@pytest.mark.parametrize(("old", "new", "why"), NEVER_WITHIN_A_RUN)
def test_illegal_within_a_run(old: str, new: str, why: str) -> None:
    assert not legal(PageState(old), PageState(new), new_run=False), why


@pytest.mark.parametrize(
    "new",
    [
        "discovered",
        "queued",
        "depth_exceeded",
        "blacklisted",
        "stubbed",
        "rate_limited",
        "request_limit_hit",
        "subdomain_limit_hit",
        "failed",
    ],
)
def test_what_a_page_may_be_when_a_run_first_reaches_it(new: str) -> None:
    assert legal(None, PageState(new), new_run=False)
    for old in PageState:
        assert legal(old, PageState(new), new_run=True)


@pytest.mark.parametrize(
    "new", ["fetching", "processed", "redirected", "dead_link", "unreachable", "content_mismatch"]
)
def test_what_no_page_can_be_before_it_is_asked_for(new: str) -> None:
    assert not legal(None, PageState(new), new_run=False)
    for old in PageState:
        assert not legal(old, PageState(new), new_run=True)


@given(STATES)
def test_a_decision_may_be_repeated_but_an_answer_may_not(state: PageState) -> None:
    assert legal(state, state, new_run=False) == (state in INITIAL)


@given(st.lists(STATES, max_size=12))
def test_no_legal_history_asks_a_page_twice_once_it_was_read(history: list[PageState]) -> None:
    state = PageState.PROCESSED
    for new in history:
        if legal(state, new, new_run=False):
            state = new
    assert state is PageState.PROCESSED


@given(STATES)
def test_every_way_to_an_answer_leads_through_a_lease(old: PageState) -> None:
    answers = {PageState.PROCESSED, PageState.DEAD_LINK, PageState.CONTENT_MISMATCH}
    answers.add(PageState.UNREACHABLE)
    for new in answers:
        assert legal(old, new, new_run=False) == (old is PageState.FETCHING)
    assert legal(old, PageState.FETCHING, new_run=False) == (old is PageState.QUEUED)


def test_an_illegal_change_raises_when_strict() -> None:
    with pytest.raises(IllegalTransition, match=r"^processed -> queued within a run$"):
        check_transition(PageState.PROCESSED, PageState.QUEUED, strict=True)
    with pytest.raises(IllegalTransition, match=r"^\(unknown page\) -> processed within a run$"):
        check_transition(None, PageState.PROCESSED, strict=True)
    with pytest.raises(IllegalTransition, match=r"^queued -> processed on first reach in a run$"):
        check_transition(PageState.QUEUED, PageState.PROCESSED, new_run=True, strict=True)


def test_an_illegal_change_is_logged_and_refused_in_production(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="terrain.rules.states"):
        assert not check_transition(PageState.PROCESSED, PageState.QUEUED, strict=False)
    assert "processed -> queued within a run" in caplog.text


@pytest.mark.parametrize("strict", [True, False])
def test_a_legal_change_passes_without_a_word(
    strict: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert check_transition(None, PageState.QUEUED, strict=strict)
    assert check_transition(PageState.QUEUED, PageState.FETCHING, strict=strict)
    assert check_transition(PageState.PROCESSED, PageState.QUEUED, new_run=True, strict=strict)
    assert not caplog.records
