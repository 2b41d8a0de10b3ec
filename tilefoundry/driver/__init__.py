"""From a program to a callable: lower, build, compile, jit, load, and the caches."""

from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.driver.jit import jit
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.pipeline import build, compile, load, lower

__all__ = ["CompilerOptions", "build", "compile", "jit", "load", "lower", "normalize_to_module"]
