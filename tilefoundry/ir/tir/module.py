"""A kernel outside of a Module, as the entry of one."""

from __future__ import annotations

from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import ShardLayout, Topology
from tilefoundry.ir.tir.items import items_within, unfold
from tilefoundry.ir.tir.ops.launch import Launch
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.tir.stmt import Evaluate, MeshScope
from tilefoundry.ir.tir.symbols import SymbolRef
from tilefoundry.ir.types import TensorType


def module_of(fn: PrimFunction) -> Module:
    """A Module of the kernel's name with the kernel as its entry, on the levels that its own meshes name.

    What it calls and launches stays with it (`PrimFunction.callees`). A host function is compiled for the target of
    what it launches.
    """
    levels: dict[str, Topology] = {}
    for item in items_within(unfold(fn.body)):
        if isinstance(item, MeshScope):
            levels.update((level.name, level) for level in item.mesh.topologies)
    for param in fn.params:
        if isinstance(param.type, TensorType) and isinstance(param.type.layout, ShardLayout):
            levels.update((level.name, level) for level in param.type.layout.mesh.topologies)
    ordered = tuple(levels[name] for name in ("cta", "thread") if name in levels)
    launched = _launched(fn)
    targets = {callee.target for callee in fn.callees if callee.name in launched and callee.target is not None}
    target = targets.pop() if len(targets) == 1 else fn.target
    return Module(fn.name, (fn,), fn.name, target=target, topologies=None if launched else ordered)


def _launched(fn: PrimFunction) -> set[str]:
    """The names of what a host function launches."""
    launches = (i for i in items_within(unfold(fn.body)) if isinstance(i, Evaluate) and isinstance(i.callable, Launch))
    return {symbol.name for launch in launches if isinstance(symbol := launch.args[0], SymbolRef)}
