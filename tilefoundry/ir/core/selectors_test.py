import pytest

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir import specialize_function, tir
from tilefoundry.ir.core import Call, Function, Module, Var
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.core.selectors import function_selectors, select
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import BinaryKind
from tilefoundry.ir.samples import binary
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.ir.verify import verify_module
from tilefoundry.target import CpuTarget

T8 = make_tensor_type((8,), "f32")
N = DimVar("N", 1, 9)
TN = make_tensor_type((N,), "f32")


def function(name, type_=T8, const=False, **kwargs):
    x, w = Var("x", type_), Var("w", type_, const)
    return Function(name, (x, w), binary(BinaryKind.ADD, x, w), type_, **kwargs)


def tree():
    leaf = Module("leaf", (function("run", const=True), function("other")), "run")
    x = Var("x", T8)
    call = Call(ChildEntry("leaf", leaf.functions[0]), (x,))
    kernel = tir.PrimFunction("kernel", (Var("k", T8),), tir.Sequential(()))
    middle = Module("middle", (Function("step", (x,), call, T8), kernel), "step", (leaf,))
    return Module(
        "root", (function("main"),), "main", (middle, leaf.renamed("last")), CpuTarget(), (Topology("cta", 4),)
    )


def test_paths_name_nodes():
    root = tree()
    assert select(root, "") is root
    assert select(root, "middle") is root.child_named("middle")
    leaf = select(root, "middle.leaf")
    assert leaf is root.child_named("middle").child_named("leaf")
    assert leaf.resolve_target() is root.target
    assert leaf.effective_topologies() == root.topologies


def test_paths_name_functions():
    root = tree()
    other = select(root, "middle.leaf.other")
    assert (other.name, other.entry) == ("leaf", "other")
    assert other.resolve_target() is root.target
    assert other.effective_topologies() == root.topologies
    assert root.child_named("middle").child_named("leaf").entry == "run"
    assert select(root, "middle.kernel").entry_function().name == "kernel"
    step = select(root, "middle.step")
    verify_module(step)
    assert step.child_named("leaf").resolve_target() is root.target


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("middle.", WrongValueError, "segment 1 of 'middle.' is empty"),
        (".middle", WrongValueError, "segment 0 of '.middle' is empty"),
        ("middle..leaf", WrongValueError, "segment 1 of"),
        (".", WrongValueError, "segment 0"),
        ("midle", WrongValueError, r"'root' has no child or function 'midle'(.|\n)*it has: middle, last, main"),
        ("main.step", WrongValueError, "'root' has no child 'main'"),
        ("middle.leaf.run.x", WrongValueError, "'leaf' has no child 'run'"),
        (None, WrongTypeError, "expected a dotted path"),
    ],
)
def test_paths_that_name_nothing_are_refused(path, kind, words):
    with pytest.raises(kind, match=words):
        select(tree(), path)


def test_every_function_has_a_path():
    root = tree()
    found = function_selectors(root)
    paths = [path for path, _ in found]
    assert paths == ["main", "middle.step", "middle.leaf.run", "middle.leaf.other", "last.run", "last.other"]
    for path, fn in found:
        assert select(root, path).entry_function() is fn


def test_a_clone_is_another_tree_of_the_same_meaning():
    root = tree()
    copy = root.cloned()
    assert copy is not root
    assert (copy.target, copy.topologies, copy.owner) == (root.target, root.topologies, None)
    assert canonical_module_text(copy) == canonical_module_text(root)
    verify_module(copy)
    for (_, old), (_, new) in zip(function_selectors(root), function_selectors(copy), strict=True):
        assert old is not new
        assert old == new
    assert not copy.owns(root.lookup("main"))
    child = root.child_named("middle").cloned()
    assert child.owner is root
    assert child.resolve_target() is root.target


def test_a_clone_has_variants_and_converters_of_its_own():
    low, high = (function("f", TN, specializations=(DimVarRangePat("N", *r),)) for r in ((1, 5), (5, 9)))
    x, w = low.params
    raw = Var("raw", TN)
    prototype = Function("f", (x, Var("w", TN, True)), None, TN, converters=(("w", Function("_", (raw,), raw, TN)),))
    module = Module("m", (prototype,))
    copy = module.cloned().lookup("f")
    assert copy.converters[0][1] is not prototype.converters[0][1]
    assert copy.converters == prototype.converters
    assert w is low.params[1]
    base = Function("f", tuple(Var(p.name, p.type) for p in low.params), None, TN, variants=(low, high))
    copied = Module("m", (base,)).cloned().lookup("f")
    assert [a is b for a, b in zip(copied.variants, base.variants, strict=True)] == [False, False]
    assert copied.variants == base.variants


def test_ownership_follows_specialisation_when_asked():
    low, high = (function("f", TN, specializations=(DimVarRangePat("N", *r),)) for r in ((1, 5), (5, 9)))
    base = Function("f", tuple(Var(p.name, p.type) for p in low.params), None, TN, variants=(low, high))
    module = Module("m", (base,))
    narrow = specialize_function(base, {"N": DimVar("N", 1, 4)})
    three = specialize_function(narrow, {"N": 3})
    for fn, plain, derived in ((base, True, True), (low, True, True), (narrow, False, True), (three, False, True)):
        assert module.owns(fn) == plain
        assert module.owns(fn, derived=True) == derived
    assert not module.owns(function("f"), derived=True)
    assert not module.cloned().owns(three, derived=True)
