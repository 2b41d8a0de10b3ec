"""Kernels parse to the statements that they say."""

from __future__ import annotations

from typing import Any

import pytest

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Call, Constant, Module, Tuple, span_of
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import Cast
from tilefoundry.ir.tir.text import tir_text
from tilefoundry.ir.types import DType, StorageKind
from tilefoundry.python.testing import EX5, load_program
from tilefoundry.target import CpuTarget, CudaTarget


def kernel(text: str, name: str = "k") -> Any:
    return load_program(text)[name]


def items(block: tir.Stmt) -> list[Any]:
    return tir.unfold(block)


def test_the_example_of_the_surface() -> None:
    program = load_program(EX5)
    dev, host = program["dev"], program["host"]
    assert isinstance(dev, tir.PrimFunction) and isinstance(host, tir.PrimFunction)
    assert dev.target == CudaTarget("nvidia.h200_sxm") and host.target == CpuTarget()
    assert [p.name for p in dev.outputs] == ["o"]
    (scope,) = items(dev.body)
    assert isinstance(scope, tir.MeshScope) and scope.binding == "m"
    assert tir_text(dev) == (
        "prim_func dev(a: Tensor[(4,32), f32, gmem], o: Tensor[(4,32), f32, gmem]) -> 1 output(s):\n"
        "  with Mesh(thread=128; (4,32):(32,1)) as m:\n"
        "    va: Tensor[(4,32), f32, (4,32):(32,1) {0:S(0), 1:S(1)}, gmem] = TensorView(a)\n"
        "    vo: Tensor[(4,32), f32, (4,32):(32,1) {0:S(0), 1:S(1)}, gmem] = TensorView(o)\n"
        "    r: Tensor[(4,32), f32, (4,32):(32,1) {0:S(0), 1:S(1)}, rmem] = AllocTensor()\n"
        "    Copy(va, r)\n"
        "    Binary[kind=mul](r, r, r)\n"
        "    Sync[mesh=Mesh(thread=128; (4,32):(32,1))]()\n"
        "    Copy(r, vo)\n"
    )
    (launch,) = items(host.body)
    assert isinstance(launch.callable, tir.Launch)
    symbol, args, grid, block = launch.args
    assert symbol == tir.SymbolRef("dev") and args == Tuple(host.params)
    assert grid == Tuple((Constant(1, tir.EXTENT_TYPE),) * 3)
    assert [e.value for e in block.elements] == [128, 1, 1]
    assert host.callees == (dev,)


def test_statements_carry_their_place() -> None:
    dev = kernel(EX5, "dev")
    (scope,) = items(dev.body)
    lines = [span.line for item in items(scope.body) if (span := span_of(item.metadata)) is not None]
    assert lines == [5, 6, 7, 8, 9, 10, 11]
    assert dev.span is not None and (dev.span.line, dev.span.column) == (2, 1)


COUNTER = """
@prim_func
def k(a: Tensor[(4,), "i32"], o: Tensor[(4,), "i32"], output_count: Tensor[(), "i32"]):
    n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
    T.fill(n, 0)
    limit = output_count * 2
    while n < limit:
        T.binary(n, 1, n, kind=BinaryKind.ADD)
        if n == 7 and limit > 8:
            return
        else:
            T.copy(a, o)
    for i in range(limit):
        j = i + 1
        for k in range(j, 2 * limit, j):
            T.fill(n, 3)
"""


def test_scalars_loops_and_branches() -> None:
    k = kernel(COUNTER)
    n, fill, limit, loop, outer = items(k.body)
    assert n.var.type.storage is StorageKind.RMEM and fill.callable == tir.Fill(0)
    assert limit.var.type.dtype is DType.i32 and limit.var.type.storage is StorageKind.UMAT
    assert isinstance(loop, tir.While) and loop.condition.type.dtype is DType.bool
    _, branch = items(loop.body)
    assert isinstance(items(branch.then_body)[0], tir.Return)
    assert items(branch.else_body)[0].callable == tir.Copy()
    assert isinstance(outer, tir.For) and outer.var.type.dtype is DType.i32 and outer.extent is limit.var
    j, inner = items(outer.body)
    assert inner.start is j.var and inner.step is j.var and isinstance(inner.extent, Call)


