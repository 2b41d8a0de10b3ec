"""CompilerOptions: what a caller may choose about a compile. Part of every cache key."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tilefoundry.diagnostics import WrongTypeError, WrongValueError


@dataclass(frozen=True)
class CompilerOptions:
    """How to compile. Two equal options give the same library.

    Attributes:
        optimization_level: 0 to 3, as C++ compilers count.
        fast_math: trade the last bits, denormals, infinities and NaNs for speed.
        line_info: keep source lines in device code, for profilers.

    Raises:
        WrongTypeError, WrongValueError: a field has the wrong type, or lies outside its range.
    """

    optimization_level: int = 3
    fast_math: bool = False
    line_info: bool = False

    def __post_init__(self) -> None:
        level = self.optimization_level
        if isinstance(level, bool) or not isinstance(level, int):
            raise WrongTypeError(f"CompilerOptions: optimization_level must be an int, got {level!r}")
        if not 0 <= level <= 3:
            raise WrongValueError(f"CompilerOptions: optimization_level is {level}, expected 0 to 3")
        for name in ("fast_math", "line_info"):
            if not isinstance(getattr(self, name), bool):
                raise WrongTypeError(f"CompilerOptions: {name} must be a bool, got {getattr(self, name)!r}")

    def canonical_text(self) -> str:
        """Every option, by name, as stable text."""
        return "options " + " ".join(
            f"{f.name}={getattr(self, f.name)}" for f in sorted(fields(self), key=lambda f: f.name)
        )
