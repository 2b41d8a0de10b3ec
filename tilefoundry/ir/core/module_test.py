import dataclasses
import re

import pytest

from tilefoundry.diagnostics import TileFoundryError, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Call, Function, Module, Var, execution, set_executor_loader
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import BinaryKind, GridRegionExpr, Zeros
from tilefoundry.ir.samples import B, attention, binary, call
from tilefoundry.ir.shard import Broadcast, Layout, Mesh, Split, Topology, canonical_shard_layout, make_mesh
from tilefoundry.ir.types import CallableType, make_shard_tensor_type, make_tensor_type
from tilefoundry.target import CpuTarget, CudaTarget

T8 = make_tensor_type((8,), "f32")


def function(name, *params, const=()):
    variables = tuple(Var(p, T8, is_const=p in const) for p in params)
    return Function(name, variables, binary(BinaryKind.ADD, variables[0], variables[-1]), T8)


@pytest.fixture
def recorder():
    calls = []

    class Recorder:
        def run(self, module, fn, args):
            calls.append((module.name, fn.name, args))
            return "value"

    saved = list(execution._loaders)
    set_executor_loader(Recorder)
    yield calls
    execution._loaders[:] = saved
    execution._executors.clear()


def test_context_is_found_through_owners():
    leaf = Module("leaf", (function("f", "x"),))
    none = Module("none", (), topologies=())
    root = Module("root", (), modules=(leaf, none), target=CpuTarget(), topologies=(Topology("cta", 4),))
    child = root.child_named("leaf")
    assert child.resolve_target() is root.target
    assert child.effective_topologies() == (Topology("cta", 4),)
    assert root.child_named("none").effective_topologies() == ()
    assert child.resolve_topology("cta").size == 4
    with pytest.raises(ValueError, match=r"'warp' not declared(.|\n)*available levels: cta"):
        child.resolve_topology("warp")
    # the authored module keeps its own context
    assert leaf.owner is None
    with pytest.raises(ValueError, match="declares no target"):
        leaf.resolve_target()


def test_a_grandchild_sees_the_new_root():
    leaf = Module("leaf", ())
    middle = Module("middle", (), modules=(leaf,))
    root = Module("root", (), modules=(middle,), target=CudaTarget())
    assert root.child_named("middle").child_named("leaf").resolve_target() == CudaTarget()


def test_only_a_name_and_functions_must_be_given():
    bare = Module("m", ())
    assert (bare.functions, bare.entry, bare.modules, bare.target, bare.topologies) == ((), None, (), None, None)
    assert (dict(bare.metadata), dict(bare.methods), bare.owner) == ({}, {}, None)
    assert bare.effective_topologies() == ()
    assert bare.function_named("f") == ()
    assert bare.weights == {}


def test_a_claimed_child_is_a_shallow_copy_and_the_first_owner_keeps_its_own():
    leaf = Module("leaf", (function("f", "x"),), "f")
    first = Module("first", (), modules=(leaf,), target=CudaTarget(), topologies=(Topology("cta", 4),))
    mine = first.child_named("leaf")
    second = Module("second", (), modules=(mine,), target=CpuTarget(), topologies=(Topology("cta", 8),))
    theirs = second.child_named("leaf")
    assert (leaf.owner, mine.owner, theirs.owner) == (None, first, second)
    assert theirs is not mine
    assert theirs.functions[0] is mine.functions[0] is leaf.functions[0]  # shallow
    assert first.child_named("leaf") is mine
    assert mine.resolve_target() is first.target
    assert theirs.resolve_target() is second.target
    assert (mine.resolve_topology("cta").size, theirs.resolve_topology("cta").size) == (4, 8)


def test_a_tuple_of_topologies_replaces_the_whole_hierarchy():
    leaf = Module("leaf", (), topologies=(Topology("thread", 32),))
    root = Module("root", (), modules=(leaf,), topologies=(Topology("cta", 4), Topology("thread", 128)))
    child = root.child_named("leaf")
    assert child.effective_topologies() == (Topology("thread", 32),)
    with pytest.raises(ValueError, match=r"'cta' not declared by module 'leaf'(.|\n)*available levels: thread"):
        child.resolve_topology("cta")


def test_what_a_module_holds_takes_no_further_parts():
    module = Module("m", (function("f", "x", "w", const=("w",)),), "f")
    for part in ("specialize", "converter"):
        refused = re.escape(__file__) + r":\d+:13: function 'f' is sealed and takes no further(.|\n)* \^+\n.*class body"
        with pytest.raises(TypeError, match=refused):
            getattr(module.lookup("f"), part)("w")


def test_a_renamed_module_keeps_all_but_its_name():
    root = Module("root", (), modules=(Module("leaf", (function("f", "x"),), "f"),), target=CpuTarget())
    child = root.child_named("leaf").renamed("other")
    assert (child.name, child.entry, child.owner) == ("other", "f", root)
    assert child.resolve_target() is root.target


