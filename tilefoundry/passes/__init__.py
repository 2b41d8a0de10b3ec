"""Passes: IR to IR. One pass, one file; none of them knows torch."""

from tilefoundry.passes.base import KernelPass, Pass
from tilefoundry.passes.manager import PassManager
from tilefoundry.passes.program import default_passes, lower

__all__ = ["KernelPass", "Pass", "PassManager", "default_passes", "lower"]
