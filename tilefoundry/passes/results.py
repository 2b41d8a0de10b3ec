"""What a function returns: one tensor, or several."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.metadata import SourceSpanMetadata, find_metadata, span_of
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import TupleGetItem


def results_of(body: Expr) -> tuple[Expr, ...]:
    """The tensors that a body gives; of those that one op computes together each is a result of its own.

    Raises:
        VerifyError: one of several results is a tuple itself; located.
    """
    if isinstance(body, Tuple):
        results = tuple(element for element in body.elements if isinstance(element, Expr))
    elif isinstance(body.type, TupleType):
        span = find_metadata(body.metadata, SourceSpanMetadata)
        place = () if span is None else (span,)
        results = tuple(Call(TupleGetItem(k), (body,), metadata=place) for k in range(len(body.type.fields)))
    else:
        return (body,)
    for k, result in enumerate(results):
        if isinstance(result.type, TupleType):
            raise VerifyError(
                f"result {k} is a tuple of {len(result.type.fields)} tensors, and a compiled program returns tensors",
                span=span_of(result.metadata) or span_of(body.metadata),
                remedy="take it apart: a, b = ..., then return a, b beside the others",
            )
    return results
