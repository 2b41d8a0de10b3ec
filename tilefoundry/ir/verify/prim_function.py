"""Is a kernel well formed? One walk over its statements, with what is bound and open at each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tilefoundry.diagnostics import SourceSpan, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var, type_of
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import DimVar, dim_vars
from tilefoundry.ir.shard import Mesh, ShardLayout
from tilefoundry.ir.tir.barriers import BarrierKind, classify_sync
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.ir.verify.prim_calls import check_call, check_dispatch, check_launch
from tilefoundry.ir.verify.prim_scopes import check_mesh, check_scope, meshes_of
from tilefoundry.ir.verify.prim_uniform import verify_uniform


def verify_prim_function(fn: tir.PrimFunction, module: Module | None = None, scopes: Sequence[Mesh] = ()) -> None:
    """Checks one kernel.

    Parameters are all sharded or all plain; a variable is bound once, used where it is bound, and has the type of its
    value; memory is allocated by name only; meshes are in scope and fit their levels; symbols resolve to one function,
    which takes what it is given; dispatches, launches, matrix instructions and barriers are ones that exist; where all
    threads of a CTA meet, all of them come.

    Args:
        module: what the kernel is a function of; None for one outside of a Module.
        scopes: meshes that are in scope around the kernel: those that a function of HIR was placed on.

    Raises:
        VerifyError: the first fault found, located where its place is known.
        VerifyValueError: the kernel has too many named barriers (a ValueError).
    """
    _Verifier(fn, module, scopes).run()
    verify_uniform(fn)


class _Verifier:
    """The state of one walk.

    Attributes:
        known: variables that may be used at this point.
        bound: variables that have been bound anywhere.
        around: meshes that are in scope in all of the kernel.
        scopes: the mesh scopes that are open, outermost first.
        named: how many named barriers there have been.
    """

    def __init__(self, fn: tir.PrimFunction, module: Module | None, scopes: Sequence[Mesh]) -> None:
        self.fn, self.module = fn, module
        self.known = set(fn.params)
        self.bound = set(fn.params)
        self.scopes: list[Mesh] = []
        self.around = [*scopes, *(m for param in fn.params for m in meshes_of(param.type))]
        self.extents = {v for param in fn.params for extent in _shape(param) for v in dim_vars(extent)}
        self.named = 0

    def run(self) -> None:
        """Checks the parameters, then the body."""
        tensors = [p for p in self.fn.params if _shape(p)]
        for param in tensors:
            if isinstance(param.type, TensorType) and param.type.storage is StorageKind.UMAT:
                self.refuse(
                    f"parameter '{param.name}' has the storage umat, which stands for an undecided one",
                    'name its memory, "gmem" as a rule',
                    span_of(param.metadata),
                )
        sharded = [p for p in tensors if isinstance(p.type, TensorType) and isinstance(p.type.layout, ShardLayout)]
        if sharded and len(sharded) != len(tensors):
            odd = next(p for p in tensors if p not in sharded)
            self.refuse(
                f"parameter '{sharded[0].name}' is sharded and '{odd.name}' is not; expected all or none",
                "declare all tensors with a sharded layout, or none and view them: T.tensor_view(x, layout=...)",
                span_of(odd.metadata),
            )
        self.block(self.fn.body)

    def refuse(self, message: str, remedy: str, span: SourceSpan | None) -> NoReturn:
        """Raises a VerifyError at `span`, or at the kernel."""
        raise VerifyError(f"{message}", span=span or self.fn.span, remedy=remedy)

    # -- statements

    def block(self, stmt: tir.Stmt) -> None:
        """Checks a block; what it binds is unknown after it."""
        known = set(self.known)
        for item in tir.unfold(stmt):
            if isinstance(item, tir.Binding):
                self.binding(item)
            else:
                self.statement(item)
        self.known = known

    def binding(self, item: tir.Binding) -> None:
        """Checks a LetStmt."""
        var, value, span = item.var, item.value, span_of(item.metadata)
        self.declare(var, span)
        if isinstance(value, Call) and isinstance(value.target, tir.AllocTensor):
            self.retyped(value, span)
            self.extents_known(value.target.tensor_type, span)
        else:
            self.expression(value, span)
        if var.type != value.type:
            self.refuse(
                f"'{var.name}' has the type {var.type}, and its value {value.type}",
                "bind it with its value's type",
                span,
            )
        for mesh in meshes_of(var.type):
            self.in_scope(mesh, span)
        self.known.add(var)

    def statement(self, item: tir.Stmt) -> None:
        """Checks any other statement."""
        span = item.span
        match item:
            case tir.For():
                for bound in (item.start, item.extent, item.step):
                    self.integer(bound, "a bound of a 'for'", span)
                    if isinstance(bound, Expr) and _dtype(bound) != _dtype(item.var):
                        self.refuse(
                            f"'{item.var.name}' has the type {item.var.type}, and a bound {bound.type}",
                            "give the bounds and the variable one type",
                            span,
                        )
                if isinstance(item.step, int) and item.step < 1:
                    self.refuse(f"the step of '{item.var.name}' is {item.step}", "count upwards", span)
                self.declare(item.var, span)
                self.known.add(item.var)
                self.block(item.body)
                self.known.discard(item.var)
            case tir.While(condition, body):
                self.condition(condition, span)
                self.block(body)
            case tir.If(condition, then_body, else_body):
                self.condition(condition, span)
                self.block(then_body)
                if else_body is not None:
                    self.block(else_body)
            case tir.MeshScope(mesh, _, body):
                check_scope(self.fn, self.module, mesh, (*self.around, *self.scopes), span)
                self.scopes.append(mesh)
                self.block(body)
                self.scopes.pop()
            case tir.Evaluate():
                self.evaluate(item)
            case tir.DispatchCall():
                check_dispatch(self.fn, item)
                for subject in item.subjects:
                    self.expression(subject, span)
                for call in item.case_calls:
                    self.evaluate(call)
            case tir.Return() | tir.Abort():
                pass
            case _:
                self.refuse(
                    f"a {type(item).__name__} is no statement of a kernel", "use those of tilefoundry.ir.tir", span
                )

    def evaluate(self, item: tir.Evaluate) -> None:
        """Checks an effect, or the call of another function."""
        span, op = item.span, item.callable
        for arg in item.args:
            self.expression(arg, span)
        if isinstance(op, tir.SymbolRef):
            check_call(self.fn, self.module, op, item.args, span)
            return
        if not isinstance(op, tir.EffectOp):
            self.refuse(
                f"{type(op).__name__} is evaluated and has no effect", "bind its value, or evaluate an effect op", span
            )
        self.located(span, lambda: op.infer_type(item.args))
        if isinstance(op, tir.Launch):
            check_launch(self.fn, self.module, item, span)
        for _, mesh in op.attributes():
            if isinstance(mesh, Mesh):
                self.in_scope(mesh, span)
        if isinstance(op, tir.Sync) and op.mesh is not None:
            mesh = op.mesh
            barrier = self.located(span, lambda: classify_sync(mesh, self.named))
            self.named += barrier.kind is BarrierKind.NAMED
        if isinstance(op, tir.Mma) and op.atom is not None:
            self.atom(op.atom, item.args, span)

    def atom(self, atom: tir.MmaAtom, args: Sequence[Expr], span: SourceSpan | None) -> None:
        """A matrix instruction runs in a scope of exactly its shape and strides, which holds its fragments."""
        scope = next((m for m in reversed(self.scopes) if m.topologies[-1].name == "thread"), None)
        layout = scope.layout if scope is not None else None
        layout = getattr(layout, "outer", layout)  # of a slice
        if layout != atom.scope:
            self.refuse(
                f"{atom.name} runs in a mesh scope of the layout {atom.scope}, got {layout or 'none'}",
                f"open one around it: with Mesh((Topology('thread', 32),), Layout({atom.scope.shape}, "
                f"{atom.scope.strides})) as m:",
                span,
            )
        for arg in args:
            assert isinstance(arg.type, TensorType) and isinstance(arg.type.layout, ShardLayout)  # its rule says so
            if arg.type.layout.mesh != scope:
                self.refuse(
                    f"a fragment of {atom.name} is spread over another mesh than the scope's",
                    "give its ShardLayout the mesh of the scope",
                    span,
                )

    # -- expressions

    def expression(self, expr: Expr | int, span: SourceSpan | None) -> None:
        """Checks a value: variables are known, extents are the parameters', nothing is allocated without a name."""
        for part in post_order(expr) if isinstance(expr, Expr) else ():
            match part:
                case Var() if part not in self.known:
                    where = "outside of the block that binds it" if part in self.bound else "and never bound"
                    self.refuse(f"'{part.name}' is used {where}", "bind it in this block or one around it", span)
                case tir.ShapeOf() if part.param not in self.fn.params:
                    self.refuse(
                        f"{part}: '{part.param.name}' is no parameter of '{self.fn.name}'",
                        "take the extent of a parameter",
                        span_of(part.metadata) or span,
                    )
                case DimVar() if part not in self.extents:
                    self.refuse(
                        f"extent '{part.name}' is that of no parameter of '{self.fn.name}'",
                        "declare a parameter that has it on an axis",
                        span,
                    )
                case Call(target=tir.AllocTensor()):
                    self.refuse("memory is allocated without a name", "bind it first: x = T.alloc_tensor(...)", span)
                case Call(target=target) if isinstance(target, tir.ValueOp):
                    self.retyped(part, span)
                case Call(target=target):
                    for _, value in getattr(target, "attributes", tuple)():
                        mesh = getattr(value, "mesh", None)  # of the axis whose coordinate is read
                        if isinstance(mesh, Mesh):
                            self.in_scope(mesh, span_of(part.metadata) or span)

    def extents_known(self, type_: TensorType, span: SourceSpan | None) -> None:
        """What is allocated has extents that the parameters tell."""
        for extent in type_.shape:
            for var in dim_vars(extent):
                if var not in self.extents:
                    self.refuse(
                        f"extent '{var.name}' is that of no parameter of '{self.fn.name}'",
                        "declare a parameter that has it on an axis",
                        span,
                    )

    def retyped(self, call: Call, span: SourceSpan | None) -> None:
        """The rule of an op accepts its operands."""
        self.located(span_of(call.metadata) or span, lambda: call.target.infer_type(call.args, call.metadata))

    def condition(self, condition: Expr, span: SourceSpan | None) -> None:
        """Checks a bool scalar."""
        self.expression(condition, span)
        type_ = condition.type
        if not isinstance(type_, TensorType) or type_.shape or type_.dtype != DType.bool:
            self.refuse(f"a condition has the type {type_}", "compare scalars, which gives a bool scalar", span)

    def integer(self, value: Expr | int, what: str, span: SourceSpan | None) -> None:
        """Checks an integer scalar."""
        self.expression(value, span)
        type_ = type_of(value)
        if isinstance(value, Expr) and (not isinstance(type_, TensorType) or type_.shape or not type_.dtype.is_integer):
            self.refuse(f"{what} has the type {type_}", "use an integer scalar", span)

    def declare(self, var: Var, span: SourceSpan | None) -> None:
        """A variable is bound once."""
        if var in self.bound:
            self.refuse(f"variable '{var.name}' is bound twice", "make a new Var for each binding", span)
        self.bound.add(var)

    def in_scope(self, mesh: Mesh, span: SourceSpan | None) -> None:
        """A mesh is that of an open scope, a slice of it, or nested ones composed."""
        check_mesh(mesh, (*self.around, *self.scopes), span or self.fn.span)

    def located(self, span: SourceSpan | None, check):  # type: ignore[no-untyped-def]  # what `check` gives
        """What `check` gives; its refusals get a place."""
        try:
            return check()
        except VerifyError as error:
            raise error.at(span or self.fn.span) from error.__cause__


def _dtype(scalar: Expr) -> DType | None:
    return scalar.type.dtype if isinstance(scalar.type, TensorType) else None


def _shape(param: Var) -> tuple[Expr | int, ...]:
    return param.type.shape if isinstance(param.type, TensorType) else ()