def test_conditions_known_at_compile_time_choose_a_branch() -> None:
    text = (
        'FAST = {}\n@prim_func\ndef k(o: Tensor[(4,), "f32"]):\n'
        "    if FAST:\n        T.fill(o, 1.0)\n    else:\n        T.fill(o, 2.0)"
    )
    for fast, value in ((True, 1.0), (False, 2.0)):
        (fill,) = items(kernel(text.format(fast)).body)
        assert fill.callable == tir.Fill(value)


def test_a_name_that_is_assigned_again_is_another_variable() -> None:
    k = kernel("""
        @prim_func
        def k(o: Tensor[(8,), "f32"]):
            x = T.alloc_tensor(Tensor[(8,), "f32", "rmem"])
            first = x
            x = T.alloc_tensor(Tensor[(8,), "f32", "rmem"])
            T.fill(x, 1.0)
            T.copy(first, x)
    """)
    one, two, fill, copy = items(k.body)
    assert one.var is not two.var and fill.args == (two.var,) and copy.args == (one.var, two.var)


def test_extents_of_parameters() -> None:
    k = kernel(
        '@prim_func\ndef k(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):\n'
        "    for i in range(a.shape[0]):\n        T.fill(o, 1.0)\n"
        "    for i in range(o_shape_0):\n        T.fill(o, 1.0)\n"
        "    for i in range(a.shape[1]):\n        T.fill(o, 1.0)"
    )
    a, o = k.params
    loops = items(k.body)
    assert [loop.extent for loop in loops] == [tir.ShapeOf(a, 0), tir.ShapeOf(o, 0), 32]
    assert [loop.var.type.dtype for loop in loops] == [DType.i32, DType.i32, DType.i64]
    assert [e.hidden_name for e in k.hidden_params] == ["a_shape_0", "o_shape_0"]


def test_a_grid_over_dynamic_extents() -> None:
    host = kernel(
        "@prim_func(target=CudaTarget())\n"
        'def dev(a: Tensor[(N,), "f32"], o: Tensor[(N,), "f32"]):\n    T.copy(a, o)\n'
        "@prim_func(target=CpuTarget())\n"
        'def host(a: Tensor[(N,), "f32"], o: Tensor[(N,), "f32"]):\n'
        "    launch(dev, a, o, grid=(ceildiv(a.shape[0], 64), max(a.shape[0], 8)), block=64, dynamic_smem=1024)",
        "host",
    )
    (launch,) = items(host.body)
    assert launch.callable == tir.Launch(dynamic_smem=1024)
    grid = launch.args[2].elements
    assert [e.type.dtype for e in grid] == [DType.i32, DType.i32]


VIEWS = """
@prim_func
def k(a: Tensor[(64, 32), "bf16"], o: Tensor[(64, 32), "bf16"]):
    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        tile = T.alloc_tensor(Tensor[(4, 32), "bf16", "smem"])
        part = T.tensor_view(tile, layout=(4 @ m.w, 32 @ m.l))
        for i in range(0, 64, 4):
            window = T.tensor_view(a, i, 0, layout=(4 @ m.w, 32 @ m.l), shape=(4, 32))
            T.copy_async(window, part)
            T.cp_async_commit()
            T.cp_async_wait(n=0)
            T.sync(m)
            if m.w < 2:
                T.copy(T.tensor_view(T.ptr_of(tile), 32, shape=(3, 32)), T.tensor_view(o, i, 0, shape=(3, 32)))
            with m[0:2] as front, m[0] as first:
                T.sync(first)
"""


