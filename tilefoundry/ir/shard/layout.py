"""Layouts: from a logical coordinate to an element index, as shape and strides (the flat core of CuTe's layouts)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tilefoundry.diagnostics import NotProjectable, WrongTypeError, WrongValueError
from tilefoundry.ir.dims.arith import dim_add, dim_mul, dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.shard.swizzle import Swizzle

IntTuple = tuple[Any, ...]  # of extents (`Dim`), and of tuples nested likewise


@dataclass(frozen=True, slots=True)
class LayoutBase:
    """Base of `Layout` and `ComposedLayout`."""


@dataclass(frozen=True, slots=True)
class Layout(LayoutBase):
    """Shape and strides, both nested alike; no offset.

    Attributes:
        strides: in elements. None means "not decided": a Reshard decides them; the algebra reads them as the prefix
            product of the shape (column-major). ``()`` with shape ``()`` is a scalar.

    Raises:
        WrongTypeError: a shape or stride is neither an extent nor a tuple.
        WrongValueError: the two are nested differently, or an extent is negative.
    """

    shape: IntTuple
    strides: IntTuple | None = None

    def __post_init__(self) -> None:
        shape = _normalized("shape", self.shape)
        object.__setattr__(self, "shape", shape)
        for extent in flatten(shape):
            if isinstance(extent, int) and extent < 0:
                raise WrongValueError(
                    f"Layout: extents must not be negative, got {self.shape}", remedy="write extents of 0 or more"
                )
        if self.strides is not None:
            strides = _normalized("strides", self.strides)
            if not _congruent(shape, strides):
                raise WrongValueError(
                    f"Layout: shape {self.shape} and strides {self.strides} are nested differently",
                    remedy="nest the strides as the shape: Layout((4, 8), (8, 1))",
                )
            object.__setattr__(self, "strides", strides)

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return len(self.shape)

    def __str__(self) -> str:
        return f"{format_int_tuple(self.shape)}:{format_int_tuple(self.strides) if self.strides is not None else '?'}"


@dataclass(frozen=True, slots=True)
class ComposedLayout(LayoutBase):
    """``index = inner(offset + outer(coord))``; None is the identity. The shape is the outer's, else the inner's.

    A Swizzle as inner permutes the indices of the outer layout.
    """

    inner: Layout | Swizzle | None
    offset: Dim
    outer: Layout | None

    def __post_init__(self) -> None:
        if self.inner is not None and not isinstance(self.inner, (Layout, Swizzle)):
            raise WrongTypeError(
                f"ComposedLayout: inner must be a Layout, a Swizzle or None, got {self.inner!r}",
                remedy="write None for the identity",
            )
        if self.outer is not None and not isinstance(self.outer, Layout):
            raise WrongTypeError(
                f"ComposedLayout: outer must be a Layout or None, got {self.outer!r}",
                remedy="write None for the identity",
            )
        if not isinstance(self.inner, Layout) and self.outer is None:
            raise WrongValueError(
                f"ComposedLayout: inner is {self.inner} and outer None, expected at least one layout",
                remedy="give an inner or an outer layout",
            )
        object.__setattr__(self, "offset", normalize_dim(self.offset))

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain."""
        layout = self.outer if self.outer is not None else self.inner
        assert isinstance(layout, Layout)  # checked above
        return layout.shape

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.inner or 'id'} o {format_dim(self.offset)} o {self.outer or 'id'}"


def check_shape(what: str, shape: object) -> tuple[Dim, ...]:
    """A flat shape as a tuple.

    Raises:
        WrongTypeError: not a tuple or list of plain ints and dims.
    """
    if not isinstance(shape, (tuple, list)) or not all(is_dim_operand(extent) for extent in shape):
        raise WrongTypeError(
            f"{what}: shape must be a tuple of ints and dims, got {shape!r}", remedy="write e.g. (4, 32)"
        )
    return tuple(shape)


def flatten(value: Dim | IntTuple) -> tuple[Dim, ...]:
    """The leaves of a nested tuple, left to right."""
    return tuple(_leaves(value))


def _leaves(value: Dim | IntTuple) -> Iterator[Dim]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def natural_strides(shape: IntTuple) -> IntTuple:
    """The strides that an omitted argument means in the algebra: prefix products, leftmost fastest."""
    strides, _ = _prefix(shape, 1)
    return strides


def _prefix(shape: IntTuple, step: Dim) -> tuple[IntTuple, Dim]:
    result: list[Dim | IntTuple] = []
    for part in shape:
        if isinstance(part, tuple):
            inner, step = _prefix(part, step)
            result.append(inner)
        else:
            result.append(step)
            step = dim_mul(step, part)
    return tuple(result), step


