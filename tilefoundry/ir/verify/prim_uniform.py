"""Barriers of a whole CTA are met by all of its threads: control flow around them must not differ between threads.

A value differs between threads when it is computed from a thread's coordinate, or written where only some threads run.
The analysis takes the order of statements into account for early returns only, so it refuses too much rather than too
little: a variable that differs anywhere differs everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.diagnostics import SourceSpan, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.shard import ComposedLayout, Mesh, MeshAxis, axis_levels
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType


def verify_uniform(fn: tir.PrimFunction) -> None:
    """Checks where the barriers of a kernel stand.

    Raises:
        VerifyError: only some threads of a CTA may reach a barrier of all of them.
    """
    walk = _Walk()
    before = -1
    while before != len(walk.differing):  # what a loop's end writes, its start reads
        before = len(walk.differing)
        walk.left = None
        walk.block(fn.body, None)
    walk.check = True
    walk.left = None
    walk.block(fn.body, None)


@dataclass
class _Cause:
    """What lets only some threads go on."""

    what: str
    span: SourceSpan | None

    def __str__(self) -> str:
        return f"{self.what} at line {self.span.line}" if self.span is not None else self.what


@dataclass
class _Walk:
    """One pass over the statements.

    Attributes:
        differing: variables whose value may differ between the threads of a CTA.
        left: the cause of an early return of some threads, once there was one.
        check: barriers are checked, in the last pass.
    """

    differing: set[Var] = field(default_factory=set)
    left: _Cause | None = None
    check: bool = False

    def block(self, stmt: tir.Stmt, cause: _Cause | None) -> None:
        for item in tir.unfold(stmt):
            self.item(item, cause)

    def item(self, item: tir.Item, cause: _Cause | None) -> None:
        match item:
            case tir.Binding(var, value):
                if self.differs(value):
                    self.differing.add(var)
            case tir.For():
                if any(isinstance(b, Expr) and self.differs(b) for b in (item.start, item.extent, item.step)):
                    self.differing.add(item.var)
                    cause = cause or _Cause("the bounds of the 'for'", item.span)
                self.block(item.body, cause)
            case tir.While(condition, body):
                if self.differs(condition):
                    cause = cause or _Cause("the condition of the 'while'", item.span)
                self.block(body, cause)
            case tir.If(condition, then_body, else_body):
                if self.differs(condition):
                    cause = cause or _Cause("the condition of the 'if'", item.span)
                self.block(then_body, cause)
                if else_body is not None:
                    self.block(else_body, cause)
            case tir.MeshScope(mesh, _, body):
                if isinstance(mesh.layout, ComposedLayout) and _has_threads(mesh):
                    cause = cause or _Cause("the scope of some threads", item.span)
                self.block(body, cause)
            case tir.Return():
                self.left = self.left or cause
            case tir.Evaluate(callable=op) if isinstance(op, tir.EffectOp):
                self.effect(op, item, cause)

    def effect(self, op: tir.EffectOp, item: tir.Evaluate, cause: _Cause | None) -> None:
        some = cause or self.left
        for position in op.writes:
            arg = item.args[position]
            if isinstance(arg, Var) and _is_scalar(arg) and (some or any(map(self.differs, item.args))):
                self.differing.add(arg)
        if self.check and some is not None and _joins_all(op, item.args):
            reason = f"{some}" if cause is not None else f"an early 'return' under {some}"
            raise VerifyError(
                f"{op.op_name}: all threads of the CTA meet here, and {reason} lets only some of them come",
                span=item.span,
                remedy="move it to where all threads run, or let a slice of the mesh meet: T.sync(m[0:2])",
            )

    def differs(self, expr: Expr | int) -> bool:
        """Whether a scalar may differ between threads. Elements of tensors are no control flow."""
        if isinstance(expr, int):
            return False
        for part in post_order(expr):
            match part:
                case Var() if part in self.differing:
                    return True
                case Call(target=tir.ProgramId("thread")):
                    return True
                case Call(target=target):
                    axis = next((v for _, v in getattr(target, "attributes", tuple)() if isinstance(v, MeshAxis)), None)
                    if axis is not None and _is_thread_axis(axis):
                        return True
        return False


def _joins_all(op: tir.EffectOp, args: tuple[Expr, ...]) -> bool:
    """Whether all threads of a CTA take part."""
    match op:
        case tir.Sync(mesh):
            return mesh is None or not isinstance(mesh.layout, ComposedLayout)
        case tir.Mma(atom):
            return atom is None
        case tir.Reduce():
            return len(args) > 2  # through shared memory
        case tir.TileLoad():
            return isinstance(args[2].type, TensorType) and args[2].type.storage is StorageKind.SMEM
    return op.barrier


def _is_scalar(var: Var) -> bool:
    return isinstance(var.type, TensorType) and not var.type.shape


def _has_threads(mesh: Mesh) -> bool:
    return any(level.name == "thread" for level in mesh.topologies)


def _is_thread_axis(axis: MeshAxis) -> bool:
    mesh = axis.mesh
    if len(mesh.topologies) == 1 or isinstance(mesh.layout, ComposedLayout):
        return _has_threads(mesh)
    return mesh.topologies[axis_levels(mesh)[axis.axis]].name == "thread"
