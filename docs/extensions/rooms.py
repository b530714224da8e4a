"""``{rooms}``: a picture of the package's rooms, one storey a line, imports running downwards."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH, HEIGHT, GAP, AISLE = 440, 32, 6, 22  # so narrow that a phone shows it in its own size


class Rooms(SphinxDirective):
    """Storeys as lines of names parted by commas, the highest first."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw the storeys in SVG, which takes its colours from the page."""
        parts, top = [], 0
        for line in self.content:
            names = [name.strip() for name in line.split(",")]
            width = (WIDTH - GAP * (len(names) - 1)) / len(names)
            if top:
                middle = WIDTH / 2
                parts.append(f'<path d="M{middle} {top - AISLE + 4}v{AISLE - 10}l-4 -5m4 5l4 -5"/>')
            for i, name in enumerate(names):
                x, baseline = i * (width + GAP), top + HEIGHT / 2 + 5
                parts.append(
                    f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{HEIGHT}" rx="4"/>'
                    f'<text x="{x + width / 2:.1f}" y="{baseline}">{escape(name)}</text>'
                )
            top += HEIGHT + AISLE
        label = escape("; ".join(self.content))
        svg = (
            f'<svg class="rooms" role="img" aria-label="{label}" '
            f'viewBox="-1 -1 {WIDTH + 2} {top - AISLE + 2}">{"".join(parts)}</svg>'
        )
        return [nodes.raw("", svg, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register this extension."""
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
