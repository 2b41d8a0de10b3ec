"""Graphs and pages: what is in them, where boxes stand, and that nothing leaves them."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import html.parser
import itertools
import time

import pytest

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, T, Tensor, Topology, tf
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.samples import attention
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.python import func, module, prim_func
from tilefoundry.viewer import function_svg, page
from tilefoundry.viewer.arrange import Box, arrange
from tilefoundry.viewer.graph import Node, graph_of

N = DimVar("N", 1, 9)


@module(entry="project")
class Projection:
    @func
    def project(x: Tensor[(2, 3), "f32"], w: ConstTensor[(3, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
        return tf.matmul(x, w)

    @project.converter("w")
    def _w(raw_w: Tensor[(4, 3), "f32"]) -> Tensor[(3, 4), "f32"]:
        return tf.transpose(raw_w, perm=(1, 0))


@module(entry="block", topologies=(Topology("thread", 8),))
class Block:
    up = Projection

    @func
    def block(x: Tensor[(2, 3), "f32"], n: Tensor[(), "i64"]) -> Tensor[(2, 4), "f32"]:
        total = up(x)
        once = tf.exp(total)
        for _i in range(0, 3, 1):
            total = total + once
            for _j in range(0, 2, 1):
                total = total * once
        return total

    def forward(self, x):
        return self.block(x)


@module(entry="f")
class Dispatched:
    @func
    def f(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        pass

    @f.specialize(DimVarRangePat("N", 1, 5))
    def small(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x * x

    @f.specialize(DimVarRangePat("N", 5, 9))
    def big(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
        return x + x


@func(topologies=(Topology("thread", 8),))
def placed(x: Tensor[(8, 4), "f32"]) -> Tensor[(8, 4), "f32"]:
    with Mesh(("thread",), (8,), ("t",)) as m:
        held = tf.reshard(x, (8 @ m.t, 4), "rmem")
        return tf.reshard(held, (8, 4), "gmem")


@prim_func
def store(x: Tensor[(4,), "f32"], out: Tensor[(4,), "f32"]):
    T.copy(x, out)


class Reader(html.parser.HTMLParser):
    """What a browser would see; refuses tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def walk(nodes: list[Node]) -> list[Node]:
    return [inner for node in nodes for inner in (node, *walk(node.body))]


def test_a_page_has_functions_children_methods_and_weights() -> None:
    seen = Reader(page(Block))
    for words in ("module Block", "child up", "project", "converter of w", "method", "forward", "weight w", "thread 8"):
        assert words in seen.text
    for type_ in ("Tensor[(2,3), f32, gmem]", "Tensor[(3,4), f32, gmem]", "Tensor[(2,4), f32, gmem]"):
        assert type_ in seen.text
    assert "def block" in seen.text, "the source"


@module
class Layers:
    first = Projection
    second = Projection
    third = Dispatched


def test_copies_of_a_child_are_shown_once() -> None:
    seen = Reader(page(Layers))
    assert "child second" in seen.text and seen.text.count("the same as child first") == 1
    assert seen.text.count("converter of w") == 1 and "child third" in seen.text and "variant for" in seen.text


def test_variants_and_prototypes() -> None:
    seen = Reader(page(Dispatched))
    assert seen.text.count("variant for") == 2 and seen.tags.count("svg") == 3


def test_kernels_are_text() -> None:
    seen = Reader(page(store))
    assert "@prim_func" in seen.text and "T.copy(x, out)" in seen.text and "svg" not in seen.tags


def test_layouts_of_values_are_shown_once_each() -> None:
    seen = Reader(page(placed))
    assert "layout of held" in seen.text and "unit 7" in seen.text
    assert sum(tag == "details" for tag in seen.tags) == 2, "one layout, and the source"


def test_a_symbolic_layout_says_why_it_has_no_picture() -> None:
    assert "no picture, the tensor has the symbolic extent" in page(symbolic)


@func(topologies=(Topology("thread", 8),))
def symbolic(x: Tensor[(8, N), "f32"]) -> Tensor[(8, N), "f32"]:
    with Mesh(("thread",), (8,), ("t",)) as m:
        held = tf.reshard(x, (8 @ m.t, N), "gmem")
        return tf.reshard(held, (8, N), "gmem")


