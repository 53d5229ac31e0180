"""The picture of the domain graph: one SVG without scripts, fonts or anything to fetch."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from terrain.reports.escape import CUT, plain
from terrain.reports.layout import Box, Spot, drawn_edges, place
from terrain.reports.wording import number, plural
from terrain.rules.hosts import HostKind
from terrain.store.policy import Policy
from terrain.store.queries import DomainEdge, DomainGraph, TerrainReader

MOST_DOMAINS = 60
"""Domains in the picture: as many as can be read."""

WIDTH, HEIGHT = 1_200, 860
HEADER, FOOTER, MARGIN = 74, 56, 24
LABEL_LENGTH = 26

_SMALLEST, _LARGEST = 5.0, 24.0
_THINNEST, _THICKEST = 0.8, 5.0
_BEND = 0.12
"""How far a curve leaves the straight line, as a share of its length."""

_KINDS = (
    (HostKind.QUALITY, "quality", "Quality domain"),
    (HostKind.DISCOVERED, "discovered", "Discovered"),
    (HostKind.STUBBED, "stubbed", "Stubbed"),
    (HostKind.BLACKLISTED, "blacklisted", "Blacklisted"),
)

_STYLE = """
.paper { fill: #fbfaf7; stroke: #e4e0d7 }
.title { font: 600 21px system-ui, -apple-system, "Segoe UI", Inter, "DejaVu Sans", sans-serif;
  fill: #26303a }
.note { font: 13px system-ui, -apple-system, "Segoe UI", Inter, "DejaVu Sans", sans-serif;
  fill: #6a7480 }
.label { font: 500 12px system-ui, -apple-system, "Segoe UI", Inter, "DejaVu Sans", sans-serif;
  fill: #3a4550; text-anchor: middle; paint-order: stroke; stroke: #fbfaf7; stroke-width: 3.5px;
  stroke-linejoin: round }
.label.quality { font-weight: 700; fill: #8a4b08 }
.edge { fill: none; stroke: #8796a8; stroke-linecap: round }
.edge.quality { stroke: #dd9a4b }
.arrow { fill: #8796a8 }
.arrow.quality { fill: #dd9a4b }
.dot { stroke: #fbfaf7; stroke-width: 1.5px }
.dot.quality { fill: #e58a1f }
.ring { fill: none; stroke: #e58a1f; stroke-width: 1.6px }
.dot.discovered { fill: #5f8fc0 }
.dot.stubbed { fill: #a58bc7 }
.dot.blacklisted { fill: #b3aaa4 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1b2027; stroke: #323a45 }
  .title { fill: #eceff3 }
  .note { fill: #9aa6b4 }
  .label { fill: #d5dce4; stroke: #1b2027 }
  .label.quality { fill: #ffc27a }
  .edge { stroke: #6f7f92 }
  .edge.quality { stroke: #b9782f }
  .arrow { fill: #6f7f92 }
  .arrow.quality { fill: #b9782f }
  .dot { stroke: #1b2027 }
  .dot.discovered { fill: #6f9fd0 }
  .dot.blacklisted { fill: #756e69 }
}
"""


def render_picture(reader: TerrainReader, policy: Policy, *, most: int = MOST_DOMAINS) -> str:
    """Return the SVG of the domain graph: quality domains, and the best connected others."""
    return draw(reader.domain_graph(policy, most), policy)


def draw(graph: DomainGraph, policy: Policy) -> str:
    """Return the SVG of a graph of domains."""
    kinds = {node.id: policy.host_rules.classify(node.name) for node in graph.nodes}
    busiest = max((node.links for node in graph.nodes), default=0)
    spots = [
        Spot(node, _label(node.name), _between(_SMALLEST, _LARGEST, node.links, busiest))
        for node in graph.nodes
    ]
    edges = drawn_edges(graph)
    place(spots, edges, Box(MARGIN, HEADER, WIDTH - MARGIN, HEIGHT - FOOTER))
    svg = _frame(graph, len(edges))
    by_id = {spot.node.id: spot for spot in spots}
    lines = ET.SubElement(svg, "g")
    heaviest = max((edge.weight for edge in edges), default=1)
    for edge in edges:
        _draw_edge(lines, edge, by_id, heaviest, kinds[edge.source])
    dots = ET.SubElement(svg, "g")
    # Small ones last, so that none hides behind a large one.
    for spot in spots:
        _draw_dot(dots, spot, kinds[spot.node.id])
    names = ET.SubElement(svg, "g")
    for spot in spots:
        at = {"x": _n(spot.x), "y": _n(spot.y + spot.radius + 13)}
        label = ET.SubElement(names, "text", {"class": f"label {kinds[spot.node.id].value}", **at})
        label.text = spot.label
    _legend(svg, [kind for kind, _, _ in _KINDS if kind in set(kinds.values())])
    ET.indent(svg, " ")
    return ET.tostring(svg, encoding="unicode", xml_declaration=False) + "\n"


def _frame(graph: DomainGraph, drawn: int) -> ET.Element:
    """Return the empty picture with its title, its description and its paper."""
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {HEIGHT}",
            "width": str(WIDTH),
            "height": str(HEIGHT),
            "role": "img",
            "aria-labelledby": "title description",
        },
    )
    ET.SubElement(svg, "title", {"id": "title"}).text = "The domains of this terrain"
    shown = f"{_of(len(graph.nodes), graph.all_nodes, 'domain')}, "
    shown += _of(drawn, graph.all_edges, "connection")
    names = ", ".join(_label(node.name) for node in graph.nodes[:5])
    ET.SubElement(
        svg, "desc", {"id": "description"}
    ).text = f"A map of {shown}. Best connected: {names or 'none'}."
    ET.SubElement(svg, "style").text = _STYLE
    paper = {"x": "0.5", "y": "0.5", "width": str(WIDTH - 1), "height": str(HEIGHT - 1), "rx": "12"}
    ET.SubElement(svg, "rect", {"class": "paper", **paper})
    at = {"class": "title", "x": str(MARGIN + 4), "y": "38"}
    ET.SubElement(svg, "text", at).text = "The terrain by domain"
    at = {"class": "note", "x": str(MARGIN + 4), "y": "60"}
    ET.SubElement(svg, "text", at).text = shown
    return svg


def _of(shown: int, known: int, noun: str) -> str:
    return plural(shown, noun) if known <= shown else f"{number(shown)} of {plural(known, noun)}"


def _draw_edge(
    parent: ET.Element,
    edge: DomainEdge,
    spots: dict[int, Spot],
    heaviest: int,
    source_kind: HostKind,
) -> None:
    """Draw a curve with an arrow head; bent to one side, so that both directions can be seen."""
    source, target = spots[edge.source], spots[edge.target]
    share = _between(0.0, 1.0, edge.weight - 1, heaviest - 1)
    width = _THINNEST + (_THICKEST - _THINNEST) * share
    kind = " quality" if source_kind is HostKind.QUALITY else ""
    group = ET.SubElement(parent, "g", {"opacity": f"{0.45 + 0.4 * share:.2f}"})
    words = f"{source.label} to {target.label}: {plural(edge.weight, 'link')}"
    ET.SubElement(group, "title").text = words
    dx, dy = target.x - source.x, target.y - source.y
    bend = ((source.x + target.x) / 2 - dy * _BEND, (source.y + target.y) / 2 + dx * _BEND)
    way = math.hypot(target.x - bend[0], target.y - bend[1]) or 1.0
    ux, uy = (target.x - bend[0]) / way, (target.y - bend[1]) / way
    head = 4.0 + 1.6 * width
    tip = (target.x - ux * (target.radius + 3), target.y - uy * (target.radius + 3))
    # The curve ends inside the head, so that the point stays sharp.
    end = (tip[0] - ux * head * 0.8, tip[1] - uy * head * 0.8)
    curve = f"M{_n(source.x)} {_n(source.y)}Q{_n(bend[0])} {_n(bend[1])} {_n(end[0])} {_n(end[1])}"
    ET.SubElement(group, "path", {"class": f"edge{kind}", "d": curve, "stroke-width": _n(width)})
    half = head * 0.45
    base = (tip[0] - ux * head, tip[1] - uy * head)
    corners = (
        tip,
        (base[0] - uy * half, base[1] + ux * half),
        (base[0] + uy * half, base[1] - ux * half),
    )
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
    ET.SubElement(group, "polygon", {"class": f"arrow{kind}", "points": points})


def _draw_dot(parent: ET.Element, spot: Spot, kind: HostKind) -> None:
    group = ET.SubElement(parent, "g")
    ET.SubElement(
        group, "title"
    ).text = (
        f"{plain(spot.node.name, 260)}: {plural(spot.node.links, 'link')} from and to other domains"
    )
    at = {"cx": _n(spot.x), "cy": _n(spot.y)}
    ET.SubElement(group, "circle", {"class": f"dot {kind.value}", "r": _n(spot.radius), **at})
    if kind is HostKind.QUALITY:
        # Not by colour alone: a ring can be seen by everyone, and in print.
        ET.SubElement(group, "circle", {"class": "ring", "r": _n(spot.radius + 3), **at})


def _legend(svg: ET.Element, kinds: Sequence[HostKind]) -> None:
    x, y = float(MARGIN + 14), float(HEIGHT - 26)
    group = ET.SubElement(svg, "g")
    for kind, name, words in _KINDS:
        if kind not in kinds:
            continue
        at = {"cx": _n(x), "cy": _n(y)}
        ET.SubElement(group, "circle", {"class": f"dot {name}", "r": "7", **at})
        if kind is HostKind.QUALITY:
            ET.SubElement(group, "circle", {"class": "ring", "r": "10", **at})
        ET.SubElement(
            group, "text", {"class": "note", "x": _n(x + 16), "y": _n(y + 4.5)}
        ).text = words
        x += 52 + 7.2 * len(words)
    sizes = "Size: links from and to other domains"
    for radius, step in ((4, 12), (7, 18), (10, 20)):
        at = {"cx": _n(x), "cy": _n(y), "r": str(radius)}
        ET.SubElement(group, "circle", {"class": "dot discovered", **at})
        x += step
    ET.SubElement(group, "text", {"class": "note", "x": _n(x), "y": _n(y + 4.5)}).text = sizes
    x += 40 + 6.6 * len(sizes)
    for place_, width in enumerate((1.0, 2.5, 4.5)):
        start = x + place_ * 18
        line = {"d": f"M{_n(start)} {_n(y)}h12", "stroke-width": str(width), "class": "edge"}
        ET.SubElement(group, "path", line)
    at = {"class": "note", "x": _n(x + 62), "y": _n(y + 4.5)}
    ET.SubElement(group, "text", at).text = "Line: number of links"


def _label(name: str) -> str:
    """Return a domain short enough for a label: both ends say most about it."""
    shown = plain(name, 260)
    if len(shown) <= LABEL_LENGTH:
        return shown
    return shown[: LABEL_LENGTH - 13] + CUT + shown[-12:]


def _between(low: float, high: float, value: float, most: float) -> float:
    """Return where a value lies between two sizes, by its logarithm: links vary by orders."""
    share = math.log1p(value) / math.log1p(most) if most > 0 else 0.0
    return low + (high - low) * share


def _n(value: float) -> str:
    """Return a coordinate in as few characters as the eye needs."""
    return f"{value:.1f}".removesuffix(".0")
