"""How tests compile for the CPU."""

from __future__ import annotations

from tilefoundry.driver.options import CompilerOptions

# Most of what tests take is the compiler's time, so it optimises little unless a test says how.
CPU_OPTIONS = CompilerOptions(optimization_level=1)
