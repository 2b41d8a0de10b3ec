"""What programs are compiled for: topology levels, limits, architecture and device facts."""

from tilefoundry.target.base import Target, TopologyLevel, register_target, target_class, target_names
from tilefoundry.target.cpu import CpuTarget
from tilefoundry.target.cuda import CudaTarget
from tilefoundry.target.document import Document, Fact
from tilefoundry.target.validate import validate_program_topology


def default_target() -> Target:
    """The target of a program that declares none."""
    return CudaTarget("nvidia.h200_sxm")


__all__ = [
    "CpuTarget",
    "CudaTarget",
    "Document",
    "Fact",
    "Target",
    "TopologyLevel",
    "default_target",
    "register_target",
    "target_class",
    "target_names",
    "validate_program_topology",
]
