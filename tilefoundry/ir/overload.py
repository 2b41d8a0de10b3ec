"""Which schema of a surface name serves a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilefoundry.diagnostics import OverloadError
from tilefoundry.ir.core.op import OpSchema, ParamDef
from tilefoundry.ir.core.pattern import AndPat, Pattern, ScalarPat, TensorPat
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.types.matching import matches


def resolve_overload(
    schemas: Sequence[OpSchema], positional: Sequence[Type | None], keywords: Mapping[str, Type | None]
) -> OpSchema:
    """The first schema, in lookup order, that takes these arguments and whose input patterns they match.

    There is no search for the best match. Aliases come first in `schemas_named`, so they win.

    Args:
        schemas: those of one surface name, at least one.
        positional, keywords: the type of each argument; None for what has none, as most attributes.

    Raises:
        OverloadError: says of each schema why it does not serve.
    """
    reasons: list[str] = []
    for schema in schemas:
        reason = _why_not(schema, positional, keywords)
        if reason is None:
            return schema
        reasons.append(f"{schema.signature}: {reason}")
    name = schemas[0].name
    if len(reasons) == 1:
        raise OverloadError(f"{name}: {reasons[0].partition(': ')[2]}", remedy=f"call {schemas[0].signature}")
    raise OverloadError(
        f"{name}: no way to call it takes these arguments\n  " + "\n  ".join(reasons),
        remedy="give the arguments that one of these takes",
    )


def _why_not(schema: OpSchema, positional: Sequence[Type | None], keywords: Mapping[str, Type | None]) -> str | None:
    if not schema.takes(len(positional), keywords):
        named = f" and {', '.join(keywords)}" if keywords else ""
        return f"got {len(positional)} positional argument(s){named}"
    params = {p.name: p for p in schema.params}
    given = [*zip(schema.place(len(positional)) or (), positional, strict=True)]
    given += [(params[name], type_) for name, type_ in keywords.items()]
    return next((reason for param, type_ in given if (reason := _mismatch(param, type_)) is not None), None)


def _mismatch(param: ParamDef, type_: Type | None) -> str | None:
    if param.kind != "input" or param.pattern is None or (type_ is not None and matches(param.pattern, type_)):
        return None
    return f"'{param.name}' must be {describe(param.pattern)}, got {type_ if type_ is not None else 'no tensor'}"


def describe(pattern: Pattern) -> str:
    """What a pattern asks for, in the words of a message."""
    match pattern:
        case ScalarPat():
            return "a scalar"
        case TensorPat(rank, dtype):
            of = f" of {dtype}" if dtype is not None else ""
            return f"a tensor{of}" + (f" of rank {rank}" if rank is not None else "")
        case AndPat(patterns):
            return " and ".join(describe(p) for p in patterns)
    return repr(pattern)
