"""What the evaluation of every op knows: device, precision, values of the DimVars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import DimSubstitutionError, EvalError
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.spread import Value
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.execution import AS_DECLARED, RunOptions
from tilefoundry.ir.core.expr import Constant, Expr
from tilefoundry.ir.dims import evaluate_dim
from tilefoundry.ir.types import DType, StorageKind, TensorType

__all__ = ["EvalContext", "Value", "is_literal"]


@dataclass(frozen=True)
class EvalContext:
    """One evaluation.

    Attributes:
        exact: compute every float type in f64, so that a cast to a float type does not round.
        bindings: values of the DimVars by name.
        children: the entries of child modules on their weights, by the child's name; None when no weights are read.
        units: who takes part, where the program asks what each unit holds; None where logical tensors say it all.
        options: for the children that are called.
    """

    device: torch.device
    exact: bool
    bindings: Mapping[str, int]
    children: Mapping[str, Callable[..., object]] | None = None
    units: Units | None = None
    options: RunOptions = AS_DECLARED

    def dtype(self, dtype: DType) -> torch.dtype:
        """The torch dtype that values of `dtype` have in this evaluation."""
        return torch.float64 if self.exact and dtype.is_float else torch_dtype(dtype)

    def extent(self, dim: Expr | int) -> int:
        """The value of an extent. Raises EvalError when a DimVar is bound by no input."""
        try:
            return evaluate_dim(dim, self.bindings)
        except DimSubstitutionError as error:
            raise EvalError(error.message, remedy="an extent is known when it is an extent of an input") from error

    def shape(self, type_: TensorType) -> tuple[int, ...]:
        """The concrete shape of a type."""
        return tuple(self.extent(d) for d in type_.shape)

    def tensor(self, value: Value, dtype: DType) -> torch.Tensor:
        """A value as a tensor: an index scalar becomes a rank-0 tensor."""
        if isinstance(value, torch.Tensor):
            return value
        assert isinstance(value, (int, float)), value
        return torch.tensor(value, dtype=self.dtype(dtype), device=self.device)

    def operands(self, args: tuple[Expr | int, ...], values: tuple[Value, ...]) -> list[torch.Tensor]:
        """The operands of an elementwise op as tensors of one dtype: literals adopt the dtype of the others."""
        types = [_dtype(arg) for arg in args]
        firm = [t for arg, t in zip(args, types, strict=True) if not is_literal(arg)]
        chosen = firm[0] if firm else types[0]
        return [
            self.tensor(v, chosen).to(self.dtype(chosen)) if is_literal(arg) else self.tensor(v, t)
            for arg, v, t in zip(args, values, types, strict=True)
        ]


def is_literal(arg: Expr | int) -> bool:
    """Whether an operand is a number written in the program."""
    return isinstance(arg, int) or (
        isinstance(arg, Constant) and isinstance(arg.type, TensorType) and arg.type.storage is StorageKind.UMAT
    )


def _dtype(arg: Expr | int) -> DType:
    if isinstance(arg, int):
        return DType.i64
    assert isinstance(arg.type, TensorType), arg
    return arg.type.dtype
