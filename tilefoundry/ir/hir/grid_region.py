"""GridRegionExpr: a loop whose carries are values."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.diagnostics import VerifyError, WrongTypeError
from tilefoundry.ir.core.expr import Expr, Var, init_expr, type_of
from tilefoundry.ir.core.metadata import Metadata, span_of
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.shard import MeshAxis
from tilefoundry.ir.types.tensor import is_index_type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GridRegionExpr(Expr):
    """For the induction variable = start, start + step, ... below `extent`: carried values become yielded values.

    The value is the carried values after the last iteration (`init_args` when there is none): one tensor for one carry,
    a tuple for several. A loop without carries has the value of `body` in the last iteration.

    Attributes:
        carried_args: the values at the start of an iteration, one Var for each carry.
        body: the value of a loop without carries; None otherwise.
        yield_values: the values at the end of an iteration.
        spread: the iterations are spread over the units of this mesh axis and run in no order.

    Raises:
        VerifyError: the types of a carry's initial, carried and yielded value differ; a bound is malformed.
        WrongTypeError: a field has the wrong type.
    """

    induction_var: Var
    carried_args: tuple[Var, ...]
    init_args: tuple[Expr, ...]
    body: Expr | None
    yield_values: tuple[Expr, ...]
    extent: Dim
    step: Dim = 1
    start: Dim = 0
    spread: MeshAxis | None = None
    metadata: Metadata = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.induction_var, Var) or not is_index_type(self.induction_var.type):
            raise WrongTypeError(
                f"loop: the induction variable must be a Var of an index, got {self.induction_var!r}",
                remedy='write Var("i", INDEX_TYPE)',
            )
        for name in ("carried_args", "init_args", "yield_values"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("extent", "step", "start"):
            bound = getattr(self, name)
            if not (is_dim_operand(bound) and is_index_type(type_of(bound))):
                raise WrongTypeError(
                    f"loop: {name} must be an int or a scalar index, got {bound!r}",
                    remedy="give an int, a DimVar, or arithmetic on these",
                )
            object.__setattr__(self, name, normalize_dim(bound))
        if not all(isinstance(var, Var) for var in self.carried_args):
            raise WrongTypeError(
                f"loop: carried_args must be Vars, got {self.carried_args!r}",
                remedy="give one Var for each carried value",
            )
        if self.spread is not None and not isinstance(self.spread, MeshAxis):
            raise WrongTypeError(
                f"loop: spread must be a MeshAxis, got {self.spread!r}",
                remedy="write MeshAxis(mesh, 0), or leave it out",
            )
        span = span_of(self.metadata)
        if isinstance(self.step, int) and self.step < 1:
            raise VerifyError(
                f"loop over '{self.induction_var.name}': step must be at least 1, got {self.step}",
                remedy="write a positive step",
                span=span,
            )
        if not (len(self.carried_args) == len(self.init_args) == len(self.yield_values)):
            raise WrongTypeError(
                f"loop: {len(self.carried_args)} carried, {len(self.init_args)} initial and {len(self.yield_values)} "
                "yielded values, expected one of each for every carry",
                remedy="give each carry its Var, its initial and its yielded value",
            )
        for var, init, out in zip(self.carried_args, self.init_args, self.yield_values, strict=True):
            self._check_carry(var, init, out)
        init_expr(self, self._value_type(), self.metadata)

    def _check_carry(self, var: Var, init: Expr, out: Expr) -> None:
        for what, value in (("starts as", init), ("becomes", out)):
            if value.type != var.type:
                raise VerifyError(
                    f"loop over '{self.induction_var.name}': '{var.name}' is carried as {var.type} "
                    f"but {what} {value.type}",
                    span=span_of(value.metadata) or span_of(self.metadata),
                    remedy=f"bring '{var.name}' to one type before and inside the loop, with tf.cast or tf.reshard",
                )

    def _value_type(self) -> Type:
        if not self.carried_args:
            if self.body is None:
                raise WrongTypeError(
                    "loop: without carries a body is needed, got None", remedy="give the value of one iteration as body"
                )
            return self.body.type
        if len(self.carried_args) == 1:
            return self.carried_args[0].type
        return TupleType(tuple(v.type for v in self.carried_args))

    def _parts(self) -> tuple[object, ...]:
        bounds = (self.induction_var, self.start, self.extent, self.step)
        return (*bounds, *self.init_args, *((self.body,) if self.body is not None else self.yield_values))

    def _key(self) -> tuple[object, ...]:
        return (
            self.induction_var, self.carried_args, self.init_args, self.body, self.yield_values,
            self.extent, self.step, self.start, self.spread,
        )  # fmt: skip
