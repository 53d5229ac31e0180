"""Where the domains stand in the picture, and which connections are drawn.

igraph finds the positions; then labels are pushed apart until they can be read.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from terrain.store.queries import DomainEdge, DomainGraph, DomainNode

SEED = 7
"""The same terrain always looks the same."""

EDGES_PER_NODE = 3
"""Connections drawn for each domain on average: with all of them a picture is a grey ball."""

LABEL_HEIGHT = 15.0
CHARACTER_WIDTH = 6.4
"""Of the label font, on average."""

_ROUNDS = 400
_THREAD = 0.5
_EVENNESS = 0.45
"""How far positions go from where the forces put them to an even spread, 0 to 1."""

_GAP = 5.0


@dataclass(slots=True)
class Spot:
    """A domain in the picture."""

    node: DomainNode
    label: str
    radius: float
    x: float = 0.0
    y: float = 0.0
    half_width: float = field(init=False)
    """Half of what circle and label take from left to right."""
    top: float = field(init=False)
    """What it takes above its centre."""
    bottom: float = field(init=False)
    """What it takes below its centre: the label stands under the circle."""

    def __post_init__(self) -> None:
        """Work the measures out once: they are compared a million times."""
        self.half_width = max(self.radius, len(self.label) * CHARACTER_WIDTH / 2) + _GAP
        self.top = self.radius + _GAP
        self.bottom = self.radius + LABEL_HEIGHT + _GAP


@dataclass(frozen=True, slots=True)
class Box:
    """The part of the canvas that the graph may fill."""

    left: float
    top: float
    right: float
    bottom: float


def drawn_edges(graph: DomainGraph) -> list[DomainEdge]:
    """Return the heaviest edges, and for each domain its heaviest one; light ones first."""
    chosen = dict.fromkeys(graph.edges[: EDGES_PER_NODE * len(graph.nodes)])
    served: set[int] = set()
    for edge in graph.edges:
        if not {edge.source, edge.target} <= served:
            chosen.setdefault(edge)
            served |= {edge.source, edge.target}
    return sorted(chosen, key=lambda edge: (edge.weight, edge.source, edge.target))


def place(spots: Sequence[Spot], edges: Sequence[DomainEdge], box: Box) -> None:
    """Give each spot its position."""
    if not spots:
        return
    for spot, (x, y) in zip(spots, _positions(spots, edges), strict=True):
        spot.x, spot.y = x, y
    _fit(spots, box)
    for round_ in range(_ROUNDS):
        moved = _push_apart(spots)
        _keep_inside(spots, box)
        if not moved and round_:
            break


def _positions(spots: Sequence[Spot], edges: Sequence[DomainEdge]) -> list[tuple[float, float]]:
    # Only who draws a picture pays for the import.
    import igraph

    index = {spot.node.id: place for place, spot in enumerate(spots)}
    weights: dict[tuple[int, int], float] = {}
    for edge in edges:
        first, second = sorted((index[edge.source], index[edge.target]))
        weights[first, second] = weights.get((first, second), 0) + edge.weight
    # What is not connected would drift away and leave the rest no room: a thread holds it.
    threads = [
        (0, min(part))
        for part in igraph.Graph(n=len(spots), edges=list(weights)).connected_components()
        if 0 not in part
    ]
    graph = igraph.Graph(n=len(spots), edges=[*weights, *threads])
    pull = [1 + math.log(weight) for weight in weights.values()] + [_THREAD] * len(threads)
    # igraph takes its chance from Python's generator; ours is a fixed one, given back afterwards.
    igraph.set_random_number_generator(random.Random(SEED))  # noqa: S311 - a layout, not a secret
    try:
        layout = graph.layout_fruchterman_reingold(
            weights=pull,
            seed=graph.layout_circle(),
            niter=2_000,
            grid=False,
        )
    finally:
        igraph.set_random_number_generator(random)
    return [(x, y) for x, y in layout]


def _fit(spots: Sequence[Spot], box: Box) -> None:
    """Spread the layout over the box, each direction by itself: paper is wider than high.

    Halfway to an even spread, so that one far-off domain does not press all others together.
    """
    xs = _spread([spot.x for spot in spots], box.left, box.right)
    ys = _spread([spot.y for spot in spots], box.top, box.bottom)
    for spot, x, y in zip(spots, xs, ys, strict=True):
        spot.x, spot.y = x, y


def _spread(values: Sequence[float], first: float, last: float) -> list[float]:
    low, high = min(values), max(values)
    ranks = {
        place: rank for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__))
    }
    return [
        (1 - _EVENNESS) * _scaled(value, low, high, first, last)
        + _EVENNESS * _scaled(ranks[place], 0, len(values) - 1, first, last)
        for place, value in enumerate(values)
    ]


def _scaled(value: float, low: float, high: float, first: float, last: float) -> float:
    if high - low < 1e-9:
        return (first + last) / 2
    return first + (value - low) / (high - low) * (last - first)


def _push_apart(spots: Sequence[Spot]) -> bool:
    """Move spots that cover each other half of the way each; True if any did."""
    moved = False
    for place, one in enumerate(spots):
        width = one.half_width
        for other in spots[place + 1 :]:
            across = width + other.half_width - abs(one.x - other.x)
            if across <= 0:
                continue
            upper, lower = (one, other) if one.y <= other.y else (other, one)
            down = upper.bottom + lower.top - (lower.y - upper.y)
            if down <= 0:
                continue
            moved = True
            # The shorter way out; labels are wide, so that is mostly up and down.
            if down < across:
                upper.y -= down / 2
                lower.y += down / 2
            else:
                step = across / 2 if one.x >= other.x else -across / 2
                one.x += step
                other.x -= step
    return moved


def _keep_inside(spots: Sequence[Spot], box: Box) -> None:
    for spot in spots:
        spot.x = min(max(spot.x, box.left + spot.half_width), box.right - spot.half_width)
        spot.y = min(max(spot.y, box.top + spot.top), box.bottom - spot.bottom)