def test_views_pointers_and_slices() -> None:
    k = kernel(VIEWS)
    (scope,) = items(k.body)
    *_, loop = items(scope.body)
    window, *effects, branch, front = items(loop.body)
    assert front.mesh.shape == (2, 32)
    (first,) = items(front.body)
    (sync,) = items(first.body)
    assert window.value.args == (k.params[0], loop.var, 0) or window.value.args[1] is loop.var
    assert window.var.type.layout.layout.strides == (32, 1)
    assert [type(e.callable).__name__ for e in effects] == ["CopyAsync", "CpAsyncCommit", "CpAsyncWait", "Sync"]
    pointer, *_ = items(branch.then_body)
    assert pointer.var.type == tir.PointerType(DType.bf16, StorageKind.SMEM)
    assert sync.callable.mesh == first.mesh


def test_intrinsics_are_written_out() -> None:
    k = kernel(
        "@intrinsic\ndef axpy(x, y, *, scale):\n"
        "    T.binary(x, scale, x, kind=BinaryKind.MUL)\n    T.binary(x, y, y, kind=BinaryKind.ADD)\n"
        '@prim_func\ndef k(a: Tensor[(4,), "f32"], o: Tensor[(4,), "f32"]):\n'
        "    axpy(a, o, scale=2.0)\n    axpy(o, o, scale=3.0)"
    )
    a, o = k.params
    effects = items(k.body)
    assert [e.args[0] for e in effects] == [a, a, o, o]
    assert [e.args[1].value for e in effects[::2]] == [2.0, 3.0]


CLASS = """
@intrinsic
def elsewhere(x):
    T.fill(x, 0.0)

@module(entry="host", target=CudaTarget(), topologies=(CTA, THREAD))
class Program:
    @prim_func(target=CpuTarget())
    def host(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
        launch(dev, a, o, grid=4, block=128)

    @intrinsic
    def square(x):
        T.binary(x, x, x, kind=BinaryKind.MUL)

    @prim_func(inplace={"o": "a"})
    def dev(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
        with Mesh(("cta",), (4,), ("c",)) as c, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            elsewhere(o)
            square(o)
            helper(o)
            T.sync(t)

    @prim_func
    def helper(o: Tensor[(4, 32), "f32"]):
        T.fill(o, 1.0)
"""


def test_kernels_are_members_of_a_module() -> None:
    module = kernel(CLASS, "Program")
    assert isinstance(module, Module)
    assert [f.name for f in module.functions] == ["host", "dev", "helper"]
    host, dev, _ = module.functions
    assert isinstance(dev, tir.PrimFunction) and isinstance(host, tir.PrimFunction)
    assert host.callees == () and dev.aliases == (("o", "a"),)
    assert module.entry_function() is host
    cta, thread = (s for s in tir.items_within(items(dev.body)) if isinstance(s, tir.MeshScope))
    assert (cta.binding, thread.binding) == ("c", "t")


def test_barriers_stand_where_their_threads_come() -> None:
    kernel(
        "@module(topologies=(CTA, THREAD))\nclass Program:\n"
        '    @prim_func\n    def k(n: Tensor[(), "i32"], o: Tensor[(4,), "f32"]):\n'
        '        with Mesh(("cta",), (4,), ("c",)) as c, Mesh(("thread",), (4, 32), ("w", "l")) as m:\n'
        "            for i in range(n):\n                T.sync(m)\n"
        "            if c.c == 0 and n > 3:\n                T.sync(m)\n                return\n"
        "            if m.w == 0:\n                T.sync(m[0])\n"
        "            T.sync(m)\n",
        "Program",
    )


