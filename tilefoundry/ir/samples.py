"""Programs built by hand, for tests."""

from __future__ import annotations

from tilefoundry.ir.core import Call, Constant, Expr, Function, Module, Op, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import (
    Binary,
    BinaryKind,
    Cast,
    FullLike,
    GridRegionExpr,
    InsertSlice,
    MatMul,
    Reduce,
    ReduceKind,
    Reshard,
    Slice,
    Transpose,
    TupleGetItem,
    Unary,
    UnaryKind,
    Zeros,
)
from tilefoundry.ir.shard import (
    Dynamic,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    Placed,
    ShardLayout,
    Topology,
    c_order_strides,
    layout_from_sugar,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType, make_tensor_type
from tilefoundry.target import CudaTarget

B, S, G = DimVar("B", 1, 1 << 16), DimVar("S", 1, 1 << 20), DimVar("G", 1, 1 << 20)
CTA, THREAD = Topology("cta", G), Topology("thread", 128)
THREADS = Mesh((THREAD,), Layout((4, 8, 4)), ("w", "g", "t"))
CTAS = Mesh((CTA,), Layout((G,)), ("c",))
W, GROUP, QUAD = (MeshAxis(THREADS, axis) for axis in range(3))


def call(op: Op, *args: Expr | int) -> Call:
    """A call of an op."""
    return Call(op, args)


def number(value: float | int, dtype: str = "f32") -> Constant:
    """A literal."""
    return Constant(value, TensorType.umat_scalar(DType.from_name(dtype)))


def dynamic(x: Var) -> Var:
    """The parameter with a Dynamic placement along all mesh axes."""
    t = x.type
    assert isinstance(t, TensorType) and isinstance(t.layout, ShardLayout)
    layout = ShardLayout(t.layout.layout, (Dynamic(),) * t.layout.mesh.rank, t.layout.mesh)
    return Var("x", TensorType(t.shape, t.dtype, layout, t.storage))


def binary(kind: BinaryKind, lhs: Expr, rhs: Expr) -> Call:
    """``kind(lhs, rhs)``."""
    return call(Binary(kind), lhs, rhs)


def value(shape: tuple[ShapeDim, ...], dtype: str = "f32", storage: str = "gmem") -> Var:
    """A tensor without layout."""
    return Var("x", make_tensor_type(shape, dtype, storage))


def held(
    shape: tuple[ShapeDim, ...],
    *entries: ShapeDim | Placed,
    states: tuple[tuple[MeshAxis, Partial], ...] = (),
    dtype: str = "f32",
) -> Var:
    """A fragment in registers: over THREADS where the entries or states name one of its axes, else of each unit."""
    layout = layout_from_sugar(entries, states)
    if isinstance(layout, ShardLayout):
        layout = with_strides(layout, per_unit_strides(layout))
    else:
        layout = Layout(layout.shape, c_order_strides(layout.shape))
    return Var("x", make_tensor_type(shape, dtype, "rmem", layout))


def attention(head: int = 64, scale: float = 0.125, tile: int = 64) -> Module:
    """Attention with online softmax, placed over CTAs and threads (not causal)."""
    io = make_tensor_type((B, S, head), "bf16")
    q, k, v = (Var(name, io) for name in ("q", "k", "v"))
    rows = (Placed(4, (W,)), 2, Placed(8, (GROUP,)))
    column = layout_from_sugar((*rows, 1))
    scores = layout_from_sugar((*rows, tile // 8, Placed(4, (QUAD,)), 2))
    values = layout_from_sugar((*rows, head // 8, Placed(4, (QUAD,)), 2))
    b, i, j = (Var(name, INDEX_TYPE) for name in ("b", "i", "j"))

    def staged(x: Var, row: Var) -> Call:
        window = Slice((1, tile, head), drop=(0,), boundary=("error", "zero", "error"))
        return call(Reshard(Layout((tile, head)), StorageKind.SMEM), call(window, x, Tuple((b, row, 0))))

    def filled(shape: tuple[int, ...], value: float, layout: Layout | ShardLayout) -> Call:
        return call(
            Reshard(layout, StorageKind.RMEM), call(FullLike(value), call(Zeros(make_tensor_type(shape, "f32"))))
        )

    inits = (filled((tile, 1), -1e30, column), filled((tile, 1), 0.0, column), filled((tile, head), 0.0, values))
    m, total, o = (Var(name, init.type) for name, init in zip(("m", "l", "o"), inits, strict=True))
    product = call(MatMul(DType.f32), staged(q, i), call(Transpose((1, 0)), staged(k, j)))
    s = binary(BinaryKind.MUL, call(Reshard(scores, StorageKind.RMEM), product), number(scale))
    m_new = binary(BinaryKind.MAX, m, call(Reduce((-1,), True, ReduceKind.MAX), s))
    p = call(Unary(UnaryKind.EXP), binary(BinaryKind.SUB, s, m_new))
    alpha = call(Unary(UnaryKind.EXP), binary(BinaryKind.SUB, m, m_new))
    l_new = binary(BinaryKind.ADD, binary(BinaryKind.MUL, total, alpha), call(Reduce((-1,), True, ReduceKind.SUM), p))
    staged_p = call(Reshard(Layout((tile, tile)), StorageKind.SMEM), call(Cast(DType.bf16), p))
    weighted = call(Reshard(values, StorageKind.RMEM), call(MatMul(DType.f32), staged_p, staged(v, j)))
    o_new = binary(BinaryKind.ADD, binary(BinaryKind.MUL, o, alpha), weighted)
    inner = GridRegionExpr(j, (m, total, o), inits, None, (m_new, l_new, o_new), S, tile)
    result = binary(BinaryKind.DIV, call(TupleGetItem(2), inner), call(TupleGetItem(1), inner))

    out = call(Zeros(io))
    over_b, over_i = Var("out", io), Var("out", io)
    insert = InsertSlice((1, tile, head), ("error", "clip", "error"))
    written = call(insert, over_i, call(Cast(DType.bf16), result), Tuple((b, i, 0)))
    tiles = GridRegionExpr(i, (over_i,), (over_b,), None, (written,), S, tile, spread=MeshAxis(CTAS, 0))
    batches = GridRegionExpr(b, (over_b,), (out,), None, (tiles,), B, spread=MeshAxis(CTAS, 0))
    function = Function("attention", (q, k, v), batches, io)
    target = CudaTarget("nvidia.h200_sxm")
    return Module("Attention", (function,), "attention", target=target, topologies=(CTA, THREAD))
