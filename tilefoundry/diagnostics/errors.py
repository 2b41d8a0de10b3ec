"""The one family of errors that TileFoundry raises.

An error that callers may know as ValueError, TypeError, KeyError, AttributeError or NotImplementedError is a subclass
of both: ``except ValueError`` and ``except TileFoundryError`` both catch it.
"""

from __future__ import annotations

from tilefoundry.diagnostics.span import SourceSpan


class TileFoundryError(Exception):
    """Base of the family: what went wrong, where the author wrote it, and what to do about it.

    Args:
        message: what was expected and what was found.
        span: where in the author's source, when known.
        remedy: what to change, as an imperative sentence.
    """

    def __init__(self, message: str, *, span: SourceSpan | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.span, self.remedy)

    def __str__(self) -> str:
        parts = [f"{self.span}: {self.message}" if self.span is not None else self.message]
        excerpt = self.span.excerpt() if self.span is not None else None
        if excerpt is not None:
            parts.append(excerpt)
        if self.remedy is not None:
            parts.append(f"  help: {self.remedy}")
        return "\n".join(parts)

    def at(self, span: SourceSpan | None) -> TileFoundryError:
        """The same error, located at `span` unless it already has a location."""
        if span is None or self.span is not None:
            return self
        return _rebuild(type(self), self.message, span, self.remedy)


def _rebuild(
    kind: type[TileFoundryError], message: str, span: SourceSpan | None, remedy: str | None
) -> TileFoundryError:
    return kind(message, span=span, remedy=remedy)


class VerifyError(TileFoundryError):
    """A program is not well formed or not well typed."""


class VerifyValueError(VerifyError, ValueError):
    """A program asks for more of something than the machine has."""


class EvalError(TileFoundryError):
    """The evaluator cannot give a program a value."""


class EvalValueError(EvalError, ValueError):
    """A run-time value lies outside what an op accepts."""


class CompileError(TileFoundryError):
    """A verified program cannot be compiled, or the compiler failed."""


class LaunchError(TileFoundryError):
    """A compiled program refuses its arguments, or could not be launched."""


class CheckingError(LaunchError):
    """A kernel that ran in checking mode did what no program may: the message has op, element and instances."""


class ArgumentTypeError(LaunchError, TypeError):
    """An argument of a compiled program has the wrong kind, dtype or count."""


class ArgumentValueError(LaunchError, ValueError):
    """An argument of a compiled program has the wrong extent, stride, alignment or device."""


class AnalysisError(TileFoundryError):
    """An analysis cannot answer about this program."""


class ScheduleError(TileFoundryError):
    """A schedule constraint cannot be kept, or contradicts itself."""


class OverloadError(VerifyError):
    """No schema of an op accepts these arguments."""


class WrongValueError(TileFoundryError, ValueError):
    """An object cannot be built from this value, or does not hold what was asked of it."""


class WrongTypeError(TileFoundryError, TypeError):
    """A value has the wrong Python type."""


class LookupNameError(TileFoundryError, AttributeError):
    """An attribute names nothing."""


class MissingNameError(TileFoundryError, KeyError):
    """Something that was asked for by name is not there."""


class SpecializationError(TileFoundryError, ValueError):
    """A specialisation does not fit its function."""


class NotProjectable(WrongValueError):
    """A layout has no inverse or projection of the wanted form."""


class DimSubstitutionError(TileFoundryError, ValueError):
    """A symbolic extent cannot be replaced or evaluated."""


class ExtractError(TileFoundryError, NotImplementedError):
    """A value cannot be taken out of a program."""