@pytest.mark.parametrize("root", [Block, Dispatched, placed, store, attention(), attention().entry_function()])
def test_nothing_is_asked_for(root) -> None:
    seen = Reader(page(root))
    assert not {"script", "link", "img", "iframe", "object", "embed", "use", "image"} & set(seen.tags)
    for name, value in seen.attributes:
        assert name not in ("src", "href", "action", "xlink:href") and not name.startswith("on")
        assert "url(" not in (value or "") and ("//" not in (value or "") or name == "xmlns")
    assert "@import" not in page(root)


def test_what_comes_from_the_program_is_escaped() -> None:
    evil = "</pre><script>alert('1')</script>&amp;\""
    x = Var(evil, Block.entry_function().params[0].type)
    hostile = Module(evil, (Function(evil, (x,), x, x.type),), evil)
    seen = Reader(page(hostile))
    assert "script" not in seen.tags and seen.text.count(evil) >= 4
    assert "script" not in Reader(page(Function("f", (x,), x, x.type))).tags


def test_boxes_of_a_function() -> None:
    graph = graph_of(Block.entry_function())
    assert [n.title for n in graph.nodes] == [
        "x",
        "n",
        "total = child up",
        "once = unary exp",
        "for _i in range(0, 3, 1)",
        "return of block",
    ]
    loop = graph.nodes[4]
    assert [n.kind for n in loop.body] == ["index", "carried", "op", "loop", "yield"]
    assert [n.title for n in loop.body[3].body] == ["_j", "total", "total = binary mul", "next total"]


def test_edges_of_a_function() -> None:
    graph = graph_of(Block.entry_function())
    nodes = walk(graph.nodes)
    once = next(n for n in nodes if n.title == "once = unary exp")
    users = [e.target.title for e in graph.edges if e.source is once]
    assert users == ["total = binary add", "total = binary mul"]
    outer = next(n for n in nodes if n.title.startswith("for _i"))
    assert [e.target.title for e in graph.edges if e.source is outer] == ["return of block"]
    for node in nodes:
        if node.kind in ("op", "yield", "result"):
            assert any(e.target is node for e in graph.edges), node.title


def test_every_call_and_type_has_a_box() -> None:
    from tilefoundry.ir.core.op import Op
    from tilefoundry.ir.dims.ops import DimOp
    from tilefoundry.ir.traverse import post_order

    fn = attention().entry_function()
    seen = Reader(function_svg(fn))
    calls = [e for e in post_order(fn.body) if isinstance(e, Call) and not isinstance(e.target, DimOp)]
    boxes = [n for n in walk(graph_of(fn).nodes) if n.kind == "op"]
    assert len(boxes) == len(calls) > 20
    for call in calls:
        assert isinstance(call.target, Op)
        assert call.target.op_name in seen.text and str(call.type) in seen.text


def overlap(a: Box, b: Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


@pytest.mark.parametrize("fn", [Block.entry_function(), attention().entry_function(), placed.entry_function()])
def test_boxes_do_not_overlap_and_stand_below_what_they_use(fn) -> None:
    graph = graph_of(fn)
    boxes = arrange(graph)

    def block(nodes: list[Node], around: Box | None) -> None:
        mine = [boxes[id(n)] for n in nodes]
        for a, b in itertools.combinations(mine, 2):
            assert not overlap(a, b), (a.node.title, b.node.title)
        for box in mine:
            if around is not None:
                assert around.x <= box.x and box.x + box.width <= around.x + around.width
                assert around.y < box.y and box.y + box.height <= around.y + around.height
            block(box.node.body, box)

    block(graph.nodes, None)
    assert set(boxes) == {id(n) for n in walk(graph.nodes)}
    for edge in graph.edges:
        source, target = boxes[id(edge.source)], boxes[id(edge.target)]
        assert source.y < target.y, (edge.source.title, edge.target.title)


def test_a_long_function_takes_no_time() -> None:
    x = Var("x", Projection.entry_function().params[0].type)
    value = x
    from tilefoundry.ir.hir import Unary, UnaryKind

    for _ in range(3000):
        op = Unary(UnaryKind.EXP)
        value = Call(op, (value,), x.type)
    began = time.perf_counter()
    svg = function_svg(Function("long", (x,), value, x.type))
    assert svg.count("<rect") == 3002 and time.perf_counter() - began < 20


@pytest.mark.parametrize("root", [3, "Block", None, lambda x: x])
def test_other_things_are_refused(root) -> None:
    with pytest.raises(WrongTypeError, match="expected a Module, a function, a layout, a mesh or a TensorType"):
        page(root)
    assert isinstance(store, PrimFunction)
