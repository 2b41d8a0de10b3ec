"""How many elements and bytes the values of a type take."""

from __future__ import annotations

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.evaluate import dim_atoms
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.types.tensor import TensorType, tensor_leaves


def numel(type_: Type) -> int:
    """The number of elements, over all leaves.

    Raises:
        WrongValueError: an extent is symbolic.
    """
    return sum(_numel(leaf) for leaf in tensor_leaves(type_))


def tensor_bytes(type_: Type) -> int:
    """The number of bytes, over all leaves; sub-byte elements are rounded up per leaf.

    Raises:
        WrongValueError: an extent is symbolic.
    """
    return sum(-(-_numel(leaf) * leaf.dtype.bits // 8) for leaf in tensor_leaves(type_))


def _numel(leaf: TensorType) -> int:
    count = dim_product(leaf.shape)
    if not isinstance(count, int):
        symbolic = next(d for d in leaf.shape if not isinstance(d, int))
        names = sorted({a.name for d in leaf.shape for a in dim_atoms(d) if isinstance(a, (Var, DimVar))})
        raise WrongValueError(
            f"{leaf} has the symbolic extent {format_dim(symbolic)}",
            remedy=f"bind {', '.join(names)}, on the command line with {' '.join(f'--dim {n}=EXTENT' for n in names)}",
        )
    return count
