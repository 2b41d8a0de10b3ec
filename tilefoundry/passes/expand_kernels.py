"""What authors of kernels may write in one word, in the words that the emitter has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import Broadcast, Layout, ShardLayout, Split, c_order_strides, group_modes, in_axis_order
from tilefoundry.ir.types import AnyLayout, StorageKind, TensorType
from tilefoundry.passes.base import CALL_FREE, TIR, KernelPass
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.target import Target


@dataclass(frozen=True)
class ExpandKernels(KernelPass):
    """Norms become the arithmetic that they stand for; fragments of instructions get their modes in the axes' order.

    Raises:
        CompileError, VerifyError: a norm of rows that no fragment holds; located.
    """

    name: ClassVar[str] = "expand-kernels"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, CALL_FREE})

    def run_kernel(self, kernel: tir.PrimFunction, module: Module, target: Target) -> tir.PrimFunction:
        """The kernel in such words."""
        return replace(kernel, body=_Expansion(module).block(kernel.body))


class _Expansion:
    """Statements with other ones in place of some, and with variables of other types."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._vars: dict[Var, Var] = {}

    def block(self, stmt: tir.Stmt) -> tir.Stmt:
        """The statements of a block."""
        return tir.fold([new for item in tir.unfold(stmt) for new in self._item(item)])

    def _item(self, item: tir.Item) -> list[tir.Item]:
        match item:
            case tir.Binding(var, Call() as value):
                return [self._binding(item, var, value)]
            case tir.Evaluate(callable=tir.RMSNorm() as op, args=args):
                return self._norm(op, item, *(self._operand(arg) for arg in args))
            case tir.Evaluate(args=args):
                return [replace(item, args=tuple(self._operand(arg) for arg in args))]
            case tir.Binding():
                return [item]
        return [tir.map_blocks(item, self.block)]

    def _binding(self, item: tir.Binding, var: Var, value: Call) -> tir.Item:
        """Registers with the modes of each axis outermost first; what reads them sees them so."""
        args, target, type_ = tuple(self._operand(arg) for arg in value.args), value.target, var.type
        if isinstance(type_, TensorType) and type_.storage is StorageKind.RMEM:
            layout = _in_order(type_)
            if layout is not type_.layout:
                type_ = replace(type_, layout=layout)
                self._vars[var] = Var(var.name, type_, var.is_const, var.metadata)
                target = tir.AllocTensor(type_) if isinstance(target, tir.AllocTensor) else target
                target = replace(target, layout=layout) if isinstance(target, tir.TensorView) else target
        if var not in self._vars and all(a is b for a, b in zip(args, value.args, strict=True)):
            return item
        return replace(item, var=self._vars.get(var, var), value=Call(target, args, type_, value.metadata))

    def _operand(self, arg: Expr | int) -> Expr:
        return self._vars.get(arg, arg) if isinstance(arg, Var) else arg  # type: ignore[return-value]  # an index

    # ---- norms --------------------------------------------------------------------------------------------------

    def _norm(self, op: tir.RMSNorm, item: tir.Evaluate, src: Expr, weight: Expr, dst: Expr) -> list[tir.Item]:
        assert isinstance(src, Var) and isinstance(weight, Var) and isinstance(dst, Var)  # verified
        for name, var in (("src", src), ("dst", dst)):
            assert isinstance(var.type, TensorType)
            if var.type.storage is not StorageKind.RMEM or not isinstance(var.type.layout, ShardLayout):
                raise CompileError(
                    f"T.rms_norm of a '{name}' outside of registers cannot be compiled yet",
                    span=span_of(item.metadata),
                    remedy="copy it into registers first: T.alloc_tensor(Tensor[..., 'rmem']) with a sharded layout",
                )
        ctx = Lowering(self.module, (), tensor_cores=False)
        ctx.remember(src, src)
        held = _weight(ctx, weight, src)
        ctx.remember(held, held)
        call = Call(hir.RMSNorm(op.eps), (src, held), metadata=item.metadata)
        value = ctx.fragment(call)
        assert isinstance(dst.type, TensorType)
        ctx.emit(tir.Copy(), ctx.broadcast(call, value, dst.type), dst)
        return [i if isinstance(i, tir.Binding) else replace(i, metadata=item.metadata) for i in ctx.items]


def _in_order(type_: TensorType) -> AnyLayout | None:
    """The layout of registers, or one with its modes in the order of the axes where they are in another."""
    layout = type_.layout
    if not isinstance(layout, ShardLayout):
        return layout
    ordered = in_axis_order(layout, type_.shape)
    return layout if (ordered.shape, ordered.attrs) == (layout.shape, layout.attrs) else ordered


def _weight(ctx: Lowering, weight: Var, src: Var) -> Var:
    """What each instance needs of the weight: as much of the last axis as it holds of the rows."""
    type_, rows = weight.type, src.type
    assert isinstance(type_, TensorType) and isinstance(rows, TensorType) and isinstance(rows.layout, ShardLayout)
    if isinstance(type_.layout, ShardLayout):
        if type_.storage is StorageKind.RMEM:
            return weight
        seen = type_
    else:
        groups = group_modes(rows.layout.shape, rows.shape)
        assert groups is not None  # of fragments
        at = {mode: k for k, mode in enumerate(groups[-1])}
        extents = tuple(rows.layout.shape[mode] for mode in groups[-1])
        attrs = tuple(
            Split(at[a.axis]) if isinstance(a, Split) and a.axis in at else Broadcast() for a in rows.layout.attrs
        )
        layout = ShardLayout(Layout(extents, c_order_strides(extents)), attrs, rows.layout.mesh)
        seen = replace(type_, layout=layout)
    fragment = ctx.alloc(weight.name, replace(seen, storage=StorageKind.RMEM))
    ctx.emit(tir.Copy(), ctx.view(weight, seen), fragment)
    return fragment
