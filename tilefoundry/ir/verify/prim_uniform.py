"""Barriers are met by all units that they join: control flow around them must not differ between these.

Those of a whole CTA join its threads, those of the grid all threads of all CTAs. A value differs between units when it
is computed from a coordinate of theirs, or written where only some of them run.
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
        VerifyError: only some threads of a CTA may reach a barrier of all of them, or only some CTAs one of the grid.
    """
    _verify(fn, _Walk(_CTA))
    _verify(fn, _Walk(_GRID))


def _verify(fn: tir.PrimFunction, walk: _Walk) -> None:
    before = -1
    while before != len(walk.differing):  # what a loop's end writes, its start reads
        before = len(walk.differing)
        walk.left = None
        walk.block(fn.body, None)
    walk.check = True
    walk.left = None
    walk.block(fn.body, None)


@dataclass(frozen=True)
class _Joined:
    """Which units a kind of barrier joins: those that `levels` tell apart."""

    levels: tuple[str, ...]
    units: str
    remedy: str


_CTA = _Joined(
    ("thread",),
    "threads of the CTA",
    "move it to where all threads run, or let a slice of the mesh meet: T.sync(m[0:2])",
)
_GRID = _Joined(
    ("cta", "thread"),
    "CTAs of the launch",
    "move it to where all CTAs run, as often in each: in a loop, let the bounds be the same for all",
)


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
        joined: the units in question.
        differing: variables whose value may differ between them.
        left: the cause of an early return of some of them, once there was one.
        check: barriers are checked, in the last pass.
    """

    joined: _Joined
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
                if isinstance(mesh.layout, ComposedLayout) and self.tells_apart(mesh):
                    cause = cause or _Cause(f"the scope of some {mesh.topologies[-1].name}s", item.span)
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
        if self.check and some is not None and self.joins_all(op, item.args):
            reason = f"{some}" if cause is not None else f"an early 'return' under {some}"
            raise VerifyError(
                f"{op.op_name}: all {self.joined.units} meet here, and {reason} lets only some of them come",
                span=item.span,
                remedy=self.joined.remedy,
            )

    def joins_all(self, op: tir.EffectOp, args: tuple[Expr, ...]) -> bool:
        """Whether all of the units take part."""
        return _is_grid_barrier(op) if self.joined is _GRID else _joins_cta(op, args)

    def tells_apart(self, mesh: Mesh) -> bool:
        """Whether units of a mesh are such units, or parts of them."""
        return any(level.name in self.joined.levels for level in mesh.topologies)

    def differs(self, expr: Expr | int) -> bool:
        """Whether a scalar may differ between the units. Elements of tensors are no control flow."""
        if isinstance(expr, int):
            return False
        for part in post_order(expr):
            match part:
                case Var() if part in self.differing:
                    return True
                case Call(target=tir.ProgramId(level)) if level in self.joined.levels:
                    return True
                case Call(target=target):
                    axis = next((v for _, v in getattr(target, "attributes", tuple)() if isinstance(v, MeshAxis)), None)
                    if axis is not None and self.is_along(axis):
                        return True
        return False

    def is_along(self, axis: MeshAxis) -> bool:
        """Whether the coordinate along an axis tells the units apart."""
        mesh = axis.mesh
        if len(mesh.topologies) == 1 or isinstance(mesh.layout, ComposedLayout):
            return self.tells_apart(mesh)
        return mesh.topologies[axis_levels(mesh)[axis.axis]].name in self.joined.levels


def _is_grid_barrier(op: tir.EffectOp) -> bool:
    """Whether all CTAs meet; slices of the CTAs do not."""
    return isinstance(op, tir.Sync) and op.mesh is not None and any(t.name == "cta" for t in op.mesh.topologies)


def _joins_cta(op: tir.EffectOp, args: tuple[Expr, ...]) -> bool:
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
