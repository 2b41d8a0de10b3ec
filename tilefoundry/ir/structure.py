"""Do two programs mean the same, down to the names that their authors gave?

Equality of `Expr` compares a variable with itself only, and leaves metadata out. Here variables correspond when they
are bound in the same place under the same name, and what an author wrote counts: binding names, mesh scopes, schedule
constraints. Source spans, and the record of what a function was specialised from, do not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import NoReturn

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import (
    BindingMetadata,
    IRMetadata,
    Metadata,
    SourceSpanMetadata,
    binding_name,
    find_metadata,
)
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.origin import SpecializationMetadata
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar, dim_atoms, is_dim_expr, substitute_dim
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.tir.items import unfold
from tilefoundry.ir.tir.stmt import LetStmt, Sequential, Stmt

_PROVENANCE = (SourceSpanMetadata, SpecializationMetadata)  # where a program comes from, not what it is

_LONGEST = 200  # characters of a path
_MEANING = 0xFFFF & ~0x10  # flags of a code object, but for __future__ imports and for where it is nested


def structurally_equal(a: object, b: object) -> bool:
    """Whether two Modules, functions, statements or expressions have the same structure; see `first_difference`."""
    return first_difference(a, b) is None


def first_difference(a: object, b: object) -> str | None:
    """Where two Modules, functions, statements or expressions first differ, as a path and both values; None if nowhere.

    A value of HIR that is used twice differs from two equal values. Of Modules, the effective target and topologies
    of the two given count, and what their children declare; `Module.metadata` does not. Methods are compared by code.
    """
    try:
        _compare("", a, b)
    except _Difference as difference:
        return str(difference)
    return None


class _Difference(Exception):
    """Carries the first difference out of the walk."""


def _differ(path: str, a: object, b: object) -> NoReturn:
    raise _Difference(f"{path or 'value'}: {_brief(a)} is not {_brief(b)}")


def _brief(value: object) -> str:
    if isinstance(value, (Call, GridRegionExpr)):
        name = binding_name(value)
        what = type(value.target).__name__ if isinstance(value, Call) else "loop"
        return f"{what} '{name}'" if name else what
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _compare(path: str, a: object, b: object) -> None:
    if isinstance(a, Module) and isinstance(b, Module):
        _modules(path, a, b, root=True)
    elif isinstance(a, Function) and isinstance(b, Function):
        _functions(path, a, b)
    else:
        _Walk(sharing=isinstance(a, Expr)).value(path, a, b)


def _modules(path: str, a: Module, b: Module, root: bool = False) -> None:
    here = f"{path}module '{a.name}'"
    values = _Walk()
    for name in ("name", "entry"):
        values.value(f"{here}: {name}", getattr(a, name), getattr(b, name))
    if root:
        targets = [m.resolve_target() if m.declares_target() else None for m in (a, b)]
        values.value(f"{here}: target", *targets)
        values.value(f"{here}: topologies", a.effective_topologies(), b.effective_topologies())
    else:
        values.value(f"{here}: target", a.target, b.target)
        values.value(f"{here}: topologies", a.topologies, b.topologies)
    _pairwise(f"{here}: functions", [f.name for f in a.functions], [f.name for f in b.functions])
    for own, other in zip(a.functions, b.functions, strict=True):
        if isinstance(own, Function) and isinstance(other, Function):
            _functions(f"{here}: ", own, other)
        else:
            _Walk(sharing=False).value(f"{here}: '{own.name}'", own, other)
    _pairwise(f"{here}: children", [m.name for m in a.modules], [m.name for m in b.modules])
    for child, other_child in zip(a.modules, b.modules, strict=True):
        _modules(f"{here}: ", child, other_child)
    _pairwise(f"{here}: methods", sorted(a.methods), sorted(b.methods))
    for name, method in a.methods.items():
        if not _same_code(method, b.methods[name]):
            _differ(f"{here}: method '{name}'", method, b.methods[name])


def _pairwise(path: str, a: Sequence[object], b: Sequence[object]) -> None:
    if list(a) != list(b):
        _differ(path, a, b)


def _same_code(a: object, b: object) -> bool:
    if not (isinstance(a, FunctionType) and isinstance(b, FunctionType)):
        return a is b
    return (
        _code_facts(a.__code__) == _code_facts(b.__code__)
        and a.__defaults__ == b.__defaults__
        and a.__kwdefaults__ == b.__kwdefaults__
        and _captured(a) == _captured(b)
    )


def _captured(function: FunctionType) -> list[object]:
    """What a function captures, by repr: such values are compared as they would be written."""
    return [_written(cell.cell_contents) for cell in function.__closure__ or ()]


def _written(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_written, value))
    return value if isinstance(value, (Expr, Type)) else repr(value)  # the repr of an expression leaves out its depths


def _code_facts(code: CodeType) -> tuple[object, ...]:
    """What a code object does, without where it stands; constants by repr, which tells 0.0 from -0.0 and 1 from 1.0."""
    constants = tuple(_code_facts(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, constants, *names, code.co_argcount, code.co_kwonlyargcount, code.co_flags & _MEANING)


def _functions(path: str, a: Function, b: Function) -> None:
    here = f"{path}function '{a.name}'"
    walk = _Walk()
    walk.value(f"{here}: name", a.name, b.name)
    walk.value(f"{here}: label", *(find_metadata(f.metadata, BindingMetadata) for f in (a, b)))
    _pairwise(f"{here}: parameters", [p.name for p in a.params], [p.name for p in b.params])
    for p, q in zip(a.params, b.params, strict=True):
        walk.value(f"{here}: '{p.name}'", p, q)
    walk.value(f"{here}: return type", a.return_type, b.return_type)
    walk.value(f"{here}: specializations", a.specializations, b.specializations)
    walk.value(f"{here}: body", a.body, b.body)
    if len(a.variants) != len(b.variants):
        _differ(f"{here}: number of variants", len(a.variants), len(b.variants))
    for own, other in zip(a.variants, b.variants, strict=True):
        _functions(f"{here}: ", own, other)
    _pairwise(f"{here}: converters of", [w for w, _ in a.converters], [w for w, _ in b.converters])
    for (weight, own), (_, other) in zip(a.converters, b.converters, strict=True):
        _functions(f"{here}: converter of '{weight}': ", own, other)


class _Walk:
    """Compares what one function, kernel or expression holds, without recursion over expressions: they are deep."""

    def __init__(self, sharing: bool = True) -> None:
        self._sharing = sharing  # in TIR, values are named by statements: an expression is what it says, each time
        self._there: dict[int, Expr] = {}
        self._back: dict[int, Expr] = {}
        self._seen: set[tuple[int, int]] = set()
        self._held: list[object] = []  # keeps ids unique while they are keys
        self._renamed: dict[Expr, Expr] = {}  # Vars of `a` to those of `b`, for extents

    def value(self, path: str, a: object, b: object) -> None:
        """Compares two values of any kind; raises `_Difference`."""
        blocks = (Sequential, LetStmt)
        if isinstance(a, Expr) and isinstance(b, Expr):
            self._expressions(path, a, b)
        elif isinstance(a, Stmt) and isinstance(b, Stmt) and (isinstance(a, blocks) or isinstance(b, blocks)):
            self._sequences(path, unfold(a), unfold(b))
        elif type(a) is not type(b):
            _differ(path, a, b)
        elif isinstance(a, float):
            if repr(a) != repr(b):  # tells 0.0 from -0.0, and nan from nothing
                _differ(path, a, b)
        elif isinstance(a, Function) and isinstance(b, Function):
            _functions(f"{path}: ", a, b)
        elif isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
            self._sequences(path, a, b)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            _pairwise(f"{path}: keys", sorted(a), sorted(b))
            for key in a:
                self.value(f"{path}[{key!r}]", a[key], b[key])
        elif dataclasses.is_dataclass(a) and not isinstance(a, type):
            for f in dataclasses.fields(a):
                if f.compare:
                    self.value(f"{path}.{f.name}", getattr(a, f.name), getattr(b, f.name))
        elif a is not b and a != b:
            _differ(path, a, b)

    def _sequences(self, path: str, a: Sequence[object], b: Sequence[object]) -> None:
        if len(a) != len(b):
            _differ(f"{path}: length", len(a), len(b))
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            self.value(f"{path}[{k}]", x, y)

    def _expressions(self, path: str, a: Expr, b: Expr) -> None:
        todo: list[tuple[str, object, object]] = [(path, a, b)]
        while todo:
            path, x, y = todo.pop()
            if not (isinstance(x, Expr) and isinstance(y, Expr)):
                self.value(path, x, y)
            elif (id(x), id(y)) not in self._seen:
                self._seen.add((id(x), id(y)))
                self._held.append((x, y))
                todo.extend(reversed(list(self._nodes(path, x, y))))

    def _nodes(self, path: str, x: Expr, y: Expr) -> Iterable[tuple[str, object, object]]:
        """Compares two nodes, and gives the pairs of their operands."""
        if is_dim_expr(x) and is_dim_expr(y):
            return self._dims(path, x, y)
        if type(x) is not type(y):
            _differ(path, x, y)
        is_value = isinstance(x, (Call, GridRegionExpr, Var) if self._sharing else Var)
        if is_value and (self._there.setdefault(id(x), y) is not y or self._back.setdefault(id(y), x) is not x):
            _differ(f"{path}: which value is used", x, y)
        match x, y:
            case Var(), Var():
                self._variables(path, x, y)
                return ()
            case Constant(), Constant():
                self.value(f"{path}: value", x.value, y.value)
                self._types(path, x, y)
                return ()
            case Tuple(), Tuple():
                return self._operands(path, x.elements, y.elements)
            case Call(), Call():
                where = _place(path, x)
                self.value(f"{where}: target", x.target, y.target)
                self._types(where, x, y)
                self._notes(where, x.metadata, y.metadata)
                return self._operands(f"{where}: operand", x.args, y.args)
            case GridRegionExpr(), GridRegionExpr():
                return self._loops(_place(path, x), x, y)
        # the expressions that only TIR has: by their fields
        names = [f.name for f in dataclasses.fields(x) if f.name not in ("type", "metadata")]  # type: ignore[arg-type]
        return [(f"{path}.{name}", getattr(x, name), getattr(y, name)) for name in names]

    def _variables(self, path: str, x: Var, y: Var) -> None:
        self.value(f"{path}: name", (x.name, binding_name(x) or x.name), (y.name, binding_name(y) or y.name))
        self.value(f"{path}: is_const", x.is_const, y.is_const)
        self._types(f"{path} '{x.name}'", x, y)
        self._renamed[x] = y

    def _types(self, path: str, x: Expr, y: Expr) -> None:
        if x.type != y.type:
            self.value(f"{path}: type", x.type, y.type)

    def _dims(self, path: str, x: Expr, y: Expr) -> Iterable[tuple[str, object, object]]:
        if any(not isinstance(atom, (DimVar, Var)) for atom in (*dim_atoms(x), *dim_atoms(y))):
            if not (isinstance(x, Call) and isinstance(y, Call)):
                _differ(path, x, y)
            self.value(path, x.target, y.target)
            return self._operands(path, x.args, y.args)
        # the order of Vars in a normal form depends on their age, so the forms cannot be compared side by side
        if substitute_dim(x, self._renamed) != y:
            _differ(path, x, y)
        return ()

    def _loops(self, path: str, x: GridRegionExpr, y: GridRegionExpr) -> Iterable[tuple[str, object, object]]:
        self._notes(path, x.metadata, y.metadata)
        if len(x.carried_args) != len(y.carried_args):
            _differ(f"{path}: number of carries", len(x.carried_args), len(y.carried_args))
        bounds = [(f"{path}: {name}", getattr(x, name), getattr(y, name)) for name in ("start", "extent", "step")]
        self.value(f"{path}: spread", x.spread, y.spread)
        variables = zip((x.induction_var, *x.carried_args), (y.induction_var, *y.carried_args), strict=True)
        return (
            *bounds,
            *self._operands(f"{path}: initial value", x.init_args, y.init_args),
            *((f"{path}: variable", v, w) for v, w in variables),
            *self._operands(f"{path}: yielded value", x.yield_values, y.yield_values),
            (f"{path}: body", x.body, y.body),
        )

    def _operands(
        self, path: str, x: Sequence[Expr | int], y: Sequence[Expr | int]
    ) -> Iterable[tuple[str, object, object]]:
        if len(x) != len(y):
            _differ(f"{path}s", len(x), len(y))
        return [(f"{path} {k}", p, q) for k, (p, q) in enumerate(zip(x, y, strict=True))]

    def _notes(self, path: str, x: Metadata, y: Metadata) -> None:
        own, other = ({type(m).__name__: m for m in notes if not isinstance(m, _PROVENANCE)} for notes in (x, y))
        for kind in sorted({*own, *other}):
            a: IRMetadata | None = own.get(kind)
            b: IRMetadata | None = other.get(kind)
            self.value(f"{path}: {kind}", a, b)


def _place(path: str, x: Call | GridRegionExpr) -> str:
    """The path of a node, from its name on where it has one; short in deep programs, where it is long."""
    name = binding_name(x)
    if name:
        return f"'{name}'"
    return path if len(path) <= _LONGEST else f"... {path[-_LONGEST:]}"
