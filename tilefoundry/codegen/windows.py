"""Views of tensors in kernels that are written in TIR: where a window starts, and what the host must demand for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.shard import Layout, flat_modes, row_major
from tilefoundry.ir.types import TensorType
from tilefoundry.runtime.abi import ParamABI, param_abi_of


def contiguous_abi(kernel: tir.PrimFunction) -> tuple[ParamABI, ...]:
    """The parameters of a kernel; one that is viewed under other strides must lie row-major.

    The strides of a view are steps in the tensor's storage, so they mean something for one order of elements only.
    """
    viewed = {
        item.value.args[0]
        for item in tir.items_within(tir.unfold(kernel.body))
        if isinstance(item, tir.Binding)
        and isinstance(item.value, Call)
        and isinstance(item.value.target, (tir.TensorView, tir.PtrOf))
    }
    return tuple(_row_major(param_abi_of(p)) if p in viewed else param_abi_of(p) for p in kernel.params)


def _row_major(param: ParamABI) -> ParamABI:
    type_ = param.type
    return param if type_.layout is not None else replace(param, type=replace(type_, layout=row_major(type_.shape)))


def start_text(memory: Var, at: Sequence[Expr | int], scalar: Callable[[Expr | int], str]) -> str:
    """The number of elements from the first one of `memory` to the one at a coordinate."""
    type_ = memory.type
    assert isinstance(type_, TensorType)
    layout = type_.layout if isinstance(type_.layout, Layout) else row_major(type_.shape)
    terms = []
    for coordinate, (_, stride) in zip(at, flat_modes(layout), strict=True):
        if _is_zero(coordinate) or stride == 0:
            continue
        terms.append(f"static_cast<int64_t>({scalar(coordinate)}) * {scalar(stride)}")
    return " + ".join(terms) or "int64_t{0}"


def _is_zero(coordinate: Dim) -> bool:
    return coordinate == 0 or (isinstance(coordinate, Constant) and coordinate.value == 0)
