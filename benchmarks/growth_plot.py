"""The cost of a page over the size of the terrain, as a picture."""

import math
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 45, 30, 50
ABOVE, BELOW = -8, 18
COLOURS = ("#1f6f8b", "#c05621")


def growth_plot(sizes: Sequence[int], curves: Mapping[str, Sequence[float]]) -> str:
    """Draw CPU microseconds per page over pages stored, which are on a logarithmic scale."""
    most = max(value for curve in curves.values() for value in curve)
    top = math.ceil(most / 200) * 200

    def x(size: int) -> float:
        low, high = math.log10(sizes[0]), math.log10(sizes[-1])
        return LEFT + (math.log10(size) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)

    def beside(place: int, value: float) -> float:
        """Put a figure on the side of its curve where the other curve is not."""
        return y(value) + (ABOVE if value >= max(c[place] for c in curves.values()) else BELOW)

    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    parts = [
        start + 'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    parts += [
        (
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.0f}" y2="{y(value):.0f}" '
            f'stroke="#ddd"/><text x="{LEFT - 8}" y="{y(value) + 4:.0f}" '
            f'text-anchor="end">{value}</text>'
        )
        for value in range(0, top + 1, 200)
    ]
    parts += [
        (f'<text x="{x(size):.0f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size:,}</text>')
        for size in sizes
    ]
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        points = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in zip(sizes, curve, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [
            (
                f'<circle cx="{x(s):.1f}" cy="{y(v):.1f}" r="3" fill="{colour}"/>'
                f'<text x="{x(s):.0f}" y="{beside(place, v):.0f}" '
                # The first stands clear of the axis.
                f'text-anchor="{"middle" if place else "start"}" '
                f'fill="{colour}">{v:.0f}</text>'
            )
            for place, (s, v) in enumerate(zip(sizes, curve, strict=True))
        ]
        number = list(curves).index(name)
        parts.append(
            f'<text x="{LEFT + 10}" y="{TOP + 4 + 16 * number}" fill="{colour}">{name}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        "pages stored</text>"
        f'<text transform="translate(16 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">'
        "CPU µs per page recorded</text></svg>"
    )
    return "\n".join(parts) + "\n"
