"""Codegen: TIR to C++ text, for every target by one body emitter. Knows neither compilers nor loaders."""

from tilefoundry.codegen.emit import emit_module
from tilefoundry.codegen.unit import KernelUnit, LinkableModule

__all__ = ["KernelUnit", "LinkableModule", "emit_module"]