def test_a_kernel_in_tir_is_a_function_that_only_a_compiled_module_runs():
    kernel = tir.PrimFunction("k", (Var("x", T8),), tir.Sequential(()))
    module = Module("m", (kernel,), "k")
    assert module.entry_function() is module.lookup("k") is kernel
    assert module.owns(kernel)
    assert module.weights == {}
    with pytest.raises(TypeError, match=r"'k' of module 'm' is a kernel in TIR(.|\n)*compile"):
        module.k(1)
    with pytest.raises(TypeError, match="kernel in TIR"):
        module(1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Module("m", (function("f", "x"), function("f", "x"))), "names must be disjoint; f repeat"),
        (lambda: Module("m", (function("c", "x"),), modules=(Module("c", ()),)), "names must be disjoint; c repeat"),
        (lambda: Module("m", (), modules=(Module("c", ()), Module("c", ()))), "names must be disjoint; c repeat"),
        (lambda: Module("m", (), modules=(Module("c", ()),), methods={"c": print}), "names must be disjoint"),
        (lambda: Module("m", (), modules=("c",)), "modules must be Modules"),
        (lambda: Module("m", (function("f", "x"),), methods={"f": print}), "disjoint"),
        (lambda: Module("m", (), topologies=(Topology("cta", 1), Topology("cta", 2))), "duplicate topology name"),
        (lambda: Module("m", (), modules=(Module("c", (), target=CpuTarget()),)), "its own target"),
        (lambda: Module("m", (), target="cuda"), "must be a Target"),
        (lambda: Module("m", (), topologies=[Topology("cta", 1)]), "tuple of Topology"),
        (lambda: Module("", ()), "non-empty"),
        (lambda: Module("m", (3,)), "functions must be"),
    ],
)
def test_malformed_modules_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_entry_and_lookup():
    module = Module("m", (function("f", "x"), function("g", "x")), entry="g")
    assert module.entry_function() is module.lookup("g")
    assert module.function_named("h") == ()
    with pytest.raises(ValueError, match=r"no function 'h'(.|\n)*f, g"):
        module.lookup("h")
    with pytest.raises(ValueError, match=r"no function 'h'(.|\n)*f, g"):
        Module("m", module.functions, entry="h").entry_function()
    with pytest.raises(ValueError, match=r"no entry(.|\n)*lookup\(name\); functions: f"):
        Module("m", (function("f", "x"),)).entry_function()
    assert module.owns(module.functions[0])
    assert not module.owns(function("f", "x"))


def test_weights_are_in_order_and_of_one_type():
    module = Module("m", (function("f", "x", "w2", const=("w2",)), function("g", "x", "w1", "w2", const=("w1", "w2"))))
    assert list(module.weights) == ["w2", "w1"]
    other = Function("h", (Var("w2", make_tensor_type((4,), "f32"), True),), None, T8)
    with pytest.raises(ValueError, match="'w2' is declared as"):
        _ = Module("m", (*module.functions, other)).weights


def test_attributes_run_functions_reach_children_and_bind_methods(recorder):
    child = Module("child", (function("h", "x"),), entry="h")
    module = Module(
        "m",
        (function("f", "x", "w", const=("w",)),),
        modules=(child,),
        methods={"twice": lambda self, x: (self.name, x)},
    )
    assert module.f(1, 2) == "value"
    assert module.child(5) == "value"
    assert module.twice(3) == ("m", 3)
    assert recorder == [("m", "f", (1, 2)), ("child", "h", (5,))]
    with pytest.raises(TypeError, match=r"every declared parameter \(x, w\)(.|\n)*load\(resource\)"):
        module.f(1)
    with pytest.raises(AttributeError, match=r"no function, child or method 'g'(.|\n)*f, child, twice"):
        module.g  # noqa: B018
    with pytest.raises(AttributeError):
        module._hidden  # noqa: B018
    with pytest.raises(TypeError, match=r"no forward method and no entry(.|\n)*call one of: f, twice"):
        module(1)


def test_forward_wins_over_the_entry(recorder):
    module = Module("m", (function("f", "x"),), entry="f", methods={"forward": lambda self, x: ("own", x)})
    assert module(1) == ("own", 1)


def test_running_without_an_executor_says_what_to_import():
    saved = list(execution._loaders), list(execution._executors)
    execution._loaders.clear()
    execution._executors.clear()
    try:
        with pytest.raises(TileFoundryError, match="import tilefoundry"):
            Module("m", (function("f", "x"),)).f(1)
    finally:
        execution._loaders[:], execution._executors[:] = saved


def test_modules_and_functions_are_frozen():
    module = attention()
    with pytest.raises(dataclasses.FrozenInstanceError):
        module.entry = None
    with pytest.raises(TypeError):
        module.methods["x"] = print
    assert module.renamed("Other").functions == module.functions


