"""From the body of a class to a Module."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import FunctionType

from tilefoundry.diagnostics import TileFoundryError, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.converters import check_converter
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module, check_member_name
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.variants import check_variants
from tilefoundry.python.drafts import as_variant
from tilefoundry.python.function import Role, parse_function
from tilefoundry.python.members import Authored, Member, Part
from tilefoundry.python.names import Members, Resolver
from tilefoundry.python.parser import Session
from tilefoundry.python.prim.intrinsics import Intrinsic
from tilefoundry.python.prim.members import PrimMember
from tilefoundry.python.sites import ClassSite
from tilefoundry.python.values import describe
from tilefoundry.target import Target

_IGNORED = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__annotate__", "__annotate_func__", "__conditional_annotations__",
}  # fmt: skip


class Collector:
    """Sorts the members of a class, and parses each function when it is first needed."""

    def __init__(self, cls: type, session: Session, site: ClassSite) -> None:
        self.cls, self.session, self.site = cls, session, site
        self.functions: dict[str, Function | PrimFunction] = {}
        self.pending: dict[str, Member | PrimMember] = {}
        self.intrinsics: dict[str, Intrinsic] = {}
        self.children: dict[str, Module] = {}
        self._held: dict[str, str] = {}  # the member that holds a child, by the child's name
        self.groups: dict[str, tuple[Module, ...]] = {}
        self.methods: dict[str, Callable[..., object]] = {}
        self._open: list[str] = []
        for base in cls.__mro__[1:-1]:
            held = next((name for name in vars(base) if name not in _IGNORED), None)
            if held is not None:
                raise WrongTypeError(
                    f"module '{cls.__name__}': member '{held}' of the base class '{base.__name__}' is not taken over",
                    span=site.place,
                    remedy="write it in the class body, or hold another module as a child",
                )
        for name, value in vars(cls).items():
            if name not in _IGNORED:
                self._sort(name, value)
        for name, value in vars(cls).items():
            if isinstance(value, Part):
                self._check_owner(name, value)
        for name, place in site.repeated():
            if name in vars(cls) and not isinstance(vars(cls)[name], Part):
                raise WrongValueError(
                    f"the class has a member '{name}' already", span=place, remedy="give each member a name of its own"
                )

    def _sort(self, name: str, value: object) -> None:
        if name == "__call__":
            raise WrongTypeError(
                f"module '{self.cls.__name__}': '__call__' is the module's own",
                span=self.site.member(name),
                remedy="define 'forward': a call runs it",
            )
        if isinstance(value, (Member, PrimMember)):
            self.pending[name] = value
        elif isinstance(value, Part):
            pass  # its owner holds it
        elif isinstance(value, (Function, PrimFunction)):
            self.functions[name] = value
        elif isinstance(value, Intrinsic):
            self.intrinsics[name] = value
        elif isinstance(value, Module):
            self._add_child(name, value.renamed(name))
        elif isinstance(value, (tuple, list)) and value and all(isinstance(v, Module) for v in value):
            for child in value:
                self._add_child(name, child)
            self.groups[name] = tuple(value)
        elif isinstance(value, FunctionType):
            self.methods[name] = value
        else:
            raise WrongTypeError(
                f"module '{self.cls.__name__}': member '{name}' has the type {type(value).__name__}; "
                "only these three member kinds are allowed: functions (@func), Modules, plain Python methods",
                span=self.site.member(name),
                remedy="move it out of the class body; functions see the names around the class",
            )
        if not isinstance(value, (Part, Intrinsic)):  # these are no attributes of the Module
            self._check_name(name)

    def _check_name(self, name: str) -> None:
        try:
            check_member_name(name)
        except WrongValueError as error:
            raise error.at(self.site.member(name)) from None

    def _add_child(self, name: str, child: Module) -> None:
        if child.name in self.children:
            raise WrongValueError(
                f"module '{self.cls.__name__}': two children are named '{child.name}'",
                span=self.site.member(name),
                remedy='rename one: child.renamed("layer1")',
            )
        self.children[child.name] = child
        self._held[child.name] = name

    def _check_owner(self, name: str, part: Part) -> None:
        """The function that a variant or converter belongs to must still be a member."""
        owner = part.owner
        known = self.functions.get(owner.name) if isinstance(owner, Function) else self.pending.get(owner.name)
        if known is not owner:
            raise WrongValueError(
                f"module '{self.cls.__name__}': '{name}' belongs to a function '{part.owner.name}' that is no member",
                span=part.definition.span,
                remedy=f"give '{name}' and '{part.owner.name}' different names, in one class body",
            )

    def find(self, name: str) -> object:
        """The member of this name, as a function body sees it; parses it when that has not happened yet."""
        if name in self.functions:
            return self.functions[name]
        if name in self.children:
            return self.children[name]
        if name in self.groups:
            return self.groups[name]
        if name in self.intrinsics:
            return self.intrinsics[name]
        member = self.pending[name]
        if name in self._open:
            hidden = member.definition.function.__globals__.get(name)
            if isinstance(hidden, (Expr, int, float)):
                raise VerifyError(
                    f"'{name}' is the function '{name}' of this class here, which hides {describe(hidden)}",
                    remedy="give the function another name",
                )
            raise VerifyError(
                f"recursive call: {' -> '.join([*self._open[self._open.index(name) :], name])}",
                remedy="write the repetition as a loop",
            )
        self._open.append(name)
        try:
            self.functions[name] = self._function(member)
        finally:
            self._open.pop()
        return self.functions[name]

    def _function(self, member: Member | PrimMember) -> Function | PrimFunction:
        if isinstance(member, PrimMember):
            return member.parse(self._members(), self.session)
        base = self._parse(member.definition, Role.PROTOTYPE if member.variants else Role.FUNCTION)
        variants = tuple(self._variant(base, *variant) for variant in member.variants)
        converters = tuple(self._converter(base, *converter) for converter in member.converters.items())
        function = dataclasses.replace(base, variants=variants, converters=converters)
        check_variants(function)
        return function

    def _variant(self, base: Function, pattern: DimVarRangePat, definition: Authored) -> Function:
        parsed = self._parse(definition, Role.VARIANT)
        return as_variant(base.name, pattern, parsed)

    def _converter(self, base: Function, weight: str, definition: Authored) -> tuple[str, Function]:
        parsed = self._parse(definition, Role.CONVERTER)
        try:
            check_converter(base.name, base.params, weight, parsed)
        except (VerifyError, WrongTypeError) as error:
            raise error.at(definition.span) from None
        return weight, parsed

    def _parse(self, definition: Authored, role: Role) -> Function:
        resolver = Resolver(definition.function, self._members(), definition.enclosing)
        return parse_function(definition.function, resolver, self.session, role)

    def _members(self) -> Members:
        names = (*self.pending, *self.functions, *self.children, *self.groups, *self.intrinsics)
        return Members(names, self.find, tuple(self.children.values()), tuple(self.methods))

    def module(self, entry: str | None, target: Target | None, topologies: tuple[Topology, ...] | None) -> Module:
        """The Module of this class."""
        name = self.cls.__name__
        if not (self.pending or self.functions or self.children or self.methods):
            raise WrongTypeError(
                f"module '{name}' is empty: it has no function, child or method",
                remedy="define a function with @func in the class body; what a base class holds is not taken over",
            )
        for child, held in self._held.items():
            if child in self.pending or child in self.functions or child in self.methods:
                raise WrongValueError(
                    f"module '{name}': function, child and method names must be disjoint; {child} repeats",
                    span=self.site.member(held),
                    remedy='rename the child: child.renamed("layer1")',
                )
        for pending in self.pending:
            try:
                self.find(pending)
            except TileFoundryError as error:
                raise error.at(self.site.member(pending)) from error.__cause__
        ordered = tuple(self.functions[n] for n in vars(self.cls) if n in self.functions)
        if entry is not None and entry not in [f.name for f in ordered]:
            kind = "child module" if entry in self.children else "method" if entry in self.methods else None
            raise WrongValueError(
                f"module '{name}': entry {entry!r} names no collected function" + (f", but a {kind}" if kind else ""),
                span=self.site.member(entry) if kind else None,
                remedy="write @func without topologies and target, and give these to @module"
                if kind == "child module"
                else f"it has: {', '.join(f.name for f in ordered) or 'none'}",
            )
        if entry != "forward" and ("forward" in self.functions or "forward" in self.children):
            raise WrongValueError(
                f"module '{name}': the member 'forward' would be hidden: a call of the module, and its attribute "
                f"'forward', run {f'the entry {entry!r}' if entry is not None else 'the entry, and there is none'}",
                span=self.site.member(self._held.get("forward", "forward")),
                remedy="make it the entry, or call it otherwise; a plain Python method 'forward' may run any function",
            )
        children = tuple(self.children.values())
        module = Module(name, ordered, entry, children, target, topologies, methods=self.methods)
        for member in self.pending.values():
            member.sealed = True
        return module
