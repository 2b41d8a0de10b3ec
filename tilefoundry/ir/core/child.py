"""Calls of a child module's entry."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import CallTarget, Expr, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import Metadata
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims.evaluate import dim_vars
from tilefoundry.ir.types import tensor_leaves
from tilefoundry.ir.types.matching import bind_parameters, instantiate_type


@dataclass(frozen=True, slots=True)
class ChildEntry(CallTarget):
    """The entry of a direct child Module, called with its activations: the weights come from the child's reading.

    A child that reaches no weights is not called this way; its entry is elaborated like any function.

    Attributes:
        child: the child's name in the Module that holds the caller.
        function: the child's entry.
    """

    child: str
    function: Function

    @property
    def activations(self) -> tuple[str, ...]:
        """The names of the parameters that a call supplies."""
        return tuple(p.name for p in self.function.params if not p.is_const)

    def label(self) -> str:
        """The name of the child."""
        return self.child

    def infer_type(self, args: tuple[Expr | int, ...], metadata: Metadata = ()) -> Type:
        """The entry's return type under the extents that the activations give to its DimVars.

        Raises:
            VerifyError: the number of activations is wrong, one does not fit its parameter, or they leave an extent of
                the result open.
        """
        params = [p for p in self.function.params if not p.is_const]
        if len(args) != len(params):
            raise VerifyError(
                f"child '{self.child}' takes {len(params)} activation(s) ({', '.join(self.activations)}), "
                f"got {len(args)}",
                remedy="leave the weights out: they come from the child's own reading",
            )
        bindings = bind_parameters(
            f"child '{self.child}'", [(p.name, p.type) for p in params], [type_of(arg) for arg in args]
        )
        result = self.function.return_type
        known = {v.name for var in bindings for v in dim_vars(var)}
        loose = sorted({v.name for leaf in tensor_leaves(result) for d in leaf.shape for v in dim_vars(d)} - known)
        if loose:
            raise VerifyError(
                f"child '{self.child}': no activation tells the extent {', '.join(loose)} of its result",
                remedy="make extents that only weights have static",
            )
        return instantiate_type(result, bindings)
