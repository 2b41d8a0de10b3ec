"""Where the boxes of a graph stand: in layers from top to bottom, loops around what they hold.

A layered drawing after Sugiyama, Tagawa and Toda (1981): a box stands below all that it uses, one that uses nothing
right above its first user; boxes of a layer are ordered by the mean place of what they use. It is our own since a plain
checkout, without a network and without further packages, must draw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tilefoundry.viewer.graph import Edge, Graph, Node
from tilefoundry.viewer.svg import LINE, text_width

_GAP_X, _GAP_Y, _PAD = 24.0, 34.0, 10.0
_SWEEPS = 2


@dataclass
class Box:
    """A box at its place. Lengths are pixels, `x` and `y` are those of its upper left corner."""

    node: Node
    x: float
    y: float
    width: float
    height: float


def arrange(graph: Graph) -> dict[int, Box]:
    """A place for every box, also for those inside of loops, by the identity of its node."""
    return _Arranger(graph.edges).block(graph.nodes)[0]


class _Arranger:
    def __init__(self, edges: Iterable[Edge]) -> None:
        self.edges = edges

    def block(self, nodes: list[Node]) -> tuple[dict[int, Box], float, float]:
        """The boxes of one block, from (0, 0) on, and the width and height that they take."""
        boxes: dict[int, Box] = {}
        inner: dict[int, dict[int, Box]] = {}
        home: dict[int, int] = {}  # of every node inside: the node of this block that holds it
        for node in nodes:
            width, height = _extent(node)
            held: dict[int, Box] = {}
            if node.body:
                held, inner_width, inner_height = self.block(node.body)
                width, height = max(width, inner_width + 2 * _PAD), height + inner_height + _PAD
            boxes[id(node)], inner[id(node)] = Box(node, 0, 0, width, height), held
            home |= {key: id(node) for key in (id(node), *held)}
        uses = self._uses(home)
        layers = _ordered(_layers([id(n) for n in nodes], uses), uses)
        total = max((sum(boxes[n].width + _GAP_X for n in layer) - _GAP_X for layer in layers), default=0.0)
        y = 0.0
        for layer in layers:
            x = (total - sum(boxes[n].width + _GAP_X for n in layer) + _GAP_X) / 2
            for key in layer:
                boxes[key].x, boxes[key].y = x, y
                x += boxes[key].width + _GAP_X
            y += max(boxes[n].height for n in layer) + _GAP_Y
        for key, held in inner.items():
            outer = boxes[key]
            for box in held.values():
                box.x += outer.x + _PAD
                box.y += outer.y + _extent(outer.node)[1]
            boxes = boxes | held
        return boxes, total, max(y - _GAP_Y, 0.0)

    def _uses(self, home: dict[int, int]) -> dict[int, list[int]]:
        """For each box of a block, the boxes of that block that it, or what it holds, uses."""
        uses: dict[int, list[int]] = defaultdict(list)
        for edge in self.edges:
            source, target = home.get(id(edge.source)), home.get(id(edge.target))
            if source is not None and target is not None and source != target and source not in uses[target]:
                uses[target].append(source)
        return uses


def _extent(node: Node) -> tuple[float, float]:
    """Width and height of the text of a box."""
    return text_width((node.title, *node.lines)) + 2 * _PAD, LINE * (1 + len(node.lines)) + _PAD


def _layers(keys: list[int], uses: dict[int, list[int]]) -> list[list[int]]:
    users: dict[int, list[int]] = defaultdict(list)
    for key in keys:
        for used in uses[key]:
            users[used].append(key)
    layer: dict[int, int] = {}
    waiting = {key: len(uses[key]) for key in keys}
    ready = [key for key in keys if not waiting[key]]
    while ready:  # topological, in the order of the program
        key = ready.pop(0)
        layer[key] = max((layer[used] + 1 for used in uses[key]), default=0)
        for user in users[key]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    for key in keys:
        if not uses[key] and users[key]:
            layer[key] = min(layer[user] for user in users[key]) - 1
    found: list[list[int]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in keys:
        found[layer[key]].append(key)
    return [row for row in found if row]


def _ordered(layers: list[list[int]], uses: dict[int, list[int]]) -> list[list[int]]:
    for _ in range(_SWEEPS):
        place: dict[int, float] = {}
        for number, layer in enumerate(layers):
            for at, key in enumerate(layer):
                place.setdefault(key, (at + 0.5) / len(layer))
            means = {k: sum(p) / len(p) for k in layer if (p := [place[u] for u in uses[k] if u in place])}
            layers[number] = sorted(layer, key=lambda k: means.get(k, place[k]))
            for at, key in enumerate(layers[number]):
                place[key] = (at + 0.5) / len(layer)
    return layers
