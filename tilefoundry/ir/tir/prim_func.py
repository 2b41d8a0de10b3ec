"""PrimFunction: one kernel or host entry, with explicit output parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.diagnostics import SourceSpan, WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Unchanging, Var
from tilefoundry.ir.core.metadata import Metadata, check_metadata, span_of
from tilefoundry.ir.core.type import CallableType, UnitType
from tilefoundry.ir.tir.stmt import Stmt
from tilefoundry.ir.tir.symbols import ShapeOf
from tilefoundry.ir.types import TensorType
from tilefoundry.target import Target


@dataclass(frozen=True, slots=True)
class PrimFunction(Unchanging):
    """A kernel, or a host function that launches kernels; it returns nothing.

    Attributes:
        params: tensors, and rank-0 inputs that are passed by value. The last `output_count` are written.
        output_count: the number of trailing parameters that are written.
        target: what the function is written for; None leaves that to the Module.
        aliases: (output, input) pairs of names; such an output is the input, updated in place.
        callees: functions outside of the Module that its symbols name.

    Raises:
        WrongTypeError: a field has the wrong type.
        WrongValueError: a parameter name repeats or is that of a hidden parameter, there are fewer parameters than
            outputs, or an alias names no output and input.
    """

    name: str
    params: tuple[Var, ...]
    body: Stmt
    output_count: int = 1
    target: Target | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    callees: tuple[PrimFunction, ...] = field(default=(), repr=False)
    metadata: Metadata = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        what = f"prim_func '{self.name}'"
        if not isinstance(self.name, str) or not self.name:
            raise WrongTypeError(
                f"PrimFunction: name must be a non-empty string, got {self.name!r}", remedy="give it a name"
            )
        if not isinstance(self.params, tuple) or not all(isinstance(p, Var) for p in self.params):
            raise WrongTypeError(
                f"{what}: params must be a tuple of Var, got {self.params!r}", remedy='write (Var("a", type), ...)'
            )
        if not isinstance(self.body, Stmt):
            raise WrongTypeError(
                f"{what}: body must be a statement, got {self.body!r}",
                remedy="give a statement; fold(items) makes one of several",
            )
        if self.target is not None and not isinstance(self.target, Target):
            raise WrongTypeError(
                f"{what}: target must be a Target, got {self.target!r}",
                remedy='write an instance, such as CudaTarget("nvidia.h200_sxm") or CpuTarget()',
            )
        if isinstance(self.output_count, bool) or not isinstance(self.output_count, int):
            raise WrongTypeError(
                f"{what}: output_count must be an int, got {self.output_count!r}",
                remedy="say how many of the last parameters are written",
            )
        if not 0 <= self.output_count <= len(self.params):
            raise WrongValueError(
                f"{what}: output_count is {self.output_count}, and it has {len(self.params)} parameter(s)",
                remedy="outputs are the last parameters; say how many: @prim_func(output_count=...)",
            )
        names = [p.name for p in self.params]
        for name in names:
            if names.count(name) > 1:
                raise WrongValueError(
                    f"{what}: parameter '{name}' is declared twice", remedy="give each parameter a name of its own"
                )
        for extent in self.hidden_params:
            if extent.hidden_name in names:
                raise WrongValueError(
                    f"{what}: parameter '{extent.hidden_name}' has the name of the hidden one that carries {extent}",
                    remedy="give the parameter another name",
                )
        for out, source in self.aliases:
            if out not in [p.name for p in self.outputs] or source not in [p.name for p in self.inputs]:
                raise WrongValueError(
                    f"{what}: inplace '{out}': '{source}' does not pair an output with an input",
                    remedy=f"outputs: {', '.join(p.name for p in self.outputs) or 'none'}; "
                    f"inputs: {', '.join(p.name for p in self.inputs) or 'none'}",
                )
        check_metadata(self.metadata)

    @property
    def inputs(self) -> tuple[Var, ...]:
        """The parameters that are read."""
        return self.params[: len(self.params) - self.output_count]

    @property
    def outputs(self) -> tuple[Var, ...]:
        """The parameters that are written."""
        return self.params[len(self.params) - self.output_count :]

    @property
    def hidden_params(self) -> tuple[ShapeOf, ...]:
        """The dynamic extents, in order; each is carried by an i32 scalar called `ShapeOf.hidden_name`."""
        return hidden_params(self.params)

    @property
    def type(self) -> CallableType:
        """The type of the function as a value."""
        return CallableType(UnitType(), tuple(p.type for p in self.params))

    @property
    def span(self) -> SourceSpan | None:
        """Where the author wrote it, when known."""
        return span_of(self.metadata)


def hidden_params(params: tuple[Var, ...]) -> tuple[ShapeOf, ...]:
    """The dynamic extents of parameters, in order."""
    return tuple(
        ShapeOf(param, axis)
        for param in params
        if isinstance(param.type, TensorType)
        for axis, extent in enumerate(param.type.shape)
        if not isinstance(extent, int)
    )
