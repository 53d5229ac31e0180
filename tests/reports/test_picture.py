"""The picture of the domain graph: what it shows, and that it can be read."""

import itertools
import random
from xml.etree import ElementTree as ET

import pytest

from terrain.reports.layout import Box, Spot, drawn_edges, place
from terrain.reports.picture import HEIGHT, WIDTH, draw, render_picture
from terrain.store import Policy
from terrain.store.queries import DomainEdge, DomainGraph, DomainNode, TerrainReader
from tests.store.terrains import make_policy

SVG = "{http://www.w3.org/2000/svg}"


def random_graph(nodes: int, edges: int, seed: int = 1) -> DomainGraph:
    dice = random.Random(seed)
    pairs = list(itertools.permutations(range(nodes), 2))
    chosen = dice.sample(pairs, min(edges, len(pairs)))
    found = [DomainEdge(a, b, int(dice.paretovariate(0.7))) for a, b in chosen]
    links = [
        sum(edge.weight for edge in found if number in {edge.source, edge.target})
        for number in range(nodes)
    ]
    return DomainGraph(
        nodes=[
            DomainNode(number, f"{'sub.' * (number % 4)}domain-{number}.org", links[number])
            for number in range(nodes)
        ],
        edges=sorted(found, key=lambda edge: -edge.weight),
        all_nodes=nodes,
        all_edges=len(found),
    )


def policy_for(*quality: str) -> Policy:
    return make_policy(dict.fromkeys(quality, 1), [f"https://{name}/" for name in quality])


def labels(svg: str) -> list[str]:
    texts = ET.fromstring(svg).iter(f"{SVG}text")
    return [str(text.text) for text in texts if "label" in text.attrib["class"]]


class TestContent:
    def test_the_known_terrain(self, reader: TerrainReader, policy: Policy) -> None:
        svg = render_picture(reader, policy)
        root = ET.fromstring(svg)
        assert set(labels(svg)) == {
            "alpha.org", "docs.beta.org", "beta.org", "gamma.com", "s1.gamma.com", "s2.gamma.com",
            "big.com", "slow.com", "far.io", "ads.net", "wiki.net",
        }  # fmt: skip
        quality = [text.text for text in root.iter(f"{SVG}text")
                   if text.attrib["class"] == "label quality"]  # fmt: skip
        assert set(quality) == {"alpha.org", "docs.beta.org", "beta.org"}
        titles = {title.text for title in root.iter(f"{SVG}title")}
        assert "alpha.org to ads.net: 3 links" in titles
        assert "alpha.org: 13 links from and to other domains" in titles
        legend = {text.text for text in root.iter(f"{SVG}text") if text.attrib["class"] == "note"}
        assert {"Quality domain", "Discovered", "Stubbed", "Blacklisted"} < legend
        assert "11 domains, 12 connections" in legend

    def test_quality_has_a_ring_and_not_only_a_colour(
        self, reader: TerrainReader, policy: Policy
    ) -> None:
        circles = [
            c.attrib for c in ET.fromstring(render_picture(reader, policy)).iter(f"{SVG}circle")
        ]
        kinds = [circle["class"] for circle in circles]
        # Three domains and the legend.
        assert kinds.count("dot quality") == kinds.count("ring") == 4

    def test_what_is_left_out_is_said(self, reader: TerrainReader, policy: Policy) -> None:
        svg = render_picture(reader, policy, most=4)
        assert len(labels(svg)) == 4
        # Of the twelve, five run between the four: alpha to docs.beta and ads, docs.beta to ads and
        # to beta, and back.
        assert ">4 of 11 domains, 5 of 12 connections<" in svg

    def test_size_grows_with_links(self, reader: TerrainReader, policy: Policy) -> None:
        root = ET.fromstring(render_picture(reader, policy))
        sizes = {}
        for group in root.iter(f"{SVG}g"):
            title, circle = group.find(f"{SVG}title"), group.find(f"{SVG}circle")
            if title is not None and circle is not None:
                sizes[str(title.text).split(":")[0]] = float(circle.attrib["r"])
        assert sizes["alpha.org"] > sizes["ads.net"] > sizes["wiki.net"] > sizes["far.io"]

    def test_it_can_be_heard(self, reader: TerrainReader, policy: Policy) -> None:
        root = ET.fromstring(render_picture(reader, policy))
        assert root.attrib["role"] == "img"
        named = {str(child.attrib.get("id")): str(child.text) for child in root}
        title, description = (named[name] for name in root.attrib["aria-labelledby"].split())
        assert title == "The domains of this terrain"
        assert "11 domains" in description
        assert "alpha.org" in description

    def test_nothing_at_all(self) -> None:
        svg = draw(DomainGraph([], [], 0, 0), policy_for("a.org"))
        assert labels(svg) == []
        assert "0 domains, 0 connections" in svg

    def test_a_long_name_keeps_both_ends(self) -> None:
        name = "a-very-long-subdomain-of-somebody.example.co.uk"
        graph = DomainGraph([DomainNode(1, name, 0)], [], 1, 0)
        assert labels(draw(graph, policy_for("a.org"))) == ["a-very-long-s…xample.co.uk"]

    def test_the_same_terrain_gives_the_same_picture(self) -> None:
        graph, policy = random_graph(40, 120), policy_for("domain-0.org")
        first = draw(graph, policy)
        random.random()  # whatever the program has drawn from its own dice
        assert draw(graph, policy) == first

    def test_the_programs_dice_are_left_alone(self) -> None:
        random.seed(5)
        expected = [random.random() for _ in range(3)]
        random.seed(5)
        draw(random_graph(20, 40), policy_for("domain-0.org"))
        assert [random.random() for _ in range(3)] == expected


