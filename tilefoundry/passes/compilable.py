"""Which statements of an authored kernel the emitter has C++ for; the others are refused, at their place.

A verified kernel has a meaning; this says whether it has code. What stands here in refusals is what is left to do.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from tilefoundry.diagnostics import CompileError, SourceSpan
from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import dim_vars
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Layout,
    Mesh,
    ShardLayout,
    Split,
    group_modes,
    is_per_unit,
)
from tilefoundry.ir.tir.barriers import participants
from tilefoundry.ir.tir.ops.rules import local_shape
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.base import CALL_FREE, TIR, KernelPass
from tilefoundry.passes.modes import crosses_warps, uncombinable
from tilefoundry.passes.workspace import is_workspace
from tilefoundry.target import Target

ELEMENTWISE = (tir.Binary, tir.Cast, tir.Clamp, tir.Fill, tir.Iota, tir.ReLU, tir.Unary, tir.Where)
PLAIN = (tir.CpAsyncCommit, tir.CpAsyncWait, *ELEMENTWISE)


@dataclass(frozen=True)
class CheckCompilable(KernelPass):
    """Refuses what the emitter has no C++ for, and changes nothing."""

    name: ClassVar[str] = "check-compilable"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, CALL_FREE})

    def run_kernel(self, kernel: tir.PrimFunction, module: Module, target: Target) -> tir.PrimFunction:
        """The kernel as it is."""
        check_compilable(kernel)
        return kernel


def check_compilable(kernel: tir.PrimFunction) -> None:
    """Checks every statement of a kernel.

    Raises:
        CompileError: there is no code for one; names it, where it was written.
    """
    for param in kernel.params:
        _elements(param, span_of(param.metadata) or kernel.span)
        if isinstance(param.type, TensorType) and isinstance(param.type.layout, (ShardLayout, ComposedLayout)):
            _refuse(
                f"parameter '{param.name}' has the layout {param.type.layout}",
                "declare it without layout, and view it: T.tensor_view(x, layout=...)",
                span_of(param.metadata) or kernel.span,
            )
    items = list(tir.items_within(tir.unfold(kernel.body)))
    owners = {i.var for i in items if isinstance(i, tir.Binding) and _allocates(i.value)} | set(kernel.params)
    collective = any(isinstance(i, tir.Evaluate) and getattr(i.callable, "collective", False) for i in items)
    for item in items:
        span = span_of(item.metadata) or kernel.span
        match item:
            case tir.Binding(var, value):
                _binding(var, value, owners, span)
            case tir.Evaluate(callable=op) if isinstance(op, tir.EffectOp):
                _effect(op, item.args, span)
            case tir.MeshScope(mesh):
                _scope(mesh, span)
            case tir.Return() if collective:
                _refuse("a 'return' in a kernel whose instances meet", "use 'if' around the rest", span)
            case tir.For() | tir.If() | tir.While() | tir.Return() | tir.Abort():
                pass
            case _:
                _refuse(f"a {_name(item)}", "write the statements out, for instance as an @intrinsic", span)
        for expr in tir.expressions_of(item):
            _coordinates(expr, span)


def _refuse(what: str, remedy: str, span: SourceSpan | None) -> NoReturn:
    raise CompileError(f"{what} cannot be compiled yet", span=span, remedy=remedy)


def _name(item: tir.Item) -> str:
    if isinstance(item, tir.Evaluate):
        return f"call of '{item.callable}'"
    return type(item).__name__


def _allocates(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.target, tir.AllocTensor)


def _elements(var: Var, span: SourceSpan | None) -> None:
    if isinstance(var.type, TensorType) and var.type.dtype is DType.f4e2m1:
        _refuse(
            f"'{var.name}', of elements of half a byte,", "hold them as fp8e4m3, which has all values of f4e2m1", span
        )


def _binding(var: Var, value: Expr, owners: Collection[Var], span: SourceSpan | None) -> None:
    _elements(var, span)
    type_ = var.type
    target = value.target if isinstance(value, Call) else None
    if not isinstance(type_, TensorType) or not type_.shape or is_workspace(value):
        return
    if any(dim_vars(extent) for extent in type_.shape):
        _refuse(f"'{var.name}', a view of the dynamic shape {type_.shape},", "view a tile of static extents", span)
    layout = type_.layout
    if isinstance(layout, ShardLayout):
        _sharded(var, layout, type_, span)
    elif isinstance(layout, ComposedLayout):
        _refuse(f"'{var.name}', of the layout {layout},", "use a plain or a sharded layout", span)
    elif type_.storage is StorageKind.RMEM:
        _refuse(f"'{var.name}', a tensor in registers without a mesh,", "give it a layout: (4 @ m.w, 32 @ m.l)", span)
    if isinstance(target, tir.TensorView) and isinstance(value, Call):
        _view(var, value, type_, owners, span)


def _sharded(var: Var, layout: ShardLayout, type_: TensorType, span: SourceSpan | None) -> None:
    for mode, extent in enumerate(layout.shape):
        over = layout.splitters(mode)
        if over and (len(over) != 1 or layout.mesh.shape[over[0]] != extent):
            _refuse(
                f"'{var.name}': mode {mode} of {layout}",
                "let exactly one mesh axis split a mode, of the mode's extent",
                span,
            )
    if not all(isinstance(attr, (Split, Broadcast)) for attr in layout.attrs):
        _refuse(f"'{var.name}', whose values are partial or dynamic,", "hold values that are whole", span)
    if not isinstance(layout.mesh.layout, Layout):
        _refuse(f"'{var.name}', spread over a slice of a mesh,", "spread it over the whole mesh", span)
    if group_modes(layout.shape, type_.shape) is None:
        _refuse(
            f"'{var.name}': the modes {layout.shape} of its layout are no factors of the axes {type_.shape} in order",
            "write the factors of each axis one after the other",
            span,
        )


def _view(var: Var, value: Call, type_: TensorType, owners: Collection[Var], span: SourceSpan | None) -> None:
    memory, *at = value.args
    assert isinstance(memory, Var) and isinstance(memory.type, (TensorType, tir.PointerType))  # verified
    if (
        at
        and isinstance(memory.type, TensorType)
        and (memory not in owners or isinstance(memory.type.layout, (ShardLayout, ComposedLayout)))
    ):
        _refuse(
            f"'{var.name}', a window of the view '{memory.name}',", "view the tensor itself at the coordinates", span
        )
    if memory.type.storage is StorageKind.RMEM:
        if at or not isinstance(type_.layout, ShardLayout) or not is_per_unit(type_.layout):
            _refuse(f"'{var.name}', a part of registers,", "view registers as a whole, each unit's part apart", span)
    elif memory.type.storage is StorageKind.GMEM and not isinstance(type_.layout, ShardLayout):
        _refuse(
            f"'{var.name}', a view of global memory that no unit owns a part of,",
            "give it a layout: (4 @ m.w, 32 @ m.l)",
            span,
        )


def _effect(op: tir.EffectOp, args: tuple[Expr, ...], span: SourceSpan | None) -> None:
    match op:
        case tir.Copy() | tir.CopyAsync():
            _whole_tiles(op, args, span)
            if not any(isinstance(_type(arg).layout, ShardLayout) or not _type(arg).shape for arg in args):
                _refuse(f"{_op(op)} between two whole tensors", "view one of them with a sharded layout", span)
            if _type(args[1]).shape and not _type(args[0]).shape:
                _refuse(f"{_op(op)} of a scalar into a tensor", "use T.fill, or T.binary with the scalar", span)
        case tir.Sync() | tir.LocalMatmul():
            pass
        case tir.Mma():
            if op.atom is None and any(_type(arg).storage is not StorageKind.SMEM for arg in args[1:]):
                _refuse("T.mma of operands outside of shared memory", "copy them into smem tiles first", span)
        case tir.Reduce():
            _reduce(op, args, span)
        case _ if isinstance(op, PLAIN):
            _elementwise(op, args, span)
        case _:
            _refuse(_op(op), "use the elementwise ops, T.copy, T.reduce, T.mma and T.sync", span)


def _whole_tiles(op: tir.EffectOp, args: tuple[Expr, ...], span: SourceSpan | None) -> None:
    """Refuses a copy between parts and a whole tile, whose elements have no owners."""
    for arg, other in zip(args, reversed(args), strict=True):
        tile, peer = _type(arg), _type(other)
        if tile.storage is not StorageKind.SMEM or isinstance(tile.layout, ShardLayout) or not tile.shape:
            continue
        if isinstance(peer.layout, ShardLayout) and local_shape(peer) != tile.shape:
            _refuse(
                f"{_op(op)} between a part and the whole tile '{arg.name if isinstance(arg, Var) else arg}'",
                "view the tile with a sharded layout: (4 @ m.w, 32 @ m.l)",
                span,
            )


def _elementwise(op: tir.EffectOp, args: tuple[Expr, ...], span: SourceSpan | None) -> None:
    for arg in args:
        if isinstance(arg, Var) and _type(arg).shape and not isinstance(_type(arg).layout, ShardLayout):
            _refuse(
                f"{_op(op)} on the whole tensor '{arg.name}'",
                "view it with a sharded layout, so that each unit has its part",
                span,
            )
    if args and not _type(args[-1]).shape and any(_type(arg).shape for arg in args if isinstance(arg, Var)):
        _refuse(f"{_op(op)} of a tensor into a scalar", "use T.reduce", span)
    if args and not _type(args[-1]).shape and isinstance(op, tir.Iota):
        _refuse(f"{_op(op)} into a scalar", "use T.fill", span)
    scalars = [arg for arg in args[:-1] if not isinstance(arg, Expr) or not _type(arg).shape]
    if isinstance(op, (tir.Binary, tir.Unary)) and len(scalars) == len(args) - 1 and _type(args[-1]).shape:
        _refuse(f"{_op(op)} of scalars into a tensor", "compute the scalar first, x = a * b, and fill with it", span)


def _reduce(op: tir.Reduce, args: tuple[Expr, ...], span: SourceSpan | None) -> None:
    src, dst = args[0], args[1]
    source, result = _type(src), _type(dst)
    for name, type_ in (("src", source), ("dst", result)):
        if not isinstance(type_.layout, ShardLayout) or type_.storage is not StorageKind.RMEM:
            _refuse(f"T.reduce of a '{name}' outside of registers", "copy it into registers first", span)
    if (problem := uncombinable(source, op.axes)) is not None:
        _refuse(f"T.reduce: {problem[0]};", problem[1], span)
    expected = Call(hir.Reduce(op.axes, True, op.kind), (Var("src", source),)).type
    assert isinstance(expected, TensorType) and isinstance(expected.layout, ShardLayout)
    assert isinstance(result.layout, ShardLayout)
    if (expected.layout.shape, expected.layout.attrs) != (result.layout.shape, result.layout.attrs):
        _refuse(f"T.reduce into the layout {result.layout}", f"give 'dst' the layout {expected.layout}", span)
    if crosses_warps(source, op.axes) and len(args) < 3:
        _refuse("T.reduce across warps without a workspace", "pass a tensor in smem as third argument", span)


def _scope(mesh: Mesh, span: SourceSpan | None) -> None:
    if isinstance(mesh.layout, Layout):
        return
    if [t.name for t in mesh.topologies] != ["thread"]:
        _refuse("a scope of some CTAs", "use 'if' on the coordinate", span)
    ids = participants(mesh)
    if ids != list(range(ids[0], ids[-1] + 1)):
        _refuse("a scope of threads that are no interval", "use 'if' on the coordinate", span)


def _coordinates(expr: Expr, span: SourceSpan | None) -> None:
    for part in post_order(expr):
        if isinstance(part, Call) and isinstance(part.target, hir.MeshCoordinate):
            mesh = part.target.axis.mesh
            if len(mesh.topologies) != 1:
                _refuse(
                    f"the coordinate '{part.target.axis.name}' of a mesh of several levels",
                    "open a scope for each level",
                    span_of(part.metadata) or span,
                )


def _type(arg: Expr | int) -> TensorType:
    if isinstance(arg, int):
        return tir.EXTENT_TYPE
    assert isinstance(arg.type, TensorType) or isinstance(arg, Constant)
    return arg.type  # type: ignore[return-value]


def _op(op: tir.EffectOp) -> str:
    return f"T.{op.op_name}"
