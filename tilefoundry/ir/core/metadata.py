"""Records that travel with an expression and never change what it means: name, place, mesh scopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tilefoundry.diagnostics import SourceSpan, WrongTypeError, WrongValueError

if TYPE_CHECKING:
    from tilefoundry.ir.core.expr import Expr
    from tilefoundry.ir.shard.mesh import Mesh


@dataclass(frozen=True, slots=True)
class IRMetadata:
    """Base of all records. An expression holds at most one of each exact class."""


@dataclass(frozen=True, slots=True)
class BindingMetadata(IRMetadata):
    """The name that the author gave to this value."""

    name: str


@dataclass(frozen=True, slots=True)
class SourceSpanMetadata(IRMetadata):
    """Where the author wrote this expression; 1-based, as `tilefoundry.diagnostics.SourceSpan`."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def span(self) -> SourceSpan:
        """The same place as a span."""
        return SourceSpan(self.file, self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class ExecutionDomainMetadata(IRMetadata):
    """The ``with Mesh`` scopes that a call was written in, outermost first."""

    scopes: tuple[Mesh, ...]


Metadata = tuple[IRMetadata, ...]
M = TypeVar("M", bound=IRMetadata)


def check_metadata(metadata: Metadata) -> None:
    """Refuses two records of one class.

    Raises:
        WrongTypeError: not a tuple of records.
        WrongValueError: a class occurs twice.
    """
    if not isinstance(metadata, (tuple, list)) or not all(isinstance(m, IRMetadata) for m in metadata):
        raise WrongTypeError(
            f"metadata must be a tuple of IRMetadata records, got {metadata!r}",
            remedy='give a tuple of records, such as (BindingMetadata("y"),)',
        )
    kinds = [type(m) for m in metadata]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise WrongValueError(
                f"metadata holds more than one {kind.__name__}, expected at most one of each class",
                remedy="use replace_metadata, which replaces the record of the same class",
            )


def find_metadata(metadata: Metadata, kind: type[M]) -> M | None:
    """The record of exactly this class, or None."""
    for record in metadata:
        if type(record) is kind:
            return record
    return None


def get_metadata(expr: Expr, kind: type[M]) -> M | None:
    """The record of exactly this class that `expr` carries, or None."""
    return find_metadata(expr.metadata, kind)


def binding_name(expr: Expr) -> str | None:
    """The author's name for this value, or None."""
    record = get_metadata(expr, BindingMetadata)
    return record.name if record is not None else None


def span_of(metadata: Metadata) -> SourceSpan | None:
    """The source span among these records, or None."""
    record = find_metadata(metadata, SourceSpanMetadata)
    return record.span if record is not None else None


def diagnostic_location(expr: Expr) -> str | None:
    """How a message names this expression's place: its span, else its binding, else None."""
    span = span_of(expr.metadata)
    return str(span) if span is not None else binding_name(expr)
