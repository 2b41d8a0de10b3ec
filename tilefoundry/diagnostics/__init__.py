"""Errors, source spans and carets. Standard library only."""

from tilefoundry.diagnostics.errors import (
    AnalysisError,
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    DimSubstitutionError,
    EvalError,
    EvalValueError,
    ExtractError,
    LaunchError,
    LookupNameError,
    NotProjectable,
    OverloadError,
    SpecializationError,
    TileFoundryError,
    VerifyError,
    WrongTypeError,
    WrongValueError,
)
from tilefoundry.diagnostics.span import SourceSpan

__all__ = [
    "AnalysisError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "CompileError",
    "DimSubstitutionError",
    "EvalError",
    "EvalValueError",
    "ExtractError",
    "LaunchError",
    "LookupNameError",
    "NotProjectable",
    "OverloadError",
    "SourceSpan",
    "SpecializationError",
    "TileFoundryError",
    "VerifyError",
    "WrongTypeError",
    "WrongValueError",
]
