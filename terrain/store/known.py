"""Pages the run knows already, in a fixed amount of memory.

Most links of most pages lead to pages that the run has reached by a way at least as short. To say
so without asking the database, each page found leaves a mark in a table with one place per slot;
a later page with the same slot takes the place. The table grows with the run up to a fixed size, so
a hundred million pages cost no more than half a million, and an evicted page only costs the
question again.
"""

from array import array
from collections.abc import Iterable

from terrain.rules.links import LinkKind, OutLink

SLOTS = 2**19
"""Places at most, a power of two; 16 bytes each."""

FIRST_SLOTS = 2**13
"""Places at first: most runs are small."""

MOST_NO_NEWS = 2**12
MOST_RADII = 8
"""Pages in the short memory before the table, for each of so many radii: a few megabytes."""

SPARSE = 8
"""Places for each page while there is room to grow: few evictions, and the full size is reached
with the first 65,536 pages, so that a terrain of a hundred thousand takes what the largest does.
"""

_REDIRECT = LinkKind.REDIRECT
_SHIFT = 16
_WIDEST = 2**_SHIFT - 1
# A radius is at least -1, that of a page one link beyond the limit; 0 is for an empty place.
_RAISE = 2


class KnownPages:
    """Remembers pages that were reached with no hops, and their radius.

    Within a run a radius only grows and hops only shrink, so what is remembered stays true.
    """

    def __init__(self, slots: int = SLOTS) -> None:
        self._most = slots
        self.forget()

    def forget(self) -> None:
        """Start with nothing."""
        self._no_news: dict[int, dict[int, int]] = {}
        self._make(min(FIRST_SLOTS, self._most))

    def remember(self, page_id: int, check: int, radius: int) -> None:
        """Note the radius of a page that no redirect hops lead to."""
        values, slot = self._values, page_id & self._mask
        was_empty = not values[slot]
        self._keys[slot] = page_id
        # A radius too wide for the place is remembered as narrower: asked again, never wrong.
        values[slot] = check << _SHIFT | min(radius + _RAISE, _WIDEST)
        if was_empty:
            self._taken += 1
            if self._taken > self._enough:
                self._grow()

    def _make(self, slots: int) -> None:
        self._mask = slots - 1
        self._taken = 0
        self._enough = slots // SPARSE if slots < self._most else slots
        self._keys = array("q", bytes(8 * slots))
        self._values = array("q", bytes(8 * slots))

    def _grow(self) -> None:
        """Make twice as many places."""
        keys, values = self._keys, self._values
        self._make(2 * (self._mask + 1))
        for page_id, value in zip(keys, values, strict=True):
            if value:
                slot = page_id & self._mask
                self._taken += not self._values[slot]
                self._keys[slot], self._values[slot] = page_id, value

    def news(self, links: Iterable[OutLink], radius: int) -> list[OutLink]:
        """Return the links that may change something, given the radius an ordinary one hands on."""
        no_news = self._no_news_at(radius)
        get = no_news.get
        new = [link for link in links if get(link[0][3]) != link[0][4] or link[1] is _REDIRECT]
        keys, values, mask = self._keys, self._values, self._mask
        wanted = radius + _RAISE
        found = []
        for link in new:
            _, _, _, key, check = link.address
            slot = key & mask
            if keys[slot] == key and link.kind is not _REDIRECT:
                value = values[slot]
                if value & _WIDEST >= wanted and value >> _SHIFT == check:
                    no_news[key] = check
                    continue
            found.append(link)
        return found

    def _no_news_at(self, radius: int) -> dict[int, int]:
        """Return pages, with their checks, that a link with that radius tells nothing new about.

        Nearly every link of a crawl ends here, and a plain dictionary is five times as quick as
        the table. What it holds was found there.
        """
        known = self._no_news.get(radius)
        if known is None or len(known) > MOST_NO_NEWS:
            if len(self._no_news) >= MOST_RADII:
                self._no_news.clear()
            known = self._no_news[radius] = {}
        return known
