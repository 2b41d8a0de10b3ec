import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir import tir
from tilefoundry.ir.core import (
    BindingMetadata,
    Call,
    Constant,
    DimVarRangePat,
    ExecutionDomainMetadata,
    Function,
    Module,
    SourceSpanMetadata,
    Var,
    replace_metadata,
)
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import BinaryKind, FullLike, GridRegionExpr, Reduce, Reshard, Unary, UnaryKind
from tilefoundry.ir.samples import CTA, CTAS, THREAD, THREADS, W, attention, binary, call, number
from tilefoundry.ir.shard import Layout, Mesh, Placed, Topology, layout_from_sugar
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.text.values import ValuePrinter
from tilefoundry.ir.types import TensorType, make_tensor_type
from tilefoundry.target import CpuTarget

T = make_tensor_type((8, 8), "f32")
ROOT = Path(__file__).resolve().parents[3]


def module(build, params=("x",), t=T, const=False, **kwargs):
    variables = tuple(Var(p, t, const) for p in params)
    body = build(*variables)
    return Module("m", (Function("f", variables, body, body.type),), "f", **kwargs)


def exp(x):
    return call(Unary(UnaryKind.EXP), x)


def test_text_is_equal_for_programs_built_twice():
    assert canonical_module_text(attention()) == canonical_module_text(attention())


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_text_is_equal_in_other_processes(seed):
    program = (
        "from tilefoundry.ir.samples import attention\n"
        "from tilefoundry.ir.text import canonical_module_text\n"
        f"other = [attention(32) for _ in range({int(seed) % 3})]\n"  # what was built before must not matter
        "print(canonical_module_text(attention()), end='')"
    )
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == canonical_module_text(attention())


def test_text_names_no_place_and_no_address():
    span = SourceSpanMetadata("/somewhere/author.py", 3, 1, 3, 2)
    plain = module(lambda x: exp(x))
    located = module(lambda x: Call(Unary(UnaryKind.EXP), (x,), metadata=(span,)))
    assert canonical_module_text(located) == canonical_module_text(plain)
    assert " at 0x" not in canonical_module_text(attention())


N = DimVar("N", 1, 9)
VARIANTS = {
    "plain": module(exp),
    "another op": module(lambda x: call(Unary(UnaryKind.LOG), x)),
    "another attribute": module(lambda x: call(FullLike(0.0), x)),
    "a negative zero": module(lambda x: call(FullLike(-0.0), x)),
    "another literal": module(lambda x: binary(BinaryKind.MUL, x, number(0.5))),
    "a literal of another sign": module(lambda x: binary(BinaryKind.MUL, x, number(-0.5))),
    "a literal of another dtype": module(
        lambda x: binary(BinaryKind.MUL, x, Constant(0.5, TensorType.umat_scalar("f16")))
    ),
    "another parameter name": module(exp, params=("y",)),
    "a weight": module(exp, const=True),
    "another dtype": module(exp, t=make_tensor_type((8, 8), "bf16")),
    "another storage": module(exp, t=make_tensor_type((8, 8), "f32", "smem")),
    "another layout": module(exp, t=make_tensor_type((8, 8), "f32", layout=Layout((8, 8), (1, 8)))),
    "a symbolic extent": module(exp, t=make_tensor_type((N, 8), "f32")),
    "another envelope": module(exp, t=make_tensor_type((DimVar("N", 1, 10), 8), "f32")),
    "another extent expression": module(exp, t=make_tensor_type((N * 2, 8), "f32")),
    "operands in order": module(lambda x, y: binary(BinaryKind.SUB, x, y), params=("x", "y")),
    "operands swapped": module(lambda x, y: binary(BinaryKind.SUB, y, x), params=("x", "y")),
    "another axis": module(lambda x: call(Reduce((0,)), x)),
    "yet another axis": module(lambda x: call(Reduce((1,)), x)),
    "no entry": Module("m", module(exp).functions),
    "another module name": module(exp).renamed("n"),
    "topologies": module(exp, topologies=(CTA, THREAD)),
    "another topology": module(exp, topologies=(CTA, Topology("thread", 64))),
    "a child": module(exp, modules=(module(exp).renamed("child"),)),
    "another child": module(exp, modules=(module(lambda x: call(FullLike(0.0), x)).renamed("child"),)),
    "a method": module(exp, methods={"forward": print}),
    "a name": module(lambda x: replace_metadata(exp(x), BindingMetadata("y"))),
    "another name": module(lambda x: replace_metadata(exp(x), BindingMetadata("z"))),
    "a mesh scope": module(lambda x: replace_metadata(exp(x), ExecutionDomainMetadata((THREADS,)))),
    "another mesh scope": module(lambda x: replace_metadata(exp(x), ExecutionDomainMetadata((CTAS, THREADS)))),
    "a placement": module(lambda x: call(Reshard(layout_from_sugar((Placed(8, (W,)), 8)), "rmem"), x)),
    "another placement": module(lambda x: call(Reshard(layout_from_sugar((8, Placed(8, (W,)))), "rmem"), x)),
}


def loops(extent=8, step=1, start=0, carry="acc", spread=None):
    def build(x):
        i, acc = Var("i", INDEX_TYPE), Var(carry, T)
        return GridRegionExpr(i, (acc,), (x,), None, (exp(acc),), extent, step, start, spread)

    return module(build)


VARIANTS.update(
    {
        "a loop": loops(),
        "another extent of a loop": loops(9),
        "another step": loops(8, 2),
        "another start": loops(8, 1, 1),
        "another carry": loops(carry="sum"),
        "a spread loop": loops(spread=dataclasses.replace(W, axis=1)),
    }
)


