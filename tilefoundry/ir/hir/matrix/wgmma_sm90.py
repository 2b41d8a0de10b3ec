"""WgmmaSm90: one warpgroup's matrix instructions of 64x128x16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.atoms import Fragment
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, find_metadata
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.matrix.instruction import (
    check_majors,
    check_operand,
    checked_triple,
    is_fragment,
    is_scope,
    written_fragment,
)
from tilefoundry.ir.shard import Layout, Mesh, ShardLayout, Split
from tilefoundry.ir.types import DType, StorageKind, TensorType

# A warpgroup as (4, 8, 4):(1, 4, 32): thread = quad + 4 * group + 32 * warp. The strides of a fragment are steps in the
# row-major matrix. PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
SCOPE = Layout((4, 8, 4), (1, 4, 32))
_A = (Layout((2, 4, 2, 8, 2, 4), (1, 2, 8, 16, 128, 256)), (Split(1), Split(3), Split(5)))
_ACC = (Layout((2, 4, 16, 8, 2, 4), (1, 2, 8, 128, 1024, 2048)), (Split(1), Split(3), Split(5)))
_TRIPLES = ((DType.bf16, DType.bf16, DType.f32), (DType.f16, DType.f16, DType.f32))


@register_op(category="matrix", name="wgmma_sm90_64x128x16")
@dataclass(frozen=True, slots=True)
class WgmmaSm90(Op):
    """``a @ b`` by one warpgroup: `a` in shared memory or registers, `b` in shared memory.

    Shapes: a (64, 16), b (16, 128) -> (64, 128)

    Attributes:
        dtype_a, dtype_b, dtype_acc: of the operands and the result; (bf16, bf16, f32) or (f16, f16, f32).
        a_layout, b_layout: "T" and "N": K is innermost in both tiles.

    Placement: tiles in shared memory are whole and unsharded, K with stride 1. In registers, and for the
    result, exactly the fragments of PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", over a mesh of one
    warpgroup with the layout (4, 8, 4):(1, 4, 32): that of `a`, or of the innermost scope. Partial: none.
    """

    a: ClassVar[ParamDef] = ParamDef()
    b: ClassVar[ParamDef] = ParamDef()
    dtype_a: DType
    dtype_b: DType
    dtype_acc: DType
    a_layout: str = "T"
    b_layout: str = "N"

    def __post_init__(self) -> None:
        triple = checked_triple("wgmma_sm90_64x128x16", _TRIPLES, self.dtype_a, self.dtype_b, self.dtype_acc)
        for name, dtype in zip(("dtype_a", "dtype_b", "dtype_acc"), triple, strict=True):
            object.__setattr__(self, name, dtype)
        check_majors("wgmma_sm90_64x128x16", self.a_layout, self.b_layout)

    def type_rule(self, ctx: TypeContext, a: Expr | int, b: Expr | int) -> TensorType:  # type: ignore[override]
        """The accumulator's fragment over the mesh of the warpgroup."""
        t, u = tensor_operand(ctx, "a", a), tensor_operand(ctx, "b", b)
        lhs = Fragment((64, 16), self.dtype_a, *_A)
        check_operand(ctx, "a", t, lhs)
        check_operand(ctx, "b", u, Fragment((16, 128), self.dtype_b, *_A))
        if not _is_tile(u, k=0):
            ctx.error(
                f"'b' must be a tile in shared memory with K innermost, got {u}",
                'tf.reshard it to "smem", ((16, 128), (1, 16))',
            )
        if is_fragment(t, lhs, SCOPE):
            assert isinstance(t.layout, ShardLayout)
            mesh = t.layout.mesh
        elif _is_tile(t, k=1):
            mesh = _warpgroup(ctx)
        else:
            ctx.error(
                f"'a' must be a tile in shared memory with K innermost, or the instruction's fragment, got {t}",
                f'tf.reshard it to "smem"; or {written_fragment(lhs, SCOPE)}',
            )
        return TensorType((64, 128), self.dtype_acc, ShardLayout(*_ACC, mesh), StorageKind.RMEM)


def _is_tile(t: TensorType, k: int) -> bool:
    """Whether a tensor lies in shared memory, whole, with steps of 1 along axis `k`."""
    plain = t.layout if isinstance(t.layout, Layout) else None
    return t.storage is StorageKind.SMEM and plain is not None and plain.strides is not None and plain.strides[k] == 1


def _warpgroup(ctx: TypeContext) -> Mesh:
    """The innermost scope that is a warpgroup."""
    record = find_metadata(ctx.metadata, ExecutionDomainMetadata)
    for mesh in reversed(record.scopes if record is not None else ()):
        if is_scope(mesh, SCOPE):
            return mesh
    ctx.error(
        "with both operands in shared memory, the call must stand in the scope of the warpgroup that holds the result",
        f'write it inside of: with Mesh(("thread",), Layout({SCOPE.shape}, {SCOPE.strides})) as m',
    )
