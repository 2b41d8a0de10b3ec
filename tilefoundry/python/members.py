"""Functions in the body of a class: what ``@func`` leaves there until ``@module`` parses it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType

from tilefoundry.diagnostics import SourceSpan, WrongTypeError, WrongValueError
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.python.names import enclosing_names
from tilefoundry.python.source import function_source


@dataclass(frozen=True, eq=False)
class Authored:
    """One ``def`` and the names around it."""

    function: FunctionType
    enclosing: dict[str, object] = field(repr=False)

    @property
    def span(self) -> SourceSpan:
        """Where the ``def`` stands in the author's file."""
        source = function_source(self.function)
        return source.span(source.node)


@dataclass(frozen=True, eq=False)
class Part:
    """What a class body holds under the name of a variant or a converter: a part of `owner`, no member of its own."""

    owner: Member
    definition: Authored


@dataclass(eq=False)
class Member:
    """A function that is being authored: parsed by ``@module``, which knows topologies and siblings.

    Attributes:
        variants: the definitions for ranges of a DimVar, in order, with their patterns.
        converters: the definition that makes a weight from raw checkpoint tensors, by the weight's name.
        sealed: the module is complete; nothing can be added any more.
    """

    definition: Authored
    variants: list[tuple[DimVarRangePat, Authored]] = field(default_factory=list)
    converters: dict[str, Authored] = field(default_factory=dict)
    sealed: bool = False

    def __call__(self, *args: object) -> object:
        raise WrongTypeError(
            f"'{self.definition.function.__qualname__}' belongs to a class that is not a module yet",
            remedy="decorate the class with @module",
        )

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.function.__name__

    def specialize(self, pattern: DimVarRangePat) -> Callable[[object], Part]:
        """Decorates a variant: the body for the extents of one DimVar that `pattern` serves.

        Raises:
            WrongTypeError: the pattern is no DimVarRangePat, what is decorated is no function, or the module is sealed.
            WrongValueError: the variant is called ``_``, or as the function or another variant.
        """
        if not isinstance(pattern, DimVarRangePat):
            raise WrongTypeError(
                f"'{self.name}.specialize': expected a DimVarRangePat, got {pattern!r}",
                remedy='write DimVarRangePat("S", 1, 5)',
            )

        def decorate(function: object) -> Part:
            definition = self._part(function, "specialize", enclosing_names(sys._getframe(1)))
            label = definition.function.__name__
            if label == "_":
                raise WrongValueError(
                    f"a variant of '{self.name}' cannot be called '_'",
                    span=definition.span,
                    remedy="give it a name that says which extents it serves",
                )
            if label == self.name or label in [d.function.__name__ for _, d in self.variants]:
                raise WrongValueError(
                    f"'{self.name}' has a variant '{label}' already"
                    if label != self.name
                    else f"a variant of '{self.name}' cannot have its name",
                    span=definition.span,
                    remedy="give each variant a name of its own",
                )
            self.variants.append((pattern, definition))
            return Part(self, definition)

        return decorate

    def converter(self, weight: str) -> Callable[[object], Part]:
        """Decorates what makes `weight`, a ConstTensor parameter, from raw checkpoint tensors.

        The converter's parameters are the raw tensors, by their names in the checkpoint; it returns a tensor of the
        weight's declared shape and dtype. Its own name does not matter.

        Raises:
            WrongTypeError: the name is no string, what is decorated is no function, or the module is sealed.
            WrongValueError: the weight has a converter already.
        """
        if not isinstance(weight, str):
            raise WrongTypeError(
                f"'{self.name}.converter': expected the name of a ConstTensor parameter, got {weight!r}",
                remedy='write @fn.converter("w")',
            )

        def decorate(function: object) -> Part:
            definition = self._part(function, "converter", enclosing_names(sys._getframe(1)))
            if weight in self.converters:
                raise WrongValueError(
                    f"weight '{weight}' of '{self.name}' has a converter already",
                    span=definition.span,
                    remedy="write one converter that takes all the raw tensors it needs",
                )
            self.converters[weight] = definition
            return Part(self, definition)

        return decorate

    def _part(self, function: object, what: str, enclosing: dict[str, object]) -> Authored:
        if not isinstance(function, FunctionType):
            raise WrongTypeError(
                f"@{self.name}.{what}: expected a function defined with 'def', got {type(function).__name__}"
            )
        if self.sealed:
            raise WrongTypeError(
                f"'{self.name}' is sealed: its module is complete",
                span=Authored(function, {}).span,
                remedy="write variants and converters in the class body, before @module runs",
            )
        return Authored(function, enclosing)
