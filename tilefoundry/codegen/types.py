"""Types and layouts as C++ text."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Layout,
    Mesh,
    Partial,
    ShardAttr,
    ShardLayout,
    Split,
    Swizzle,
    flatten,
)
from tilefoundry.ir.types import DType, ShapeDim, TensorType

_NAMES = {
    DType.f64: "double",
    DType.f32: "float",
    DType.f16: "half_t",
    DType.bf16: "bfloat16_t",
    DType.fp8e4m3: "float_e4m3_t",
    DType.fp8e5m2: "float_e5m2_t",
    DType.f8e8m0: "float_ue8m0_t",
    DType.i64: "int64_t",
    DType.i32: "int32_t",
    DType.i16: "int16_t",
    DType.i8: "int8_t",
    DType.u8: "uint8_t",
    DType.bool: "bool",
}


def dtype_text(dtype: DType) -> str:
    """The element type.

    Raises:
        CompileError: no C++ type holds such elements.
    """
    if dtype not in _NAMES:
        raise CompileError(f"no kernel holds elements of {dtype}", remedy=f"use one of {', '.join(map(str, _NAMES))}")
    return _NAMES[dtype]


def int_text(value: ShapeDim) -> str:
    """A static extent or stride as a CuTe integer type."""
    if not isinstance(value, int):
        raise CompileError(f"a tile has static extents and strides, got {value}")
    return f"Int<{value}>"


def layout_text(shape: Sequence[ShapeDim], strides: Sequence[ShapeDim]) -> str:
    """A static CuTe layout type."""
    return f"Layout<Shape<{', '.join(map(int_text, shape))}>, Stride<{', '.join(map(int_text, strides))}>>"


def storage_text(layout: Layout) -> str:
    """The layout type of a shared tile: the modes of each axis in turn, outermost first (nested, innermost first)."""
    assert layout.strides is not None  # of shared tiles
    modes = [
        mode
        for extent, stride in zip(layout.shape, layout.strides, strict=True)
        for mode in reversed(tuple(zip(flatten(extent), flatten(stride), strict=True)))
    ]
    return layout_text([extent for extent, _ in modes], [stride for _, stride in modes])


def swizzle_text(type_: TensorType) -> str | None:
    """The permutation of a shared tile's addresses, of bytes; None where there is none."""
    layout = type_.layout
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.inner, Swizzle):
        return None
    base = layout.inner.base + (type_.dtype.storage_bits // 8).bit_length() - 1
    return f"cute::Swizzle<{layout.inner.bits}, {base}, {layout.inner.shift}>"


def logical_text(type_: TensorType) -> str:
    """The C-order layout type over the logical shape of a tensor."""
    strides, step = [], 1
    for extent in reversed(type_.shape):
        strides.append(step)
        step *= extent if isinstance(extent, int) else 0
    return layout_text(type_.shape, tuple(reversed(strides)))


def mesh_text(mesh: Mesh) -> str:
    """A Mesh type."""
    layout = mesh.layout
    if not isinstance(layout, Layout) or layout.strides is None:
        raise CompileError(f"a fragment is held by a whole mesh, got the slice {layout}")
    levels = ", ".join(f"TopologyScope::{topology.name}" for topology in mesh.topologies)
    return f"Mesh<{layout_text(layout.shape, layout.strides)}, {levels}>"


def shard_text(layout: ShardLayout, mesh: str) -> str:
    """A ShardLayout type over a mesh type that has a name."""
    strides = layout.layout.strides
    if strides is None:
        raise CompileError(f"the layout {layout} has no strides yet")
    attrs = ", ".join(_attr_text(attr) for attr in layout.attrs)
    return f"ShardLayout<{layout_text(layout.layout.shape, strides)}, cute::tuple<{attrs}>, {mesh}>"


def _attr_text(attr: ShardAttr) -> str:
    match attr:
        case Split(axis):
            return f"shard::S<{axis}>"
        case Broadcast():
            return "shard::B"
        case Partial(reduction):
            return f"shard::P<op::{reduction}>"
    raise CompileError(f"a {attr} position has no place at compile time")
