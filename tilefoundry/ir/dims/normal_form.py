"""One normal form for dims: equal forms mean equal values.

A dim is brought to a polynomial with integer coefficients over *atoms*: DimVars, Vars, other scalar expressions, and
quotients, minima and maxima that do not reduce further. ``x % d`` becomes ``x - d * (x // d)``. Every rewrite is an
identity of the integers wherever the dim has a value at all (no division by zero). The bounds of a DimVar are never
used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass

from tilefoundry.diagnostics import DimSubstitutionError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import (
    Dim,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimOp,
    DimSub,
)

Atom = Expr
Monomial = tuple[Atom, ...]  # factors in atom order, repeated for powers; () is the constant
Poly = dict[Monomial, int]  # no zero coefficients

MAX_DEPTH = 200  # nesting of one dim; far below Python's own recursion limit


def normalize_dim(dim: Dim) -> Dim:
    """The normal form of a dim: a plain int when it is constant, else an expression.

    Raises:
        WrongTypeError: not a plain int or a scalar expression.
        WrongValueError: its operations are nested deeper than `MAX_DEPTH`.
        DimSubstitutionError: it divides by the constant zero.
    """
    if type(dim) is int:
        return dim
    if isinstance(dim, Expr) and not isinstance(dim, (Call, Constant, Tuple)):
        return dim
    _check_depth(dim)
    return to_dim(poly_of(dim))


def _check_depth(dim: Dim) -> None:
    level = [dim]
    for _ in range(MAX_DEPTH + 1):
        calls = [d for d in level if isinstance(d, Call) and isinstance(d.target, DimOp)]
        level = list({id(arg): arg for call in calls for arg in call.args}.values())
        if not level:
            return
    raise WrongValueError(
        f"expected an extent of at most {MAX_DEPTH} nested operations, got one that is deeper",
        remedy="make it a DimVar of its own, which each call then gives its value",
    )


def dim_equal(a: Dim, b: Dim) -> bool:
    """Whether `a` and `b` have one normal form. False means "not proven", not "different"."""
    return a is b or normalize_dim(a) == normalize_dim(b)


def unequal(a: Dim, b: Dim) -> str:
    """Why two dims that `dim_equal` does not equate are refused: they differ, or equality cannot be proven."""
    difference = normalize_dim(Call(DimSub(), (a, b)))
    if isinstance(difference, int):
        return f"{format_dim(a)} and {format_dim(b)} differ"
    return f"cannot prove that {format_dim(a)} equals {format_dim(b)}"


def poly_of(dim: Dim) -> Poly:
    """The polynomial of a dim."""
    if isinstance(dim, bool) or not isinstance(dim, (int, Expr)) or isinstance(dim, Tuple):
        raise WrongTypeError(
            f"expected a plain int or a dim expression as an extent, got {dim!r}",
            remedy="use an int, a DimVar, or + - * // % on these",
        )
    if isinstance(dim, int):
        return _constant(dim)
    if isinstance(dim, Constant):
        if isinstance(dim.value, bool) or not isinstance(dim.value, int):
            raise WrongTypeError(
                f"expected an integer as an extent, got the constant {dim.value!r}",
                remedy="use an int, a DimVar, or + - * // % on these",
            )
        return _constant(dim.value)
    if not (isinstance(dim, Call) and isinstance(dim.target, DimOp)):
        return {(dim,): 1}
    if isinstance(dim.target, (DimMin, DimMax)):
        return _extremum(dim.target, dim.args)
    args = [poly_of(arg) for arg in dim.args]
    match dim.target:
        case DimConst(value):
            return _constant(value)
        case DimAdd():
            return _add(args[0], args[1])
        case DimSub():
            return _add(args[0], _scale(args[1], -1))
        case DimMul():
            return _multiply(args[0], args[1])
        case DimFloorDiv():
            return _floor_div(args[0], args[1])
        case DimMod():
            return _add(args[0], _scale(_multiply(args[1], _floor_div(args[0], args[1])), -1))
        case op:
            raise WrongTypeError(f"unknown dim op {op!r}", remedy="use the ops of tilefoundry.ir.dims")


def to_dim(poly: Poly) -> Dim:
    """The expression of a polynomial: positive terms first, in atom order, the constant last."""
    constant = poly.get((), 0)
    terms = sorted(((m, c) for m, c in poly.items() if m), key=lambda t: (t[1] < 0, [_rank(a) for a in t[0]]))
    result: Expr | None = None
    for monomial, coefficient in terms:
        type_ = monomial[0].type
        negative = result is not None and coefficient < 0
        factor = -coefficient if negative else coefficient
        term: Expr = monomial[0]
        for atom in monomial[1:]:
            term = Call(DimMul(), (term, atom), type_)
        if factor != 1:
            term = Call(DimMul(), (term, factor), type_)
        result = term if result is None else Call(DimSub() if negative else DimAdd(), (result, term), type_)
    if result is None:
        return constant
    if constant:
        op = DimAdd() if constant > 0 else DimSub()
        result = Call(op, (result, abs(constant)), result.type)
    return result


def _rank(atom: Atom) -> tuple[object, ...]:
    """A total order of atoms that does not depend on addresses or hash seeds."""
    match atom:
        case Var():
            return (1, atom.name, hash(atom))
        case Call(target, args) if isinstance(target, DimOp):
            return (2, target.op_name, len(args), *(_operand_rank(a) for a in args))
        case Call(target, args):
            return (3, _spelled(target), len(args), *(_operand_rank(a) for a in args))
        case _:
            return (0, _spelled(atom))


def _spelled(value: object) -> str:
    """A text that differs where values differ, for their order; the repr of an expression leaves out its depths."""
    match value:
        case Var():
            return f"{value.name}#{hash(value)}"
        case Expr():
            return f"{type(value).__name__}{_spelled(value._key())}"
        case tuple():
            return f"({', '.join(map(_spelled, value))})"
        case _ if is_dataclass(value) and not isinstance(value, type):
            shown = (getattr(value, f.name) for f in fields(value) if f.repr)
            return f"{type(value).__name__}({', '.join(map(_spelled, shown))})"
        case _:
            return repr(value)


def _operand_rank(operand: Dim) -> tuple[object, ...]:
    return (-1, operand) if isinstance(operand, int) else _rank(operand)


def _constant(value: int) -> Poly:
    return {(): value} if value else {}


def _add(a: Poly, b: Poly) -> Poly:
    result = dict(a)
    for monomial, coefficient in b.items():
        total = result.pop(monomial, 0) + coefficient
        if total:
            result[monomial] = total
    return result


def _scale(a: Poly, factor: int) -> Poly:
    return {m: c * factor for m, c in a.items()} if factor else {}


def _multiply(a: Poly, b: Poly) -> Poly:
    result: Poly = {}
    for ma, ca in a.items():
        for mb, cb in b.items():
            result = _add(result, {tuple(sorted((*ma, *mb), key=_rank)): ca * cb})
    return result


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """`monomial` divided by `factor`, or None when it is no multiple of it."""
    left = list(monomial)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _floor_div(a: Poly, b: Poly) -> Poly:
    if not b:
        raise DimSubstitutionError(
            "division by zero in an extent or index", remedy="divide by a positive int or extent"
        )
    if len(b) != 1:
        if a == b:
            return _constant(1)
        return {} if not a else {(Call(DimFloorDiv(), (to_dim(a), to_dim(b)), _type(a, b)),): 1}
    ((factor, divisor),) = b.items()
    if divisor < 0:
        return _floor_div(_scale(a, -1), {factor: -divisor})
    # a == quotient * b + rest; terms of the rest that are multiples of `factor` have coefficients in [0, divisor)
    quotient: Poly = {}
    rest: Poly = {}
    for monomial, coefficient in a.items():
        left = _without(monomial, factor)
        whole, remainder = divmod(coefficient, divisor) if left is not None else (0, coefficient)
        if whole and left is not None:
            quotient = _add(quotient, {left: whole})
        if remainder:
            rest[monomial] = remainder
    if not rest:
        return quotient
    if factor:
        return _add(quotient, {(Call(DimFloorDiv(), (to_dim(rest), to_dim(b)), _type(rest, b)),): 1})
    return _add(quotient, _divide_rest(rest, divisor))


def _divide_rest(rest: Poly, divisor: int) -> Poly:
    """floor(rest / divisor), where all coefficients lie in [0, divisor)."""
    constant = rest.get((), 0)
    terms = {m: c for m, c in rest.items() if m}
    if not terms:
        return {}
    common = math.gcd(divisor, *terms.values())
    if common > 1:  # floor((g*y + c) / (g*m)) == floor((y + floor(c / g)) / m)
        reduced = _add({m: c // common for m, c in terms.items()}, _constant(constant // common))
        return _floor_div(reduced, _constant(divisor // common))
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        inner = monomial[0]
        if coefficient == 1 and len(monomial) == 1 and isinstance(inner, Call) and inner.target == DimFloorDiv():
            numerator, by = inner.args
            if isinstance(by, int):  # floor((floor(x / a) + c) / b) == floor((x + a*c) / (a*b))
                return _floor_div(_add(poly_of(numerator), _constant(by * constant)), _constant(by * divisor))
    return {(Call(DimFloorDiv(), (to_dim(rest), divisor), _type(rest)),): 1}


def _extremum(op: DimOp, operands: Iterable[Dim]) -> Poly:
    """The least or greatest of the operands: nested calls flattened, common terms and a common factor taken out."""
    polys = [poly_of(operand) for operand in _flattened(op, operands)]
    outside: Poly = {}
    scale = 1
    while True:  # what one step takes out may let the next one see more
        before = polys
        polys = [part for poly in polys for part in _parts(op, poly)]
        polys = _strictest(op, _absorbed(op, polys))
        if len(polys) == 1:
            return _add(outside, _scale(polys[0], scale))
        monomials = {m for poly in polys for m in poly}
        shared = {m: least for m in monomials if (least := min(poly.get(m, 0) for poly in polys))}
        outside = _add(outside, _scale(shared, scale))
        polys = [_add(poly, _scale(shared, -1)) for poly in polys]
        factor = math.gcd(*(c for poly in polys for c in poly.values()))
        scale *= factor
        polys = [{m: c // factor for m, c in poly.items()} for poly in polys]
        if polys == before:
            break
    rests = sorted((to_dim(poly) for poly in polys), key=_operand_rank)
    result = rests[0]
    for rest in rests[1:]:
        result = Call(op, (result, rest), _type(*polys))
    return _add(outside, {(result,): scale})  # type: ignore[dict-item]  # at least two arguments: a Call


def _flattened(op: DimOp, operands: Iterable[Dim]) -> list[Dim]:
    """The operands of directly nested calls of `op`."""
    flat: list[Dim] = []
    todo = list(operands)
    while todo:
        operand = todo.pop()
        if isinstance(operand, Call) and operand.target == op:
            todo.extend(operand.args)
        else:
            flat.append(operand)
    return flat


def _parts(op: DimOp, poly: Poly) -> list[Poly]:
    """The operands of a sum with one call of `op` in it, each with the other terms: ``2*min(a, b) + c`` has two.

    A sum with more of them is left whole: its parts would multiply.
    """
    calls = [(m, c) for m, c in poly.items() if c > 0 and len(m) == 1 and isinstance(m[0], Call) and m[0].target == op]
    if len(calls) != 1:
        return [poly]
    ((monomial, coefficient),) = calls
    call = monomial[0]
    assert isinstance(call, Call)
    rest = {m: c for m, c in poly.items() if m != monomial}
    inner = [_add(_scale(poly_of(a), coefficient), rest) for a in call.args]
    return [part for p in inner for part in _parts(op, p)]


def _strictest(op: DimOp, polys: list[Poly]) -> list[Poly]:
    """Of polynomials that differ by a constant only, the one that decides."""
    better = min if op == DimMin() else max
    by_terms: dict[frozenset[tuple[Monomial, int]], int] = {}
    for poly in polys:
        terms = frozenset((m, c) for m, c in poly.items() if m)
        constant = poly.get((), 0)
        by_terms[terms] = better(by_terms.get(terms, constant), constant)
    return [_add(dict(terms), _constant(constant)) for terms, constant in by_terms.items()]


def _absorbed(op: DimOp, polys: list[Poly]) -> list[Poly]:
    """Without what another operand decides: ``min(a, max(a, b))`` is ``a``."""
    dual: DimOp = DimMax() if op == DimMin() else DimMin()
    kept = list(polys)
    for poly in polys:
        bounds = _parts(dual, poly)
        if len(bounds) > 1 and any(other is not poly and other in bounds for other in kept):
            kept = [other for other in kept if other is not poly]
    return kept


def _type(*polys: Poly):  # type: ignore[no-untyped-def]  # the Type that all atoms share
    return next(m[0].type for poly in polys for m in poly if m)