def test_dispatch_on_an_extent() -> None:
    f = kernel(
        "@prim_func\ndef small(a: Tensor[(N,), 'f32'], o: Tensor[(N,), 'f32']):\n    T.copy(a, o)\n"
        "@prim_func\ndef f(a: Tensor[(N,), 'f32'], o: Tensor[(N,), 'f32']):\n"
        "    T.dispatch('f', a.shape[0], (DimVarRangePat('N', 1, 5), small), (DimVarRangePat('N', 5, 9), small),\n"
        "               args=(a, o), otherwise='N is above 8')",
        "f",
    )
    (dispatch,) = items(f.body)
    assert dispatch.subjects == (tir.ShapeOf(f.params[0], 0),) and len(dispatch.case_calls) == 2
    assert dispatch.fallback == tir.Abort("N is above 8")
    assert "N in [5, 9):" in tir_text(f) and "abort 'N is above 8'" in tir_text(f)


def test_an_instruction_in_its_scope() -> None:
    k = kernel(
        '@prim_func\ndef k(o: Tensor[(16, 8), "f32"]):\n'
        '    with Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("t", "g")) as m:\n'
        "        c = T.alloc_tensor(TensorType((16, 8), DType.f32, "
        "ShardLayout(Layout((2, 4, 8, 2), (1, 2, 8, 64)), (S(1), S(2)), m), StorageKind.RMEM))\n"
        "        a = T.alloc_tensor(TensorType((16, 16), DType.bf16, "
        "ShardLayout(Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)), (S(1), S(3)), m), StorageKind.RMEM))\n"
        "        b = T.alloc_tensor(TensorType((16, 8), DType.bf16, "
        "ShardLayout(Layout((8, 2, 4, 2), (1, 8, 16, 64)), (S(2), S(0)), m), StorageKind.RMEM))\n"
        "        T.mma(c, a, b, atom=T.cuda.mma.atom(op='SM80_16x8x16_F32BF16BF16F32_TN'))\n"
    )
    (scope,) = items(k.body)
    assert items(scope.body)[-1].callable == tir.Mma(tir.ATOMS["SM80_16x8x16_F32BF16BF16F32_TN"])


def test_kernels_and_their_parts_are_not_python_functions() -> None:
    program = load_program(EX5 + "\n@intrinsic\ndef f(x):\n    T.sync(x)\n")
    for call in (program["launch"], program["f"], program["T"].copy, program["T"].abort):  # type: ignore[attr-defined]
        with pytest.raises(WrongTypeError, match="was called as a Python function"):
            call()  # type: ignore[operator]


def test_index_scalars_keep_their_type() -> None:
    k = kernel(
        '@prim_func\ndef k(o: Tensor[(4,), "f32"]):\n    first = T.program_id(level="cta")\n'
        '    for i in range(first, 64, T.program_dim(level="cta")):\n        at = i * 4\n        T.fill(o, 0.0)'
    )
    first, count, loop = items(k.body)
    assert first.var.type == count.var.type == loop.var.type == INDEX_TYPE
    assert loop.start is first.var and loop.step is count.var


LEVELLED = """
@prim_func
def k(a: Tensor[(N, 8), "f32"], o: Tensor[(N, 8), "f32"]):
    with Mesh((Topology("thread", 32),), (32,), ("t",)) as m:
        for i in range(m.t, a.shape[0], 32):
            T.copy(T.tensor_view(a, i, 0, shape=(1, 8)), T.tensor_view(o, i, 0, shape=(1, 8)))
        for j in range(a.shape[0] // 32):
            row = j * 32 + m.t
            if row + 1 < a.shape[0] and min(row, a.shape[0]) >= m.t:
                T.copy(T.tensor_view(a, row, 0, shape=(1, 8)), T.tensor_view(o, row, 0, shape=(1, 8)))
"""


def test_extents_meet_coordinates_and_loop_variables_in_i64() -> None:
    (scope,) = items(kernel(LEVELLED).body)
    rows, blocks = items(scope.body)
    assert rows.var.type == INDEX_TYPE and rows.step == 32
    assert rows.extent.target == Cast(DType.i64) and isinstance(rows.extent.args[0], tir.ShapeOf)
    assert blocks.var.type.dtype is DType.i32  # of extents alone
    row, *_ = items(blocks.body)
    assert row.var.type == INDEX_TYPE
