"""Function: a semantic program from parameters to a value."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tilefoundry.diagnostics import SourceSpan, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.converters import check_converters
from tilefoundry.ir.core.expr import CallTarget, Expr, Var, type_of
from tilefoundry.ir.core.metadata import Metadata, check_metadata, span_of
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.core.type import CallableType, Type
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.types.dim_vars import type_dim_vars
from tilefoundry.ir.types.matching import bind_parameters, bind_type, instantiate_type


@dataclass(frozen=True, slots=True)
class Function(CallTarget):
    """A function of HIR.

    Attributes:
        body: the value, a DAG over `params`; None for a prototype, which has variants.
        specializations: the extents that a variant serves.
        variants: functions with the same parameters and return type, each for a range of one DimVar.
        converters: (weight name, function) pairs that make a weight from raw checkpoint tensors.

    Raises:
        WrongTypeError, WrongValueError: a field is malformed, a parameter name repeats, or a converter's weight is no
            ConstTensor parameter or has two.
        VerifyError: the body does not have the declared return type, a converter not its weight's, or one name stands
            for DimVars of two envelopes.
    """

    name: str
    params: tuple[Var, ...]
    body: Expr | None = field(repr=False)  # a DAG: its repr would print shared parts again and again
    return_type: Type
    specializations: tuple[DimVarRangePat, ...] = ()
    variants: tuple[Function, ...] = ()
    converters: tuple[tuple[str, Function], ...] = ()
    metadata: Metadata = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise WrongTypeError(
                f"Function: name must be a non-empty string, got {self.name!r}", remedy="give it a name"
            )
        if not isinstance(self.params, tuple) or not all(isinstance(p, Var) for p in self.params):
            raise WrongTypeError(
                f"function '{self.name}': params must be a tuple of Var, got {self.params!r}",
                remedy='write (Var("x", type), ...)',
            )
        names = [p.name for p in self.params]
        repeated = next((n for n in names if names.count(n) > 1), None)
        if repeated is not None:
            raise WrongValueError(
                f"function '{self.name}': parameter '{repeated}' is declared twice",
                remedy="give each parameter a name of its own",
            )
        if not isinstance(self.return_type, Type):
            raise WrongTypeError(
                f"function '{self.name}': return_type must be a Type, got {self.return_type!r}",
                remedy="give the type of its value: body.type",
            )
        check_metadata(self.metadata)
        _check_envelopes(self)
        check_converters(self.name, self.params, self.converters)
        if self.body is not None and not bind_type(self.return_type, self.body.type, None):
            raise VerifyError(
                f"function '{self.name}' is declared to return {self.return_type}, but its value is {self.body.type}",
                span=span_of(self.body.metadata) or self.span,
                remedy="change the annotation, or cast, reshape or reshard the value",
            )

    def cloned(self) -> Function:
        """Another Function of the same meaning, with variants and converters of its own; expressions are shared."""
        return replace(
            self,
            variants=tuple(variant.cloned() for variant in self.variants),
            converters=tuple((weight, converter.cloned()) for weight, converter in self.converters),
        )

    @property
    def type(self) -> CallableType:
        """The type of the function as a value."""
        return CallableType(self.return_type, tuple(p.type for p in self.params))

    @property
    def span(self) -> SourceSpan | None:
        """Where the author wrote it, when known."""
        return span_of(self.metadata)

    @property
    def is_prototype(self) -> bool:
        """Whether it has no body of its own."""
        return self.body is None

    def label(self) -> str:
        """The name."""
        return self.name

    def infer_type(self, args: tuple[Expr | int, ...], metadata: Metadata = ()) -> Type:
        """The type of a call: the return type under the extents that the arguments give to the DimVars.

        Raises:
            VerifyError: the number of arguments is wrong, or one does not fit its parameter.
        """
        if len(args) != len(self.params):
            names = ", ".join(p.name for p in self.params)
            raise VerifyError(
                f"{self.name}: expected {len(self.params)} argument(s) ({names}), got {len(args)}",
                remedy="give one argument for each parameter",
            )
        params = [(param.name, param.type) for param in self.params]
        return instantiate_type(self.return_type, bind_parameters(self.name, params, [type_of(arg) for arg in args]))

    def sealed(self) -> Function:
        """This function, complete: what a Module holds and another function calls. (The front end has drafts.)"""
        return self

    def specialize(self, *args: object) -> NoReturn:
        """Refuses: a Function is complete. In the body of a class, ``@func`` functions take variants."""
        self._sealed("variants")

    def converter(self, *args: object) -> NoReturn:
        """Refuses: a Function is complete. In the body of a class, ``@func`` functions take converters."""
        self._sealed("converters")

    def _sealed(self, what: str) -> NoReturn:
        raise WrongTypeError(
            f"function '{self.name}' is sealed and takes no further {what}",
            span=SourceSpan.of_call(sys._getframe(2)),
            remedy=f"write it and its {what} in the class body of a @module",
        )


def _check_envelopes(fn: Function) -> None:
    """One name is one DimVar in a signature."""
    known: dict[str, DimVar] = {}
    for param, type_ in (*((p, p.type) for p in fn.params), (None, fn.return_type)):
        for var in sorted(type_dim_vars(type_), key=lambda v: (v.name, v.lo, v.hi)):
            first = known.setdefault(var.name, var)
            if first is not var:
                raise VerifyError(
                    f"function '{fn.name}': inconsistent bounds of '{var.name}' in one signature: "
                    f"[{first.lo}, {first.hi}) and [{var.lo}, {var.hi})",
                    span=(span_of(param.metadata) if param is not None else None) or fn.span,
                    remedy="use one DimVar object for both",
                )
