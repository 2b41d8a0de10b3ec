"""The state of one function's lowering, and the few things that every rule does with it.

HIR is a DAG of values, TIR a list of statements. A value is lowered when it is first asked for, into the block that is
open then, and remembered for that block and the blocks inside it. What does not depend on a loop is asked for before
the loop opens (``loops.py``), so loop-invariant tiles are loaded once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import binding_name, span_of
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.hir import GridRegionExpr, Reshard
from tilefoundry.ir.shard import Broadcast, Layout, ShardLayout, flat_modes, per_unit_strides, row_major, with_strides
from tilefoundry.ir.tir import AllocTensor, Binding, EffectOp, Evaluate, Item, ValueOp, view_as
from tilefoundry.ir.types import INDEX_TYPE, StorageKind, TensorType
from tilefoundry.passes.base import every_thread
from tilefoundry.passes.lower.empty import EMPTY, is_empty, without_elements
from tilefoundry.passes.lower.fragments import spread_over
from tilefoundry.passes.lower.own import OwnCopies
from tilefoundry.passes.lower.reach import Reach
from tilefoundry.passes.lower.registry import rule_for
from tilefoundry.passes.lower.uses import Uses
from tilefoundry.passes.lower.values import (
    Carry,
    Chosen,
    Deferred,
    Join,
    Parts,
    Product,
    Ramp,
    Reshaped,
    Scalar,
    Uniform,
    Unplaced,
    Value,
    Window,
)
from tilefoundry.passes.modes import broadcast_type, held
from tilefoundry.passes.names import Names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from tilefoundry.ir.core.module import Module
    from tilefoundry.ir.shard import Mesh
    from tilefoundry.passes.lower.fragments import Modes


class Lowering:
    """Lowers the body of one function.

    Args:
        module: where the function lives; gives the topologies and the target's limits.
        results: what the function returns.
        tensor_cores: whether the target may have them, so that operands lie as these read them.
    """

    def __init__(self, module: Module, results: Iterable[Expr], tensor_cores: bool) -> None:
        self.module = module
        self.tensor_cores = tensor_cores
        results = tuple(results)
        self.uses = Uses(results)
        self.own = OwnCopies(results)
        self.items: list[Item] = []
        self._memo: list[dict[int, tuple[Expr, Value]]] = [{}]
        self._loops_run: list[dict[int, tuple[Carry, ...]]] = [{}]
        self._destinations: dict[int, dict[int, Var]] = {}  # by the identity of a loop
        self._blocks: list[list[Item]] = [self.items]
        self._placed: list[dict[Hashable, Value]] = [{}]
        self.names = Names()
        self.reach = Reach()
        self._seen_in: dict[Var, Var] = {}
        self._expanded: dict[int, tuple[Expr, Expr]] = {}
        self.rows: dict[Mesh, dict[int, Modes]] = {}  # how tiles are spread that hold axes whole, by mesh and extent
        self.several: dict[Hashable, Expr] = {}  # what results of one op are taken from, by the op's call and the tile
        self.loops: dict[int, GridRegionExpr] = {}  # by the identity of the induction variable

    # ---- values -------------------------------------------------------------------------------------------------

    def lower(self, expr: Expr) -> Value:
        """The value of ``expr``, lowered into the open block unless an enclosing block has it already."""
        for scope in reversed(self._memo):
            if (found := scope.get(id(expr))) is not None:
                return found[1]
        value = self._lower(expr)
        self.remember(expr, value)
        return value

    def remember(self, expr: Expr, value: Value) -> None:
        """States the value of ``expr`` for the open block."""
        self._memo[-1][id(expr)] = (expr, value)

    def stands_for(self, call: Call, expanded: Expr) -> None:
        """States the composition that a call is."""
        self._expanded[id(call)] = (call, expanded)

    def expanded(self, expr: Expr) -> Expr:
        """The composition that ``expr`` was expanded into; itself where it was not."""
        while (found := self._expanded.get(id(expr))) is not None:
            expr = found[1]
        return expr

    def placed(self, key: Hashable) -> Value | None:
        """What was stated as placed under a key in an open block, or None."""
        return next((found for scope in reversed(self._placed) if (found := scope.get(key)) is not None), None)

    def remember_placed(self, key: Hashable, value: Value) -> None:
        """States what is placed, for the open block."""
        self._placed[-1][key] = value

    def _lower(self, expr: Expr) -> Value:
        match expr:
            case GridRegionExpr() if is_empty(expr):
                return EMPTY
            case GridRegionExpr():
                if len(expr.carried_args) != 1:
                    self.refuse(
                        expr,
                        f"a loop of {len(expr.carried_args)} carried values is used as one value",
                        remedy="take one of them: tf.tuple_get_item(loop, 0)",
                    )
                return self.value_of_loop(expr, expr, 0)
            case Call(target=target):
                if (value := without_elements(self, expr)) is not None:
                    return value
                rule = rule_for(type(target))  # type: ignore[arg-type]
                if rule is not None:
                    return self._in_its_tile(expr, rule(self, expr))
                if isinstance(target, DimOp):
                    return expr
                name = f"tf.{target.op_name}" if isinstance(target, Op) else type(target).__name__
                self.refuse(expr, f"{name} cannot be compiled yet", remedy="tilefoundry.evaluate runs the program")
            case _ if is_scalar(expr):
                return expr
        self.refuse(
            expr, f"a {type(expr).__name__} has no value here", remedy="pass a tensor, or an element of the tuple"
        )

    def _in_its_tile(self, call: Call, value: Value) -> Value:
        """A value of shared tiles in one of its own, unless registers alone read it, in which it is computed then.

        A number is one that every thread has.
        """
        type_ = call.type
        if (
            not isinstance(value, Deferred)
            or not isinstance(type_, TensorType)
            or type_.storage is not StorageKind.SMEM
        ):
            return value
        if not self.uses.is_authored(call) or self.uses.only_placed(call):
            return value
        op = Reshard(row_major(type_.shape), StorageKind.SMEM)
        if not type_.shape:
            op = Reshard(spread_over(every_thread(self.module)), StorageKind.RMEM)
        self.remember(call, value)  # for the reshard, which computes it
        return self.lower(Call(op, (call,), metadata=call.metadata))

    def carried(self, region: GridRegionExpr) -> tuple[Carry, ...]:
        """What the loop carries, after it has run; the loop is emitted when this is first asked for."""
        from tilefoundry.passes.lower.loops import lower_loop

        for scope in reversed(self._loops_run):
            if (found := scope.get(id(region))) is not None:
                return found
        self._loops_run[-1][id(region)] = carried = lower_loop(self, region, self._destinations.get(id(region)))
        return carried

    def value_of_loop(self, at: Expr, region: GridRegionExpr, index: int) -> Carry:
        """One of the values that the loop carries, after it has run, for what reads it."""
        value = self.carried(region)[index]
        if isinstance(value, Var) and tensor_type(value).storage is StorageKind.GMEM:
            self.refuse(
                at,
                f"'{region.carried_args[index].name}', which a loop fills in global memory, is read in the same kernel",
                remedy="read it in a kernel of its own, or carry what is read again in registers",
            )
        return value

    def destine(self, region: GridRegionExpr, index: int, output: Var) -> None:
        """Says which global tensor a value that the loop carries is."""
        self._destinations.setdefault(id(region), {})[index] = output

    def scalar(self, operand: Expr | int) -> Scalar:
        """A rank-0 operand with the loop variables of HIR replaced by those of TIR."""
        if isinstance(operand, int):
            return operand
        value = self.lower(operand)
        if not isinstance(value, Expr):
            self.refuse(
                operand,
                f"expected a number that every instance knows, got {self.describe(value)}",
                remedy="compute it beside a value in registers, which it is multiplied with or added to, or return it",
            )
        if isinstance(value, Call) and value is operand:
            args = tuple(self.scalar(a) for a in value.args)
            if any(a is not b for a, b in zip(args, value.args, strict=True)):
                return Call(value.target, args, value.type, value.metadata)
        return value

    def fragment(self, expr: Expr, user: Expr | None = None) -> Var:
        """A tensor in registers; anything else is refused, at its user."""
        remedy = "place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem')"
        return self._held(expr, StorageKind.RMEM, user or expr, "a value in registers", remedy)

    def shared(self, expr: Expr, user: Expr | None = None) -> Var:
        """A tile in shared memory; anything else is refused, at its user."""
        remedy = "stage it first: tf.reshard(x, <shape of the tile>, 'smem')"
        return self._held(expr, StorageKind.SMEM, user or expr, "a tile in shared memory", remedy)

    def _held(self, expr: Expr, storage: StorageKind, at: Expr, expected: str, remedy: str) -> Var:
        value = self.lower(expr)
        if not isinstance(value, Var) or tensor_type(value).storage is not storage:
            self.refuse(at, f"expected {expected}, got {self.describe(value)}", remedy=remedy)
        return value

    def describe(self, value: Value) -> str:
        """How a message names a value."""
        match value:
            case Window():
                return f"a window of the global tensor '{value.tensor.name}'"
            case Chosen():
                return f"elements of the global tensor '{value.source.tensor.name}' at run-time indices"
            case Deferred(call=Call(target=Op() as op)):
                return f"a value of tf.{op.op_name} that no mesh holds"
            case Parts():
                return "several values"
            case Uniform() | Ramp() | Join() | Reshaped() | Product():
                return "a value that no mesh holds"
            case Var() if isinstance(value.type, TensorType) and value.type.storage is not None:
                return f"a value in {value.type.storage}"
            case _:
                return "a scalar"

    # ---- statements ---------------------------------------------------------------------------------------------

    def bind(self, hint: str, op: ValueOp, args: tuple[Scalar, ...], type_: TensorType) -> Var:
        """Binds the result of a value op to a fresh name."""
        var = Var(self.names.fresh(hint), type_)
        self.items.append(Binding(var, Call(op, args, type_)))
        self.remember(var, var)
        return var

    def alloc(self, hint: str, type_: TensorType) -> Var:
        """A fresh tensor."""
        type_ = self.held_type(type_)
        return self.bind(hint, AllocTensor(type_), (), type_)

    def held_type(self, type_: TensorType) -> TensorType:
        """How a tensor of this type is held; registers that no mesh is named for are those of every thread."""
        if type_.storage is not StorageKind.RMEM or isinstance(type_.layout, ShardLayout) or not type_.shape:
            return held(type_)
        whole = ShardLayout(Layout(type_.shape, type_.shape), (Broadcast(),), every_thread(self.module))
        return replace(type_, layout=with_strides(whole, per_unit_strides(whole)))

    def view(self, var: Var, type_: TensorType) -> Var:
        """``var``'s storage under another type; ``var`` itself where nothing changes."""
        if type_.storage is StorageKind.RMEM and isinstance(type_.layout, Layout):
            modes = zip(*flat_modes(type_.layout), strict=True)
            whole = ShardLayout(Layout(*map(tuple, modes)), (Broadcast(),), every_thread(self.module))
            type_ = replace(type_, layout=whole)
        if var.type == type_:
            return var
        seen = self.bind(f"{var.name}_view", view_as(type_), (var,), type_)
        self._seen_in[seen] = self.seen_in(var)
        return seen

    def seen_in(self, var: Var) -> Var:
        """The tensor that a view is of; a tensor itself where it is no view."""
        return self._seen_in.get(var, var)

    def named(self, hint: str, value: Scalar) -> Var:
        """A scalar as it is now, by a name of its own."""
        expr = Constant(value, INDEX_TYPE) if isinstance(value, int) else value
        var = Var(self.names.fresh(hint), expr.type)
        self.items.append(Binding(var, expr))
        self.remember(var, var)
        return var

    def broadcast(self, expr: Expr, var: Var, to: TensorType) -> Var:
        """A view of the fragment ``var`` in which each local element of ``to`` has its operand."""
        type_ = broadcast_type(tensor_type(var), self.held_type(to))
        if type_ is None:
            self.refuse(
                expr,
                f"a fragment laid out as {tensor_type(var).layout} cannot be read element by element as {to.layout}",
                remedy="give both operands the same factors on the axes that they share",
            )
        return self.view(var, type_)

    def emit(self, op: EffectOp, *args: Expr | int) -> None:
        """Appends an effect."""
        self.items.append(Evaluate(op, cast("tuple[Expr, ...]", args)))

    def result(self, expr: Expr, hint: str) -> Var:
        """A fresh tensor for the value of ``expr``, named as its author named it."""
        return self.alloc(binding_name(expr) or hint, tensor_type(expr))

    @contextmanager
    def block(self) -> Iterator[list[Item]]:
        """Opens an inner block: what is lowered inside is known inside only."""
        inner: list[Item] = []
        scopes: tuple[list[Any], ...] = (self._memo, self._loops_run, self._placed)
        for scope in scopes:
            scope.append({})
        self._blocks.append(inner)
        self.items = inner
        try:
            yield inner
        finally:
            for scope in scopes:
                scope.pop()
            self._blocks.pop()
            self.items = self._blocks[-1]

    @contextmanager
    def before_loops(self, *needed: Scalar) -> Iterator[None]:
        """Goes back to the outermost open block in which all that some expressions are made of is known.

        What is lowered inside comes before the loops that it does not depend on.
        """
        atoms = {atom for expr in needed if isinstance(expr, Expr) for atom in self.reach.of(expr)}
        depth = max(map(self._known_since, atoms), default=0)
        scopes: tuple[list[Any], ...] = (self._memo, self._loops_run, self._placed, self._blocks)
        inner = [scope[depth + 1 :] for scope in scopes]
        for scope in scopes:
            del scope[depth + 1 :]
        self.items = self._blocks[-1]
        try:
            yield
        finally:
            for scope, rest in zip(scopes, inner, strict=True):
                scope.extend(rest)
            self.items = self._blocks[-1]

    def _known_since(self, var: int) -> int:
        """The depth of the block that knows a Var by its id; that of the innermost one where none says so."""
        return next((depth for depth, scope in enumerate(self._memo) if var in scope), len(self._memo) - 1)

    @property
    def in_loop(self) -> bool:
        """Whether the open block is the body of a loop."""
        return len(self._blocks) > 1

    def refuse(self, at: Expr, message: str, *, remedy: str) -> NoReturn:
        """Raises VerifyError at the place where ``at`` was written."""
        raise VerifyError(message, span=span_of(at.metadata), remedy=remedy)


def tensor_type(expr: Expr) -> TensorType:
    """The type of a tensor-valued expression."""
    if not isinstance(expr.type, TensorType):
        raise VerifyError(
            f"expected a tensor, got {expr.type}",
            span=span_of(expr.metadata),
            remedy="take one element of a tuple: value[0]",
        )
    return expr.type


def is_scalar(expr: Expr) -> bool:
    """Whether ``expr`` is a rank-0 value that needs no place: an index, a literal, a symbolic extent."""
    return isinstance(expr.type, TensorType) and expr.type.shape == () and not isinstance(expr, Tuple)


__all__ = ["Lowering", "Unplaced", "is_scalar", "tensor_type"]
