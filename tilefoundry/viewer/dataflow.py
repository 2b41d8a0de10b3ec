"""The picture of a function: its values as boxes, from the parameters at the top to the result at the bottom."""

from __future__ import annotations

from tilefoundry.ir.core.function import Function
from tilefoundry.viewer.arrange import Box, arrange
from tilefoundry.viewer.graph import graph_of
from tilefoundry.viewer.svg import LINE, Svg

_FILL = {
    "input": "#dcebff",
    "weight": "#e8e0ff",
    "index": "#fff6d6",
    "carried": "#dcebff",
    "op": "#ffffff",
    "loop": "#f6f6f4",
    "yield": "#dff5e1",
    "result": "#dff5e1",
}
_MARGIN = 8.0


def function_svg(fn: Function) -> str:
    """A function of HIR as an ``<svg>`` element.

    A box says the op, its attributes and scalar operands, and the type: shape, dtype, storage, layout. Its whole type
    and its line in the source are shown when the pointer rests on it. A loop is a box around what is computed in it;
    what does not depend on its variables stands outside. Dashed arrows are indices and extents.
    """
    graph = graph_of(fn)
    boxes = arrange(graph)
    picture = Svg()
    loops = [box for box in boxes.values() if box.node.kind == "loop"]
    for box in sorted(loops, key=lambda b: -b.width * b.height):  # outer ones first, so that the inner ones lie on top
        _draw(picture, box)
    for edge in graph.edges:
        source, target = boxes[id(edge.source)], boxes[id(edge.target)]
        x, y = source.x + source.width / 2, source.y + source.height
        to_x, to_y = target.x + target.width / 2, target.y
        picture.arrow(x + _MARGIN, y + _MARGIN, to_x + _MARGIN, to_y + _MARGIN, dashed=edge.dashed)
    for box in boxes.values():
        if box.node.kind != "loop":
            _draw(picture, box)
    picture.reach(picture.width + _MARGIN, picture.height + _MARGIN)
    return picture.markup(f"function {fn.name}")


def _draw(picture: Svg, box: Box) -> None:
    node, x, y = box.node, box.x + _MARGIN, box.y + _MARGIN
    picture.rect(x, y, box.width, box.height, _FILL[node.kind], node.tip, radius=4)
    picture.text(x + 8, y + LINE, node.title, bold=True)
    for number, line in enumerate(node.lines, 2):
        picture.text(x + 8, y + number * LINE, line)