class TestLayout:
    @pytest.mark.parametrize(("nodes", "edges"), [(2, 1), (30, 60), (60, 400), (60, 20), (60, 0)])
    def test_no_label_or_circle_covers_another(self, nodes: int, edges: int) -> None:
        graph = random_graph(nodes, edges, seed=nodes + edges)
        spots = [
            Spot(node, node.name[:26], 5 + 19 * min(1, node.links / 50)) for node in graph.nodes
        ]
        box = Box(24, 74, WIDTH - 24, HEIGHT - 56)
        place(spots, drawn_edges(graph), box)
        for one, other in itertools.combinations(spots, 2):
            apart_x = abs(one.x - other.x) - one.half_width - other.half_width
            upper, lower = sorted((one, other), key=lambda spot: spot.y)
            apart_y = (lower.y - lower.top) - (upper.y + upper.bottom)
            # Within the gap that is kept around each of them, so nothing touches.
            assert max(apart_x, apart_y) > -5, (one, other)
        for spot in spots:
            # Half a pixel for what adding up fractions costs.
            assert box.left - 0.5 <= spot.x - spot.half_width
            assert spot.x + spot.half_width <= box.right + 0.5
            assert box.top - 0.5 <= spot.y - spot.top
            assert spot.y + spot.bottom <= box.bottom + 0.5

    def test_connected_domains_stand_closer(self) -> None:
        # Two groups, each complete, and one link between them.
        groups = [range(8), range(8, 16)]
        edges = [
            DomainEdge(a, b, 5) for group in groups for a, b in itertools.combinations(group, 2)
        ]
        edges.append(DomainEdge(0, 8, 1))
        spots = [Spot(DomainNode(number, "a.org", 1), "a.org", 6.0) for number in range(16)]
        place(spots, edges, Box(0, 0, 1_000, 700))

        def distance(a: int, b: int) -> float:
            return abs(complex(spots[a].x - spots[b].x, spots[a].y - spots[b].y))

        within = [distance(a, b) for group in groups for a, b in itertools.combinations(group, 2)]
        between = [distance(a, b) for a in groups[0] for b in groups[1]]
        assert sum(between) / len(between) > 1.5 * sum(within) / len(within)

    def test_edges_are_thinned_but_no_domain_loses_its_last(self) -> None:
        graph = random_graph(30, 700)
        kept = drawn_edges(graph)
        assert len(kept) < 130
        assert {end for edge in kept for end in (edge.source, edge.target)} == set(range(30))
        heaviest = {edge.weight for edge in graph.edges[:10]}
        assert heaviest <= {edge.weight for edge in kept}
