"""The frontier's contract: who may be asked next, and when.

A frontier is a bounded window over the durable frontier in the store. The store tells it which
hosts have work (`announce`, `hosts_arrived`); it says what it lacks (`wants`, `wants_hosts`) and
is given it (`top_up`). The adapter takes requests (`lease`), reports when an exchange is over
(`exchange_ended`), sends further requests back in (`follow_up`) and says when a page's outcome is
committed (`finish`).

Promises, for any order of calls with non-decreasing `now`:

* Between the end of an exchange with a host and the start of the next one lies at least the
  host's delay, whatever the kind of request; a host with `max_in_flight` n keeps n such clocks.
* Nothing is given out for a host before the time it is blocked until, nor without a token.
* No page is given out for the first time twice, until `finish` says that its outcome is committed.
* Nothing is lost: what was topped up is leased, dropped with a reason, or still held; worse
  entries may be handed back to the store silently, and are then wanted again.
* Hosts are served in the order in which they became ready. Slow hosts leave room for the others.
* Memory depends on the size of the window, not on what waits outside.

`tests/frontier/frontier_contract.py` holds an implementation to this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from terrain.frontier.types import Counts, Dropped, DropReason, Entry, Lease, TopUp, Want


class FrontierContract(Protocol):
    """What every frontier backend does. `now` is in monotonic seconds and never goes back."""

    # ---- the store's side -----------------------------------------------------------------

    def announce(self, host: str, now: float, *, priority: int | None = None) -> None:
        """Note that the host has new work in the store.

        A host in the window will want it in time. Give `priority`, the best among the new
        entries, to have them fetched at once when they outrank some that are held. A host outside
        enters if there is room and nobody waits outside already; else only the fact that somebody
        waits is kept. An announcement that crosses an unanswered Want is not lost.
        """

    def hosts_arrived(self, hosts: Iterable[str], now: float, *, more: bool) -> None:
        """Answer `wants_hosts`: these hosts have work; `more` says whether others do too."""

    def wants_hosts(self, now: float) -> int:
        """Say how many hosts from outside to bring in; each number is given once.

        0 while nobody waits outside, while room is short, or while the last question is
        unanswered. A new frontier supposes that hosts wait, so a resumed run starts by this.
        """

    def wants(self, limit: int) -> list[Want]:
        """List up to `limit` hosts whose entries or tokens run low, before they run dry.

        A listed host is not listed again until its `top_up` has come.
        """

    def top_up(self, answer: TopUp, now: float) -> None:
        """Take the answer to a Want. Entries that are held already are ignored."""

    def finish(self, host: str, page_id: int, now: float) -> None:
        """Let go of a page: its outcome is committed. Harmless if it is not held."""

    def take_returned_tokens(self) -> list[tuple[str, int]]:
        """Take reservations that will not be used; give them back to the hosts' budgets."""

    def take_closed(self) -> list[tuple[str, DropReason]]:
        """Take the hosts the frontier closed itself (budget spent), so the store settles them.

        A host closes with the lease that takes its last token: that page, and any other that was
        given out, still gets an outcome of its own.
        """

    # ---- the adapter's side ---------------------------------------------------------------

    def lease(self, now: float) -> Lease | None:
        """Give the next request that may start now, or None.

        Of a host: robots.txt hops and retries, then page follow-ups whose time has come, then the
        next page by (priority, seq). If the gate does not know about the page or follow-up,
        robots.txt is given instead and the host's pages wait for `robots_known`. Denied pages
        cost neither clock nor token; they go to `take_dropped` and stay held until `finish`.
        """

    def exchange_ended(self, lease: Lease, now: float) -> None:
        """Start the host's clock: last byte, error or timeout. Repeating it changes nothing."""

    def follow_up(
        self,
        host: str,
        url: str,
        now: float,
        *,
        payload: object,
        not_before: float = 0.0,
        entry: Entry | None = None,
    ) -> None:
        """Queue a further request at the host's clock, ahead of its pages.

        With `entry` it is for that page and asks the gate about `url` like a page; without, it is
        a hop or retry of robots.txt and does not. The host need not be in the window. If the host
        is closed, or closes later, the follow-up comes back through `take_dropped`.
        """

    def robots_known(self, host: str, now: float) -> None:
        """Let the host's pages go on: the gate can answer. Due after every robots lease."""

    def set_delay(self, host: str, seconds: float, now: float) -> None:
        """Raise the host's delay to a crawl delay, also after an exchange that has ended.

        Ignored for a host outside the window: it enters on the terms it is given then, which
        include any crawl delay already known (`HostTerms`, `TopUp.delay`).
        """

    def block_until(self, host: str, when: float, now: float) -> None:
        """Ask nothing of the host before `when`. Never shortens an earlier block."""

    def suspend(self, host: str, now: float) -> None:
        """Ask nothing more of the host in this run; what waits here goes to `take_dropped`.

        Waiting entries are let go at once (the store settles them by host); pages that had been
        asked stay held until `finish`. The host keeps its place until `release`, so that no
        answer of the store from before can revive it.
        """

    def release(self, host: str, now: float) -> None:
        """Say that the store knows of the suspension: the host may leave the window."""

    def take_dropped(self) -> list[Dropped]:
        """Take what will not be asked, each thing once."""

    def close(self, now: float) -> None:
        """Give out and want nothing more, for a run that is being stopped.

        What waits is forgotten, the store has it; follow-ups, present and future, go to
        `take_dropped` as CLOSED, unused tokens to `take_returned_tokens`. What is in flight ends
        as ever, and the frontier is idle when all of it is finished.
        """

    # ---- both ---------------------------------------------------------------------------

    def ready_at(self, now: float) -> float | None:
        """Say when calling `lease` or `wants_hosts` may next bring something by time alone.

        `now` if it may at once, None if only another event can change anything.
        """

    def counts(self) -> Counts:
        """Say where everything stands, at a cost that does not depend on the window."""

    def held(self, host: str) -> tuple[int, ...]:
        """Give the ids of a host's pages in memory: waiting here, or asked and not committed."""

    def hosts(self) -> Collection[str]:
        """Give the hosts in the window, which the store need not bring in."""

    @property
    def idle(self) -> bool:
        """Nothing is in flight, held, wanted or known to wait outside."""