def flat_modes(layout: Layout) -> tuple[tuple[Dim, Dim], ...]:
    """(extent, stride) of each leaf, left to right.

    Raises:
        WrongTypeError: it is no plain layout.
    """
    if not isinstance(layout, Layout):
        raise WrongTypeError(f"expected a Layout, got {layout!r}", remedy="write Layout(shape, strides)")
    strides = layout.strides if layout.strides is not None else natural_strides(layout.shape)
    return tuple(zip(flatten(layout.shape), flatten(strides), strict=True))


def c_order_strides(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Row-major strides of a flat shape: the last axis is contiguous. Symbolic extents give symbolic strides."""
    strides: list[Dim] = []
    step: Dim = 1
    for extent in reversed(check_shape("c_order_strides", shape)):
        strides.append(step)
        step = dim_mul(step, extent)
    return tuple(reversed(strides))


def try_c_order_strides(shape: Sequence[Dim]) -> tuple[int, ...] | None:
    """Row-major strides, or None when an extent is not a plain int."""
    if not all(isinstance(extent, int) for extent in check_shape("try_c_order_strides", shape)):
        return None
    return tuple(s for s in c_order_strides(shape) if isinstance(s, int))


def row_major(shape: Sequence[Dim]) -> Layout:
    """The row-major layout of a flat shape."""
    return Layout(tuple(shape), c_order_strides(shape))


def size(layout: LayoutBase) -> Dim:
    """The number of coordinates."""
    return dim_product(flatten(_shape(layout)))


def cosize(layout: Layout) -> int:
    """One more than the greatest index; 0 of an empty layout. Needs static extents and non-negative strides."""
    if size(layout) == 0:
        return 0
    return 1 + sum((e - 1) * s for e, s in static_modes(layout))


def static_modes(layout: Layout) -> tuple[tuple[int, int], ...]:
    """`flat_modes` of a layout without symbolic extents.

    Raises:
        NotProjectable: an extent or stride is symbolic.
    """
    modes: list[tuple[int, int]] = []
    for extent, stride in flat_modes(layout):
        if not (isinstance(extent, int) and isinstance(stride, int)):
            raise NotProjectable(f"layout {layout} has symbolic modes", remedy="bind its extents first")
        modes.append((extent, stride))
    return tuple(modes)


def idx2crd(index: int, shape: IntTuple) -> tuple[int, ...]:
    """The flat coordinate of a linear index, leftmost fastest (column-major, as CuTe)."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise WrongTypeError(f"idx2crd: the index must be a plain int, got {index!r}", remedy="bind it first")
    coordinate: list[int] = []
    for extent in flatten(shape):
        if not isinstance(extent, int):
            raise NotProjectable(f"idx2crd: shape {shape} is symbolic", remedy="bind its extents first")
        if extent == 0:
            raise WrongValueError(f"idx2crd: the shape {shape} holds no coordinate", remedy="give extents of 1 or more")
        coordinate.append(index % extent)
        index //= extent
    if index:
        raise WrongValueError(
            f"idx2crd: the index lies outside the shape {shape}", remedy="keep the index below the size of the shape"
        )
    return tuple(coordinate)


def crd2idx(coordinate: Sequence[Any], layout: Layout) -> Dim:
    """The index that a layout gives to a coordinate.

    Args:
        coordinate: one entry for each leaf of the shape; or nested as the shape is, where an int may stand for a nested
            mode and counts through it, leftmost fastest.

    Raises:
        WrongValueError: the coordinate has another form.
        NotProjectable: an int stands for a nested mode of symbolic extents.
    """
    if not isinstance(layout, Layout):
        raise WrongTypeError(f"crd2idx: expected a Layout, got {layout!r}", remedy="write Layout(shape, strides)")
    if not isinstance(coordinate, (tuple, list)):
        raise WrongTypeError(f"crd2idx: the coordinate must be a tuple, got {coordinate!r}", remedy="write e.g. (0, 3)")
    strides = layout.strides if layout.strides is not None else natural_strides(layout.shape)
    nested = any(isinstance(c, tuple) for c in coordinate) or len(coordinate) != len(flatten(layout.shape))
    if nested:
        return _nested_index(layout, tuple(coordinate), layout.shape, strides)
    result: Dim = 0
    for c, stride in zip(coordinate, flatten(strides), strict=True):
        result = dim_add(result, dim_mul(c, stride))
    return result


def _nested_index(layout: Layout, coordinate: IntTuple, shape: IntTuple, strides: IntTuple) -> Dim:
    if len(coordinate) != len(shape):
        raise WrongValueError(
            f"crd2idx: {len(coordinate)} entries for the {len(shape)} modes of {format_int_tuple(shape)} in {layout}",
            remedy="give one entry for each mode, or one for each leaf",
        )
    result: Dim = 0
    for c, extent, stride in zip(coordinate, shape, strides, strict=True):
        if isinstance(extent, tuple):
            inner = c if isinstance(c, tuple) else idx2crd(c, extent)
            whole = Layout(extent, stride)
            result = dim_add(result, crd2idx(inner, whole))
        elif isinstance(c, tuple):
            raise WrongValueError(
                f"crd2idx: {c} stands for the mode {format_dim(extent)} of {layout}, expected an int",
                remedy="give one int for each mode",
            )
        else:
            result = dim_add(result, dim_mul(c, stride))
    return result


def apply(layout: LayoutBase, coordinate: Sequence[Any] | int) -> Dim:
    """The index of a coordinate (see `crd2idx`), or of a linear index."""
    if isinstance(layout, ComposedLayout):
        inner = apply(layout.outer, coordinate) if layout.outer is not None else coordinate
        assert isinstance(inner, int) or is_dim_operand(inner)
        moved = dim_add(layout.offset, inner)  # type: ignore[arg-type]  # a Dim, as asserted
        if layout.inner is None:
            return moved
        if not isinstance(moved, int):
            raise NotProjectable(f"apply: index of {layout} is symbolic", remedy="bind its extents first")
        return layout.inner(moved) if isinstance(layout.inner, Swizzle) else apply(layout.inner, moved)
    if not isinstance(layout, Layout):
        raise WrongTypeError(f"expected a layout, got {layout!r}", remedy="write Layout(shape, strides)")
    return crd2idx(idx2crd(coordinate, layout.shape) if isinstance(coordinate, int) else coordinate, layout)


def is_injective(layout: LayoutBase) -> bool:
    """Whether no two coordinates have one index. Needs static extents.

    Strides that step over everything below them are recognised at once, and so are more coordinates than indices;
    other layouts are enumerated.

    Raises:
        NotProjectable: an extent or stride is symbolic.
    """
    plain = layout.outer if isinstance(layout, ComposedLayout) and layout.inner is None else layout
    if isinstance(plain, Layout):
        modes = [(extent, abs(stride)) for extent, stride in static_modes(plain) if extent != 1]
        below, nested = 0, True
        for extent, stride in sorted(modes, key=lambda m: m[1]):
            nested = nested and stride > below
            below += (extent - 1) * stride
        if nested or math.prod(extent for extent, _ in modes) == 0:
            return True
        if math.prod(extent for extent, _ in modes) > below + 1:
            return False
    count = math.prod(e for e in flatten(_shape(layout)) if isinstance(e, int))
    return len({apply(layout, i) for i in range(count)}) == count


def known_injective(layout: LayoutBase) -> bool:
    """Whether nothing is known against a layout being injective: symbolic ones, and those without strides, pass."""
    layouts = (layout.inner, layout.outer) if isinstance(layout, ComposedLayout) else (layout,)
    for part in layouts:
        if isinstance(part, Layout) and part.strides is not None:
            modes = flat_modes(part)
            if all(isinstance(e, int) and isinstance(s, int) for e, s in modes) and not is_injective(part):
                return False
    return True


def _shape(layout: LayoutBase) -> IntTuple:
    if not isinstance(layout, (Layout, ComposedLayout)):
        raise WrongTypeError(f"expected a layout, got {layout!r}", remedy="write Layout(shape, strides)")
    return layout.shape


def _normalized(what: str, value: object) -> IntTuple:
    parts = value if isinstance(value, (tuple, list)) else (value,)
    result: list[Dim | IntTuple] = []
    for part in parts:
        if isinstance(part, (tuple, list)):
            result.append(_normalized(what, part))
        elif is_dim_operand(part):
            result.append(normalize_dim(part))
        elif part is None:
            raise WrongValueError(
                f"Layout: {what} {value}: every extent must be explicit, got None", remedy="write an int or a DimVar"
            )
        else:
            raise WrongTypeError(
                f"Layout: {what} must hold plain ints, dims and tuples of them, got {part!r}",
                remedy="write e.g. Layout((4, 8), (8, 1))",
            )
    return tuple(result)


def _congruent(a: IntTuple, b: IntTuple) -> bool:
    return len(a) == len(b) and all(
        (isinstance(x, tuple) == isinstance(y, tuple)) and (not isinstance(x, tuple) or _congruent(x, y))
        for x, y in zip(a, b, strict=True)
    )


def format_int_tuple(value: Dim | IntTuple) -> str:
    """A nested tuple as text."""
    if isinstance(value, tuple):
        return f"({','.join(format_int_tuple(v) for v in value)}{',' if len(value) == 1 else ''})"
    return format_dim(value)


EMPTY_LAYOUT = Layout((), ())
