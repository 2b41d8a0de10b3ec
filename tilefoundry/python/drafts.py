"""Functions outside of a class: complete in all but variants and converters, which may follow until they are used.

A Function is immutable, and so is what a Module holds. What ``@func`` gives outside of a class is a draft of one: it
collects parts, and is sealed by its first use, as a member of a Module or in a call by another function.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tilefoundry.diagnostics import VerifyError, WrongTypeError
from tilefoundry.ir.core.converters import check_converter
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.pickles import reduced_function
from tilefoundry.ir.verify import verify_function
from tilefoundry.python.function import Role, parse_function
from tilefoundry.python.members import (
    Authored,
    Part,
    check_first,
    check_label,
    the_function,
    the_pattern,
    the_weight,
)
from tilefoundry.python.names import Resolver, enclosing_names, is_class_body
from tilefoundry.python.parser import Session
from tilefoundry.python.sites import at

_COMPARED = tuple(f.name for f in dataclasses.fields(Function) if f.compare)
_VARIANTS, _CONVERTERS = vars(Function)["variants"], vars(Function)["converters"]  # the slots that a draft covers


@dataclass
class _Late:
    """What a draft collects: variants by their labels, converters by their weights."""

    variants: dict[str, Function] = field(default_factory=dict)
    converters: dict[str, Function] = field(default_factory=dict)
    sealed: bool = False


class Draft(Function):
    """A Function that takes variants and converters until it is sealed. Equal to the Function that it is now."""

    __slots__ = ("_late",)
    _late: _Late

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "_late", _Late())
        super().__init__(*args, **kwargs)

    @staticmethod
    def of(function: Function) -> Draft:
        """A draft of `function`."""
        return Draft(**{f.name: getattr(function, f.name) for f in dataclasses.fields(Function)})

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Refuses: outside of a program a Function is a description, which does not run.

        Raises:
            WrongTypeError: always, with what runs it.
        """
        with at(sys._getframe(1)):
            raise WrongTypeError(
                f"'{self.name}' is a function of the language, and runs when it is evaluated or compiled",
                remedy=f"write tilefoundry.evaluate({self.name}, ...), or tilefoundry.jit({self.name})(...)",
            )

    @property
    def variants(self) -> tuple[Function, ...]:
        """The variants so far."""
        return (*_VARIANTS.__get__(self), *self._late.variants.values())

    @variants.setter
    def variants(self, value: tuple[Function, ...]) -> None:  # by the constructor only: Function is frozen
        _VARIANTS.__set__(self, value)

    @property
    def converters(self) -> tuple[tuple[str, Function], ...]:
        """The converters so far."""
        return (*_CONVERTERS.__get__(self), *self._late.converters.items())

    @converters.setter
    def converters(self, value: tuple[tuple[str, Function], ...]) -> None:
        _CONVERTERS.__set__(self, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Function):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = Function.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_function(self)

    def sealed(self) -> Function:
        """This function, which takes no further parts.

        Raises:
            VerifyError: it is a prototype without variants, or its variants do not serve every extent once.
        """
        if not self._late.sealed:
            if self.body is None and not self.variants:
                raise VerifyError(
                    f"function '{self.name}' has the body 'pass', which makes it a prototype, and no variants",
                    span=self.span,
                    remedy=f'add @{self.name}.specialize(DimVarRangePat("S", lo, hi)) before it is used',
                )
            verify_function(self)
            self._late.sealed = True
        return self

    def specialize(self, *patterns: object) -> Callable[[object], Function | Part]:  # type: ignore[override]
        """Decorates a variant, see `Member.specialize`."""
        with at(sys._getframe(1)):
            pattern = the_pattern(self.name, patterns)
            if self.body is not None:
                raise WrongTypeError(
                    f"'{self.name}' has a body of its own and takes no variants",
                    remedy="make its body 'pass', and its present body a variant for the rest of the extents",
                )

        def decorate(decorated: object) -> Function | Part:
            frame = sys._getframe(1)
            with at(frame):
                definition = self._part("specialize", decorated, enclosing_names(frame))
                check_label(self.name, definition, self._late.variants)
                variant = as_variant(self.name, pattern, _parse(definition, Role.VARIANT))
            self._late.variants[definition.function.__name__] = variant
            return Part(self, definition) if is_class_body(frame) else variant

        return decorate

    def converter(self, *weights: object) -> Callable[[object], Function | Part]:  # type: ignore[override]
        """Decorates a converter, see `Member.converter`."""
        with at(sys._getframe(1)):
            weight = the_weight(self.name, weights)

        def decorate(decorated: object) -> Function | Part:
            frame = sys._getframe(1)
            with at(frame):
                definition = self._part("converter", decorated, enclosing_names(frame))
                check_first(self.name, weight, [w for w, _ in self.converters], definition)
                made = _parse(definition, Role.CONVERTER)
                try:
                    check_converter(self.name, self.params, weight, made)
                except (VerifyError, WrongTypeError) as error:
                    raise error.at(definition.span) from None
            self._late.converters[weight] = made
            return Part(self, definition) if is_class_body(frame) else made

        return decorate

    def _part(self, what: str, decorated: object, enclosing: dict[str, object]) -> Authored:
        definition = Authored(the_function(f"@{self.name}.{what}", decorated), enclosing)
        if self._late.sealed:
            raise WrongTypeError(
                f"'{self.name}' is sealed: a Module holds it, or a function calls it",
                span=definition.span,
                remedy="write variants and converters before the function is used",
            )
        return definition


def _parse(definition: Authored, role: Role) -> Function:
    resolver = Resolver(definition.function, enclosing=definition.enclosing)
    parsed = parse_function(definition.function, resolver, Session(), role)
    verify_function(parsed)
    return parsed


def as_variant(owner: str, pattern: DimVarRangePat, parsed: Function) -> Function:
    """The variant of `owner` that a parsed function is; its own name stays as a record."""
    metadata = (*parsed.metadata, BindingMetadata(parsed.name))
    return dataclasses.replace(parsed, name=owner, specializations=(pattern,), metadata=metadata)
