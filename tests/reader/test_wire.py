"""What is sent to the reading process and back is what came out of extraction."""

from hypothesis import given
from hypothesis import strategies as st

from terrain.reader.wire import facts_from, frame, plain_facts, unframed
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


@given(facts)
def test_facts_come_back_as_they_were(sent: PageFacts) -> None:
    arrived = unframed(bytearray(frame(plain_facts(sent))))
    assert arrived is not None
    received = facts_from(arrived)
    assert received == sent
    assert all(isinstance(link.kind, LinkKind) for link in received.links)
    assert all(isinstance(link.position, Position) for link in received.links)


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