def test_the_type_of_a_function_and_of_its_calls():
    n, out = DimVar("n", 1, 9), make_tensor_type((DimVar("n", 1, 9) * 2,), "f32")
    x = Var("x", make_tensor_type((n,), "f32"))
    double = Function("double", (x,), call(Zeros(out)), out)
    assert double.type == CallableType(out, (x.type,))
    assert Call(double, (Var("y", make_tensor_type((4,), "f32")),)).type.shape == (8,)
    inside = DimVar("inside", 2, 9)
    assert (
        Call(double, (Var("y", make_tensor_type((inside,), "f32")),)).type.shape
        == make_tensor_type((inside * 2,)).shape
    )
    for outside in (B, inside + 1, inside - 2):
        with pytest.raises(VerifyError, match=r"does not fit n in \[1, 9\)"):
            Call(double, (Var("y", make_tensor_type((outside,), "f32")),))
    for bad in (make_tensor_type((4, 4)), make_tensor_type((4,), "bf16"), make_tensor_type((9,), "f32")):
        with pytest.raises(VerifyError, match="type mismatch"):
            Call(double, (Var("y", bad),))
    with pytest.raises(VerifyError, match=r"expected 1 argument\(s\) \(x\), got 0"):
        Call(double, ())


def test_a_function_is_normal_a_prototype_or_a_variant():
    x = Var("x", T8)
    normal = Function("f", (x,), x, T8)
    assert (normal.specializations, normal.variants, normal.converters, normal.is_prototype) == ((), (), (), False)
    assert Function("f", (x,), None, T8).is_prototype
    assert normal.type == CallableType(T8, (T8,))
    with pytest.raises(dataclasses.FrozenInstanceError):
        normal.body = None
    for fields, words in (
        (("", (x,), x, T8), "non-empty"),
        (("f", [x], x, T8), "tuple of Var"),
        (("f", (T8,), x, T8), "tuple of Var"),
        (("f", (x,), x, "f32"), "return_type must be a Type"),
    ):
        with pytest.raises(TypeError, match=words):
            Function(*fields)


def test_a_formal_with_a_layout_must_be_met_exactly():
    mesh = make_mesh((4,), topology="thread")
    placed = make_shard_tensor_type((8,), "f32", "rmem", mesh, (Split(0),))
    x = Var("x", placed)
    fixed, free = Function("fixed", (x,), x, placed), function("free", "x")
    assert Call(fixed, (Var("y", placed),)).type == placed
    assert Call(free, (Var("y", placed),)).type == T8
    other = make_shard_tensor_type((8,), "f32", "rmem", mesh, (Broadcast(),))
    for actual in (T8, other, make_tensor_type((8,), "f32", "rmem")):
        with pytest.raises(VerifyError, match=r"fixed: parameter 'x' is .*\(type mismatch\)"):
            Call(fixed, (Var("y", actual),))
    for actual in (make_tensor_type((8,), "bf16"), make_tensor_type((9,), "f32"), make_tensor_type((8, 1), "f32")):
        with pytest.raises(VerifyError, match="type mismatch"):
            Call(free, (Var("y", actual),))


def test_the_body_must_have_the_declared_type():
    x = Var("x", T8)
    with pytest.raises(VerifyError, match="declared to return"):
        Function("f", (x,), x, make_tensor_type((8,), "bf16"))
    with pytest.raises(ValueError, match="declared twice"):
        Function("f", (x, Var("x", T8)), x, T8)


def test_one_name_is_one_dim_var_in_a_signature():
    narrow, wide = DimVar("n", 1, 9), DimVar("n", 1, 10)
    x, y = Var("x", make_tensor_type((narrow,), "f32")), Var("y", make_tensor_type((wide * 2,), "f32"))
    words = r"inconsistent bounds of 'n' in one signature: \[1, 9\) and \[1, 10\)(.|\n)*one DimVar object"
    with pytest.raises(VerifyError, match=words):
        Function("f", (x, y), x, x.type)
    with pytest.raises(VerifyError, match=words):
        Function("f", (x,), None, y.type)
    mesh = Mesh((Topology("cta", wide),), Layout((wide,)), ("c",))
    over = make_tensor_type((wide,), "f32", layout=canonical_shard_layout((wide,), mesh, (Split(0),)))
    with pytest.raises(VerifyError, match=words):
        Function("f", (x, Var("z", over)), x, x.type)
    Function("f", (x, Var("y", make_tensor_type((DimVar("m", 1, 10), narrow)))), x, x.type)


def test_a_loop_checks_its_carries():
    from tilefoundry.ir.dims import INDEX_TYPE

    i, x = Var("i", INDEX_TYPE), Var("acc", T8)
    init = call(Zeros(T8))
    wider = call(Zeros(make_tensor_type((8,), "f64")))
    with pytest.raises(VerifyError, match="'acc' is carried as .* but becomes"):
        GridRegionExpr(i, (x,), (init,), None, (wider,), 4)
    with pytest.raises(VerifyError, match="'acc' is carried as .* but starts as"):
        GridRegionExpr(i, (x,), (wider,), None, (x,), 4)
    with pytest.raises(VerifyError, match="step must be at least 1"):
        GridRegionExpr(i, (x,), (init,), None, (x,), 4, 0)
    assert GridRegionExpr(i, (), (), init, (), 4).type == T8
