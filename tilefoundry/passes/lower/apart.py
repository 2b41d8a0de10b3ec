"""Copies of a fragment that differ from thread to thread, side by side: as one fragment that has more axes.

What puts elements of several threads into one place then does so for each thread apart.
"""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.shard import Broadcast, Layout, MeshAxis, ShardAttr, ShardLayout, Split, flatten
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.base import every_thread
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.own import Axes


def apart(ctx: Lowering, at: Call, fragment: Var, axes: Axes) -> Var:
    """A fragment with a leading axis for each mesh axis along which threads have copies of their own; split over it."""
    type_ = tensor_type(fragment)
    split = _split_over(type_)
    axes -= split
    if not axes:
        return fragment
    layout = type_.layout
    assert isinstance(layout, ShardLayout) and layout.layout.strides is not None  # of a fragment
    mesh = layout.mesh
    meshes = {axis.mesh for axis in axes}
    if not split:  # all threads hold it whole, on whatever mesh
        one = len(meshes) == 1
        mesh = meshes.pop() if one else every_thread(ctx.module)
        numbers = sorted(axis.axis for axis in axes) if one else [0]
        attrs: list[ShardAttr] = [Broadcast()] * mesh.rank
    elif meshes == {mesh}:
        attrs, numbers = list(layout.attrs), sorted(axis.axis for axis in axes)
    else:
        other = next(axis for axis in axes if axis.mesh != mesh)
        ctx.refuse(
            at,
            f"threads differ on this value along '{other.name}', and it is split over another mesh",
            remedy="name one mesh of the threads, and use its axes for both",
        )
    count = len(numbers)
    attrs = [Split(attr.axis + count) if isinstance(attr, Split) else attr for attr in attrs]
    for position, number in enumerate(numbers):
        attrs[number] = Split(position)
    extents = tuple(mesh.shape[number] for number in numbers)
    modes = Layout((*extents, *layout.shape), (*(0,) * count, *flatten(layout.layout.strides)))
    own = ShardLayout(modes, tuple(attrs), mesh)
    return ctx.view(fragment, TensorType((*extents, *type_.shape), type_.dtype, own, type_.storage))


def _split_over(type_: TensorType) -> Axes:
    layout = type_.layout
    if not isinstance(layout, ShardLayout):
        return frozenset()
    return frozenset(MeshAxis(layout.mesh, n) for n, attr in enumerate(layout.attrs) if isinstance(attr, Split))
