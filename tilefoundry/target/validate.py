"""Do the topologies of a program fit its target?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.target.base import Target


class ProgramTopology(Protocol):
    """A declared level: its name, and its size as an int or a symbolic extent."""

    @property
    def name(self) -> str:
        """The name of the level."""
        ...

    @property
    def size(self) -> object:
        """An int, or anything else for a launch-provided size."""
        ...


def validate_program_topology(topologies: Sequence[ProgramTopology], target: Target) -> None:
    """Refuses levels that the target lacks, in another order than its own, or outside its limits.

    Raises:
        WrongTypeError: `target` is no Target.
        WrongValueError: naming the level, its extent and the limit.
    """
    if not isinstance(target, Target):
        raise WrongTypeError(
            f"validate_program_topology: target must be a Target, got {target!r}",
            remedy='write an instance, such as CudaTarget("nvidia.h200_sxm") or CpuTarget()',
        )
    known = target.topology_levels
    for topology in topologies:
        if topology.name not in known:
            raise WrongValueError(
                f"target '{target.name}' has no topology level '{topology.name}'",
                remedy=f"use {', '.join(known)}; warps and lanes are axes of a thread mesh",
            )
        limit = target.levels[known.index(topology.name)].limit
        if not isinstance(topology.size, int):
            if topology.name != known[0]:
                raise WrongValueError(
                    f"topology '{topology.name}' has the symbolic extent {topology.size}; "
                    f"only '{known[0]}' may be launch-provided",
                    remedy="give a static extent",
                )
            continue
        if topology.size < 1:
            raise WrongValueError(
                f"topology '{topology.name}' has extent {topology.size}, expected at least 1",
                remedy=f'give it the units that the program uses: Topology("{topology.name}", 1) for one',
            )
        if limit is not None and topology.size > limit:
            raise WrongValueError(
                f"topology '{topology.name}' has extent {topology.size}, above the limit {limit} of '{target.name}'",
                remedy=f"use at most {limit}",
            )
    order = [known.index(t.name) for t in topologies]
    if order != sorted(set(order)):
        raise WrongValueError(
            f"topologies {[t.name for t in topologies]} must be distinct and ordered from the outermost: "
            f"{', '.join(known)}",
            remedy="declare each level once, outermost first",
        )
