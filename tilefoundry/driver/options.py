"""CompilerOptions: what a caller may choose about a compile. Part of every cache key."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tilefoundry.diagnostics import WrongTypeError, WrongValueError

# Field to the values that it may have; those that may be None leave the choice to the compiler.
_RANGES = {"optimization_level": (0, 3), "stages": (1, 16), "min_ctas_per_sm": (1, 32)}
_CHOSEN_BY_DEFAULT = ("stages", "min_ctas_per_sm")


@dataclass(frozen=True)
class CompilerOptions:
    """How to compile. Two equal options give the same library.

    All but `fast_math` leave the meaning of a program alone: results differ by rounding at most.

    Attributes:
        optimization_level: 0 to 3, as C++ compilers count.
        fast_math: trade the last bits, denormals, infinities and NaNs for speed.
        line_info: keep source lines in device code, for profilers.
        stages: buffers, 1 to 16, of every shared tile that a loop loads: all but one are loaded ahead. None takes two,
            or one where shared memory does not suffice; a number that does not fit is refused.
        min_ctas_per_sm: CTAs, 1 to 32, that a multiprocessor shall be able to hold at once, which limits the registers
            of a thread (the second argument of ``__launch_bounds__``); without effect on CPUs. None states nothing.
        unroll_loops: let the host compiler unroll the loops of CPU kernels; without effect on CUDA.
        checking: look at every access of a kernel while it runs, and end the call with a CheckingError at a race, a
            read of memory that nobody has written, an access out of bounds, or an output that is not written whole or
            written twice. For the CPU only, where a program placed for CUDA keeps its placement; many times slower.

    Raises:
        WrongTypeError, WrongValueError: a field has the wrong type, or lies outside its range.
    """

    optimization_level: int = 3
    fast_math: bool = False
    line_info: bool = False
    stages: int | None = None
    min_ctas_per_sm: int | None = None
    unroll_loops: bool = False
    checking: bool = False

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is None and name in _CHOSEN_BY_DEFAULT:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise WrongTypeError(f"CompilerOptions: {name} must be an int, got {value!r}")
            if not low <= value <= high:
                raise WrongValueError(f"CompilerOptions: {name} is {value}, expected {low} to {high}")
        for name in ("fast_math", "line_info", "unroll_loops", "checking"):
            if not isinstance(getattr(self, name), bool):
                raise WrongTypeError(f"CompilerOptions: {name} must be a bool, got {getattr(self, name)!r}")

    def canonical_text(self) -> str:
        """Every option, by name, as stable text."""
        return "options " + " ".join(
            f"{f.name}={getattr(self, f.name)}" for f in sorted(fields(self), key=lambda f: f.name)
        )
