"""Converters: functions that make a weight from raw checkpoint tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefoundry.diagnostics import VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.types.tensor import TensorType

if TYPE_CHECKING:
    from tilefoundry.ir.core.expr import Var
    from tilefoundry.ir.core.function import Function


def check_converters(name: str, params: tuple[Var, ...], converters: tuple[tuple[str, Function], ...]) -> None:
    """Checks the converters of the function `name`.

    Raises:
        WrongValueError: one weight has two.
        WrongTypeError, VerifyError: as `check_converter`.
    """
    weights = [weight for weight, _ in converters]
    repeated = next((w for w in weights if weights.count(w) > 1), None)
    if repeated is not None:
        raise WrongValueError(
            f"function '{name}': weight '{repeated}' has two converters",
            remedy="write one converter that takes all the raw tensors it needs",
        )
    for weight, converter in converters:
        check_converter(name, params, weight, converter)


def check_converter(name: str, params: tuple[Var, ...], weight: str, converter: Function) -> None:
    """Checks that `converter` makes the weight that the function `name` declares.

    Raises:
        WrongTypeError: the function has no ConstTensor parameter of this name.
        VerifyError: the converter returns another shape or dtype, or has no body.
    """
    const = {p.name: p.type for p in params if p.is_const}
    if weight not in const:
        known = f"its weights: {', '.join(const)}" if const else "it declares no ConstTensor parameter"
        raise WrongTypeError(f"converter of '{weight}': '{name}' has no weight of this name", remedy=known)
    if converter.body is None:
        raise VerifyError(
            f"converter of weight '{weight}' has no body", span=converter.span, remedy="return the weight"
        )
    made, declared = converter.return_type, const[weight]
    if not (
        isinstance(made, TensorType)
        and isinstance(declared, TensorType)
        and (made.shape, made.dtype) == (declared.shape, declared.dtype)
    ):
        raise VerifyError(
            f"converter of weight '{weight}' returns {made}, '{name}' declares {declared}",
            span=converter.span,
            remedy="return exactly the declared shape and dtype",
        )