def variant_of(lo):
    x = Var("x", make_tensor_type((N,), "f32"))
    small = Function("f", (x,), exp(x), x.type, (DimVarRangePat("N", lo, 9),))
    return Module("m", (Function("f", (x,), None, x.type, variants=(small,)),), "f")


def converted(build):
    raw, w = Var("raw", T), Var("w", T, True)
    body = build(raw)
    fn = Function("f", (w,), exp(w), T, converters=(("w", Function("_w", (raw,), body, body.type)),))
    return Module("m", (fn,), "f")


def calling(build):
    x, y = Var("x", T), Var("y", T)
    body = build(y)
    callee = Function("g", (y,), body, T)
    return Module("m", (Function("f", (x,), Call(callee, (x,)), T),), "f")


VARIANTS.update(
    {
        "a variant": variant_of(1),
        "a variant for other extents": variant_of(2),
        "a converter": converted(exp),
        "another converter": converted(lambda x: call(Unary(UnaryKind.NEG), x)),
        "a callee": calling(exp),
        "another callee": calling(lambda x: call(Unary(UnaryKind.NEG), x)),
    }
)


def test_programs_that_mean_different_things_have_different_texts():
    texts = {}
    for name, program in VARIANTS.items():
        same = texts.setdefault(canonical_module_text(program), name)
        assert same == name, f"'{name}' has the text of '{same}'"


def test_the_target_is_no_part_of_it():
    assert canonical_module_text(module(exp, target=CpuTarget())) == canonical_module_text(module(exp))


def test_topologies_are_the_effective_ones():
    child = module(exp).renamed("child")
    owned = Module("root", (), modules=(child,), topologies=(CTA, THREAD)).child_named("child")
    assert canonical_module_text(owned) != canonical_module_text(child)
    declared = module(exp, topologies=(CTA, THREAD)).renamed("child")
    assert canonical_module_text(owned) == canonical_module_text(declared)


def test_values_stand_before_the_loops_that_they_do_not_depend_on():
    lines = canonical_module_text(attention()).splitlines()
    first_loop = next(k for k, line in enumerate(lines) if line.lstrip().startswith("for "))
    slices = [k for k, line in enumerate(lines) if "Slice[" in line and "Insert" not in line]
    fills = [k for k, line in enumerate(lines) if "FullLike[" in line]
    assert all(k > first_loop for k in slices)
    assert all(k < first_loop for k in fills)
    depth = {
        line.strip().split()[2]: len(line) - len(line.lstrip()) for line in lines if line.lstrip().startswith("for ")
    }
    q, k = slices[0], slices[1]
    assert len(lines[q]) - len(lines[q].lstrip()) == depth["'i'"] + 2
    assert len(lines[k]) - len(lines[k].lstrip()) == depth["'j'"] + 2


def test_every_value_is_defined_once_and_before_its_use():
    import re

    defined = set()
    for line in canonical_module_text(attention()).splitlines():
        words = line.split()
        target = next((w for w in words[:2] if w.startswith("%")), None)
        if words[0] in ("for", "carry", "param") or words[0].startswith("%"):
            assert target not in defined
            uses = set(re.findall(r"%\d+", line)) - {target}
            defined.add(target)
        else:
            uses = set(re.findall(r"%\d+", line))
        assert uses <= defined, line


def test_deep_programs_print():
    def build(x):
        for _ in range(3000):
            x = binary(BinaryKind.ADD, x, x)
        return x

    assert canonical_module_text(module(build)).count("Binary[") == 3000


def test_values_of_unknown_kinds_are_refused():
    printer = ValuePrinter(str)
    with pytest.raises(WrongTypeError, match="no stable text"):
        printer.value(object())
    with pytest.raises(WrongTypeError, match="no stable text"):
        printer.value({"a": print})
    assert printer.value({"b": 1, "a": (2,)}) == "{'a': (2,), 'b': 1}"


def test_dim_vars_of_one_name_are_told_apart():
    printer = ValuePrinter(str)
    assert [printer.dim(DimVar("N", 1, hi)) for hi in (5, 6, 5)] == ["N", "N_1", "N"]
    assert printer.definitions == ["N = DimVar('N', 1, 5)", "N_1 = DimVar('N', 1, 6)"]


def test_equal_meshes_are_named_once():
    printer = ValuePrinter(str)
    again = Mesh((THREAD,), Layout((4, 8, 4)), ("w", "g", "t"))
    assert printer.mesh(THREADS) == printer.mesh(again) == "mesh0"
    assert printer.mesh(CTAS) == "mesh1"


def kernel(value=0.0, extent=4, name="i"):
    x, i, r = Var("x", T), Var(name, INDEX_TYPE), Var("r", T)
    fill = tir.Evaluate(tir.Fill(value), (r,))
    loop = tir.For(i, 0, extent, 1, tir.Evaluate(tir.Copy(), (r, x)))
    body = tir.LetStmt(r, Call(tir.AllocTensor(T), (), T), tir.Sequential((fill, loop)))
    return Module("m", (tir.PrimFunction("k", (x,), body),), "k")


def test_kernels_print_by_their_fields():
    text = canonical_module_text(kernel())
    assert text == canonical_module_text(kernel())
    for words in ("PrimFunction:", "name = 'k'", "Binding:", "AllocTensor[", "callable = Fill[value=0.0]", "For:"):
        assert words in text
    assert len({canonical_module_text(k) for k in (kernel(), kernel(1.0), kernel(extent=5), kernel(name="j"))}) == 4
