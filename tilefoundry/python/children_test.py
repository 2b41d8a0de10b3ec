"""Child modules in the body of a class, and calls of their entries."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import TileFoundryError, VerifyError, WrongValueError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir import MatMul
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.ir.verify import verify_module
from tilefoundry.python.testing import check_refusal, load_program

CHILDREN = """\
@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(1, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return tf.matmul(x, w)
@module(entry="run")
class Twice:
    @func
    def run(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return x + x
R = DimVar("R", 1, 9)
@module(entry="run")
class Sized:
    @func
    def run(x: Tensor[(R, 8), "f32"], w: ConstTensor[(1, 8), "f32"]) -> Tensor[(R, 8), "f32"]:
        return x * w
@module(entry="run")
class Wide:
    @func
    def run(x: Tensor[(1, 8), "f32"], w: ConstTensor[(8, R), "f32"]) -> Tensor[(1, R), "f32"]:
        return x @ w
@module()
class Bare:
    @func
    def run(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return x
"""


def block(value: str, *members: str) -> str:
    """A module with these members whose entry returns `value`."""
    lines = [
        *members,
        "@func",
        "def block(x: Tensor[(1, 8), 'f32'], y: Tensor[(1, 4), 'f32']) -> Tensor[(1, 8), 'f32']:",
        f"    return {value}",
    ]
    head = '@module(entry="block", target=CudaTarget("nvidia.h200_sxm"))\nclass Block:'
    return "\n".join([CHILDREN + head, *(f"    {line}" for line in lines)])


def build(text: str) -> tuple[Module, Function]:
    """The module of a program and its entry."""
    found = load_program(text)["Block"]
    assert isinstance(found, Module)
    entry = found.entry_function()
    assert isinstance(entry, Function)
    return found, entry


def test_a_call_of_a_child_supplies_activations_only() -> None:
    module, entry = build(block("proj(x)", "proj = Proj"))
    call = entry.body
    assert isinstance(call, Call)
    assert isinstance(call.target, ChildEntry)
    assert call.target.child == "proj"
    assert call.args == (entry.params[0],)
    assert call.type == make_tensor_type((1, 8), "f32")
    child = module.child_named("proj")
    assert child is not None
    assert call.target.function is child.entry_function()
    assert child.resolve_target() is module.target
    assert list(module.weights) == []
    assert list(child.weights) == ["w"]


def test_a_childs_extents_are_those_of_the_activations() -> None:
    _, entry = build(block("sized(sized(x))", "sized = Sized"))
    assert entry.body is not None
    assert entry.body.type == make_tensor_type((1, 8), "f32")


def test_a_child_without_weights_is_elaborated() -> None:
    _, entry = build(block("twice(x=x)", "twice = Twice"))
    assert isinstance(entry.body, Call)
    assert not isinstance(entry.body.target, ChildEntry)


def test_children_may_stand_in_tuples_and_lists() -> None:
    members = ('layers = (Proj.renamed("l0"), Proj.renamed("l1"))', 'more = [Proj.renamed("m")]')
    module, entry = build(block("more[0](layers[1](layers[0](x)))", *members))
    assert [m.name for m in module.modules] == ["l0", "l1", "m"]
    names = []
    node: object = entry.body
    while isinstance(node, Call) and isinstance(node.target, ChildEntry):
        names.append(node.target.child)
        node = node.args[0]
    assert names == ["m", "l1", "l0"]


def test_a_child_that_calls_its_own_children_keeps_them_apart() -> None:
    text = (
        CHILDREN
        + """\
@module(entry="run")
class Middle:
    proj = Proj
    @func
    def run(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return proj(x)
@module(entry="block")
class Block:
    middle = Middle
    @func
    def block(x: Tensor[(1, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return middle(x)
"""
    )
    _, entry = build(text)
    assert isinstance(entry.body, Call)
    assert isinstance(entry.body.target, ChildEntry)
    assert entry.body.target.child == "middle"


def test_a_module_keeps_its_name_and_its_functions_as_a_child() -> None:
    scope = load_program(block("proj(x)", "proj = Proj"))
    authored = scope["Proj"]
    assert isinstance(authored, Module)
    assert authored.name == "Proj"
    assert authored.owner is None


def test_the_text_tells_which_child_is_called() -> None:
    members = ("a = Proj", "b = Proj")
    texts = {canonical_module_text(build(block(value, *members))[0]) for value in ("a(x)", "b(x)", "a(b(x))", "x")}
    assert len(texts) == 4
    assert canonical_module_text(build(block("a(x)", *members))[0]) in texts


def test_a_function_that_a_call_reaches_in_another_module_is_refused() -> None:
    _, entry = build(block("proj(x)", "proj = Proj"))
    from tilefoundry.ir.verify import verify_module

    with pytest.raises(VerifyError, match="module 'm' has no child 'proj' with this entry"):
        verify_module(Module("m", (entry,), "block"))


def test_a_member_function_may_take_a_weight_as_an_argument() -> None:
    text = CHILDREN.replace("Proj", "Block").replace('entry="run"', 'entry="top"', 1) + "# end"
    top = """\
    @func
    def top(x: Tensor[(1, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        return run(run(x, w), w)
"""
    _, entry = build(text.replace('@module(entry="run")', top + '@module(entry="run")', 1))
    assert isinstance(entry.body, Call)
    assert isinstance(entry.body.target, MatMul)


# name: (program, words)
REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "weight given": (
        block("§proj(x, x)", "proj = Proj"),
        ("'proj' takes 1 argument(s) (x), got 2",),
    ),
    "weight given by name": (block("proj(x, w=§x)", "proj = Proj"), ("'proj' has no further parameter 'w'", "x")),
    "no activation": (block("§proj()", "proj = Proj"), ("'proj' takes 1 argument(s) (x), got 0",)),
    "another shape": (
        block("§proj(y)", "proj = Proj"),
        ("child 'proj': parameter 'x' is Tensor[(1,8), f32, gmem]", "type mismatch"),
    ),
    "a number": (block("proj(§2.0)", "proj = Proj"), ("argument 'x' of 'proj': expected a tensor, got 2.0",)),
    "no child": (block("§Proj(x)"), ("'Proj' is no child of this module", "class body")),
    "the authored module": (block("§Proj(x)", "proj = Proj"), ("'Proj' is no child of this module",)),
    "no entry": (block("§bare(x)", "bare = Bare"), ("'bare' has no entry",)),
    "beyond the tuple": (block("§layers[1](x)", "layers = (Proj,)"), ("subscript 1 does not fit a tuple of 1",)),
    "a wider extent": (
        block("x", "sized = Sized").replace(
            "def block(",
            "def g(x: Tensor[(N, 8), 'f32']) -> Tensor[(N, 8), 'f32']:\n"
            "        return §sized(x)\n    @func\n    def block(",
        ),
        ("child 'sized': extent N in [1, 1048576) does not fit R in [1, 9)", "narrow the caller's"),
    ),
    "an extent of weights only": (
        block("§wide(x)", "wide = Wide"),
        ("child 'wide': no activation tells the extent R of its result", "static"),
    ),
    "in a converter": (
        block("x", "proj = Proj")
        + "\n    @func"
        + "\n    def g(x: Tensor[(1, 8), 'f32'], w: ConstTensor[(1, 8), 'f32']) -> Tensor[(1, 8), 'f32']:"
        + "\n        return x + w"
        + '\n    @g.converter("w")'
        + "\n    def _w(raw: Tensor[(1, 8), 'f32']) -> Tensor[(1, 8), 'f32']:"
        + "\n        return §proj(raw)",
        ("the converter '_w' calls child 'proj'", "raw tensors alone"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_words(name: str) -> None:
    text, words = REFUSED[name]
    check_refusal(text, words)


def test_children_of_one_name_are_refused() -> None:
    for members in (("layers = (Proj, Proj)",), ('a = (Proj.renamed("b"),)', "b = Proj")):
        with pytest.raises(WrongValueError, match=r"two children are named(.|\n)*renamed") as caught:
            load_program(block("x", *members))
        assert isinstance(caught.value, TileFoundryError)


PLACED_CHILD = """\
THREAD = Topology("thread", {threads})
@module(entry="f")
class Placed:
    @func
    def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
        with Mesh((THREAD,), (32,), ("t",)) as t:
            return tf.reshard(tf.reshard(x, (8, 32 @ t.t, 2), "rmem"), (8, 64), "gmem")
"""
ITS_OWNER = """\
@module(topologies=(Topology("thread", 32),))
class Owner:
    placed = Placed
"""


def test_a_child_is_placed_on_the_levels_of_its_owner() -> None:
    owner = load_program(PLACED_CHILD.format(threads=32) + ITS_OWNER)["Owner"]
    assert isinstance(owner, Module)
    child = owner.child_named("placed")
    assert child is not None and child.topologies is None
    assert [t.name for t in child.effective_topologies()] == ["thread"]


def test_a_module_that_nobody_owns_has_no_levels_when_it_is_complete() -> None:
    alone = load_program(PLACED_CHILD.format(threads=32))["Placed"]
    assert isinstance(alone, Module)
    with pytest.raises(VerifyError, match="topology 'thread' of size 32 not declared"):
        verify_module(alone)


def test_levels_that_are_not_the_owners_are_refused() -> None:
    text = PLACED_CHILD.format(threads=64).replace("(32,)", "(64,)").replace("32 @ t.t, 2", "64 @ t.t")
    with pytest.raises(VerifyError, match="topology 'thread' of size 64 not declared"):
        load_program(text + ITS_OWNER)
