"""Checks the inputs of an evaluation against the declared parameters; nothing is cast or moved."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilefoundry.diagnostics import EvalError, EvalValueError
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims import Dim, DimVar, dim_vars, evaluate_dim, linear_in
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.types import TensorType

_NAMES = {value: key for key, value in TORCH.items()}


def check_inputs(
    function: Function, inputs: tuple[object, ...], device: torch.device | None, *, widened: bool = False
) -> list[torch.Tensor]:
    """The inputs as tensors: a Python number of the declared kind serves as a rank-0 input.

    Args:
        widened: floats may also come in f64, whatever is declared.

    Raises:
        EvalError: wrong number, kind, dtype, rank or extent.
        EvalValueError: more than one device.
    """
    names = ", ".join(p.name for p in function.params)
    if len(inputs) != len(function.params):
        raise EvalError(
            f"'{function.name}' takes {len(function.params)} input(s) ({names}), got {len(inputs)}",
            remedy="give one input for each declared parameter, weights included",
        )
    devices = {p.name: x.device for p, x in zip(function.params, inputs, strict=True) if isinstance(x, torch.Tensor)}
    if device is not None:
        devices = {f"device={device}": device, **devices}
    if len(set(devices.values())) > 1:
        raise EvalValueError(
            f"'{function.name}': inputs lie on more than one device: "
            f"{', '.join(f'{name}: {where}' for name, where in devices.items())}",
            remedy="move them to one device; nothing is moved silently",
        )
    chosen = next(iter(devices.values()), torch.device("cpu"))
    return [_check(function, p, x, chosen, widened) for p, x in zip(function.params, inputs, strict=True)]


def _check(function: Function, param: Var, value: object, device: torch.device, widened: bool) -> torch.Tensor:
    where = f"'{function.name}': input '{param.name}'"
    declared = param.type
    if not isinstance(declared, TensorType):
        raise EvalError(
            f"{where} is declared as {declared}, expected a tensor type",
            remedy="declare each parameter as one Tensor[...]",
        )
    if isinstance(value, (bool, int, float)) and not declared.shape:
        kind = bool if declared.dtype.name == "bool" else float if declared.dtype.is_float else int
        if type(value) is kind or (kind is float and type(value) is int):
            return torch.tensor(value, dtype=torch_dtype(declared.dtype), device=device)
        raise EvalError(
            f"{where}: expected a Python {kind.__name__} or a 0-d tensor of {declared.dtype}, got {value!r}",
            remedy="convert the value",
        )
    if not isinstance(value, torch.Tensor):
        raise EvalError(
            f"{where}: expected a torch.Tensor of {declared.dtype}, got {type(value).__name__}",
            remedy="make a tensor of it: torch.tensor(value, dtype=...)",
        )
    try:
        value.untyped_storage()
    except NotImplementedError as error:  # inside of torch.vmap, torch.func.grad and the like
        raise EvalError(
            f"{where} is a tensor that torch transforms, which has no memory of its own",
            remedy="evaluate outside of torch.vmap and torch.func; write the batch as an axis of the program",
        ) from error
    if value.dtype != torch_dtype(declared.dtype) and not (
        widened and declared.dtype.is_float and value.dtype == torch.float64
    ):
        raise EvalError(
            f"{where}: expected dtype {declared.dtype}, got {_NAMES.get(value.dtype, value.dtype)}",
            remedy=f"convert it: x.to({torch_dtype(declared.dtype)})",
        )
    if value.dim() != len(declared.shape):
        raise EvalError(
            f"{where}: expected rank {len(declared.shape)} ({declared}), got rank {value.dim()} {tuple(value.shape)}",
            remedy="reshape it, or declare another rank",
        )
    return value


def bind_extents(function: Function, inputs: list[torch.Tensor]) -> dict[str, int]:
    """The value of each DimVar, from the extents of the inputs.

    Raises:
        EvalError: two inputs give one DimVar different values, a value lies outside its envelope, or a static or
            computed extent differs.
    """
    bound: dict[str, tuple[int, str]] = {}
    axes: list[tuple[Dim, int, str]] = []
    for param, value in zip(function.params, inputs, strict=True):
        assert isinstance(param.type, TensorType)
        for axis, (dim, extent) in enumerate(zip(param.type.shape, value.shape, strict=True)):
            axes.append((dim, extent, f"'{param.name}' axis {axis}"))
    # A DimVar is an axis by itself where there is one; what is left comes out of a*v + b.
    for dim, extent, place in axes:
        if isinstance(dim, DimVar):
            _bind(bound, dim, extent, place)
    for dim, extent, place in axes:
        linear = linear_in(dim)
        if linear is not None and linear[0].name not in bound:
            var, scale, offset = linear
            if (extent - offset) % scale:
                raise EvalError(
                    f"{place}: expected extent {format_dim(dim)}, got {extent}, which no '{var.name}' gives",
                    remedy="give an input of the declared extent",
                )
            _bind(bound, var, (extent - offset) // scale, place)
    values = {name: extent for name, (extent, _) in bound.items()}
    for param, value in zip(function.params, inputs, strict=True):
        assert isinstance(param.type, TensorType)
        for axis, (dim, extent) in enumerate(zip(param.type.shape, value.shape, strict=True)):
            if all(var.name in values for var in dim_vars(dim)) and evaluate_dim(dim, values) != extent:
                raise EvalError(
                    f"'{param.name}' axis {axis}: expected extent {format_dim(dim)}"
                    f"{'' if isinstance(dim, int) else f' = {evaluate_dim(dim, values)}'}, got {extent}",
                    remedy="give an input of the declared extent",
                )
    return values


def _bind(bound: dict[str, tuple[int, str]], dim: DimVar, extent: int, place: str) -> None:
    known, where = bound.setdefault(dim.name, (extent, place))
    if known != extent:
        raise EvalError(
            f"inconsistent binding of '{dim.name}': {known} by {where}, {extent} by {place}",
            remedy="give inputs of one extent, or declare two DimVars",
        )
    if not dim.lo <= extent < dim.hi:
        raise EvalError(
            f"{place}: '{dim.name}' = {extent} lies outside its envelope [{dim.lo}, {dim.hi})",
            remedy="stay inside of the envelope, or widen it: DimVar(name, lo, hi)",
        )


def check_served(function: Function, extents: Mapping[str, int]) -> None:
    """Refuses to evaluate a variant for extents that it does not serve.

    Raises:
        EvalError: an extent lies outside of the variant's range.
    """
    for pattern in function.specializations:
        extent = extents.get(pattern.dim_var)
        if extent is None or not pattern.lo <= extent < pattern.hi:
            raise EvalError(
                f"this variant of '{function.name}' serves '{pattern.dim_var}' in [{pattern.lo}, {pattern.hi}), "
                f"got {extent}",
                remedy=f"evaluate '{function.name}' itself, which selects the variant",
            )
