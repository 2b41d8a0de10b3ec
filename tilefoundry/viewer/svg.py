"""SVG as text. Everything that comes from a program passes through `escape`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

CHARACTER = 7.3  # width of a character of the font below, in pixels; generous, so that nothing is cut off
LINE = 16  # height of a line of text
FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def text_width(lines: Sequence[str]) -> float:
    """Of the longest line, in pixels."""
    return CHARACTER * max(map(len, lines), default=0)


@dataclass
class Svg:
    """A picture that is drawn piece by piece; later pieces lie above earlier ones. Lengths are pixels."""

    pieces: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def reach(self, x: float, y: float) -> None:
        """Makes the picture large enough for a point."""
        self.width, self.height = max(self.width, x), max(self.height, y)

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        tip: str = "",
        stroke: str = "#888",
        radius: int = 0,
    ) -> None:
        """A rectangle, with what is shown when the pointer rests on it."""
        self.reach(x + width + 1, y + height + 1)
        title = f"<title>{escape(tip)}</title>" if tip else ""
        self.pieces.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" fill="{escape(fill)}" '
            f'stroke="{escape(stroke)}">{title}</rect>'
        )

    def text(
        self, x: float, y: float, content: str, *, anchor: str = "start", bold: bool = False, size: int = 12
    ) -> None:
        """A line of text; `y` is its base line. The pointer reaches what lies below it."""
        self.reach(x + (text_width((content,)) if anchor == "start" else 0), y + 4)
        weight = ' font-weight="bold"' if bold else ""
        self.pieces.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"{weight} pointer-events="none" '
            f'xml:space="preserve">{escape(content)}</text>'
        )

    def arrow(self, x: float, y: float, to_x: float, to_y: float, *, dashed: bool = False) -> None:
        """A curve that leaves downwards and arrives from above."""
        bend = max(12.0, (to_y - y) / 2)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        end = to_y - 6  # where the head begins
        curve = f"M {x:g} {y:g} C {x:g} {y + bend:g} {to_x:g} {end - bend:g} {to_x:g} {end:g}"
        self.pieces.append(
            f'<path d="{curve}" fill="none" stroke="#666"{dash}/>'
            f'<path d="M {to_x - 4:g} {end - 1:g} h 8 l -4 7 z" fill="#666"/>'
        )

    def markup(self, label: str) -> str:
        """The picture as an ``<svg>`` element that stands alone or in HTML.

        Args:
            label: what it shows, for those who do not see it.
        """
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" width="{self.width:g}" '
            f'height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}" style="font:{FONT}">'
            + "".join(self.pieces)
            + "</svg>"
        )
