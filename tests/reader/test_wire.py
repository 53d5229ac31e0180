"""What is sent to the reading process and back is what came out of extraction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.reader import wire
from terrain.reader.wire import frame, unframed
from terrain.rules.extract import PageFacts
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.urls import Address

texts = st.text(st.characters(exclude_categories=["Cs"]))
maybe = st.none() | texts
ids = st.integers(0, 2**63 - 1)
addresses = st.builds(Address, texts, texts, texts, ids, st.integers(0, 2**31 - 1))
links = st.builds(
    OutLink, addresses, st.sampled_from(LinkKind), texts, texts, st.sampled_from(Position)
)
facts = st.builds(
    PageFacts, maybe, maybe, maybe, maybe, maybe, texts, st.lists(links).map(tuple), texts, maybe
)


@given(st.lists(facts, max_size=5), st.sampled_from([0, 1, 3, 100]))
def test_facts_come_back_as_they_were(sent: list[PageFacts], most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(wire, "MOST_ADDRESSES", most)
        packed, unpacked = wire.Packer().packed, wire.Unpacker().facts
        received = [unpacked(unframed(bytearray(frame(packed(page)))) or ()) for page in sent]
    assert received == sent
    links = [link for page in received for link in page.links]
    assert all(isinstance(link.kind, LinkKind) for link in links)
    assert all(isinstance(link.position, Position) for link in links)
    assert all(isinstance(link.address, Address) for link in links)


def test_what_was_packed_in_vain_is_sent_again() -> None:
    first, second = (
        OutLink(Address(name, name, "c", 1, 2), LinkKind.ANCHOR, "", "", Position.BODY)
        for name in ("one", "two")
    )
    page = PageFacts(None, None, None, None, None, "", (first, second), "utf-8", None)
    packer, unpacker = wire.Packer(), wire.Unpacker()
    packer.packed(page)
    packer.forget()
    assert unpacker.facts(packer.packed(page)) == page


def test_an_address_is_sent_once() -> None:
    link = OutLink(Address("a" * 1000, "b", "c", 1, 2), LinkKind.ANCHOR, "", "", Position.BODY)
    page = PageFacts(None, None, None, None, None, "", (link,), "utf-8", None)
    packer, unpacker = wire.Packer(), wire.Unpacker()
    first, second = packer.packed(page), packer.packed(page)
    assert len(frame(first)) > 1000 > len(frame(second))
    assert unpacker.facts(first) == unpacker.facts(second) == page


@given(st.lists(st.tuples(texts, ids), max_size=5), st.integers(1, 50))
def test_frames_are_found_whatever_pieces_they_arrive_in(
    values: list[tuple[str, int]], size: int
) -> None:
    stream = b"".join(map(frame, values))
    buffer = bytearray()
    found = []
    for start in range(0, len(stream), size):
        buffer += stream[start : start + size]
        while (value := unframed(buffer)) is not None:
            found.append(value)
    assert found == values
    assert not buffer
