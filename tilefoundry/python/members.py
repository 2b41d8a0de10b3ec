"""Functions in the body of a class: what ``@func`` leaves there until ``@module`` parses it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType

from tilefoundry.diagnostics import LookupNameError, SourceSpan, WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.core.unfinished import Unfinished
from tilefoundry.python.names import enclosing_names
from tilefoundry.python.sites import at
from tilefoundry.python.source import function_source
from tilefoundry.python.values import Described, describe


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


class Placeholder(Described, Unfinished):
    """What a class body holds until ``@module`` makes a function of it: all else is refused, and says so."""

    definition: Authored

    def unfinished(self) -> WrongTypeError:
        """The class that holds it was not decorated, or not yet."""
        return WrongTypeError(self._told(), span=self.definition.span, remedy="decorate the class with @module")

    def __call__(self, *args: object, **keywords: object) -> object:
        raise self.unfinished()

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):  # Python's protocols ask for these
            raise LookupNameError(f"a {type(self).__name__} has no attribute '{name}'")
        raise LookupNameError(
            f"{self._told()}, and has no '{name}' here",
            span=self.definition.span,
            remedy="decorate the class with @module; in its body a function has 'specialize' and 'converter'",
        )

    def __repr__(self) -> str:
        return f"<{self._told()}>"

    def _told(self) -> str:
        return f"'{self.definition.function.__qualname__}' belongs to a class that is not a module yet"


@dataclass(frozen=True, eq=False, repr=False)
class Part(Placeholder):
    """What a class body holds under the name of a variant or a converter: a part of `owner`, no member of its own."""

    owner: Member | Function
    definition: Authored

    @property
    def described(self) -> str:
        return f"a variant or converter of the function '{self.owner.name}'"


def the_pattern(owner: str, patterns: tuple[object, ...]) -> DimVarRangePat:
    """The argument of ``@fn.specialize``.

    Raises:
        WrongTypeError: it is not one DimVarRangePat.
    """
    if len(patterns) == 1 and isinstance(patterns[0], DimVarRangePat):
        return patterns[0]
    got = ", ".join(map(describe, patterns)) or "nothing"
    raise WrongTypeError(
        f"'{owner}.specialize': expected a DimVarRangePat, got {got}", remedy='write DimVarRangePat("S", 1, 5)'
    )


def the_weight(owner: str, weights: tuple[object, ...]) -> str:
    """The argument of ``@fn.converter``.

    Raises:
        WrongTypeError: it is not one name.
    """
    if len(weights) == 1 and isinstance(weights[0], str):
        return weights[0]
    got = ", ".join(map(describe, weights)) or "nothing"
    raise WrongTypeError(
        f"'{owner}.converter': expected the name of a ConstTensor parameter, got {got}",
        remedy='write @fn.converter("w")',
    )


def the_function(decorator: str, decorated: object) -> FunctionType:
    """What a decorator decorates.

    Raises:
        WrongTypeError: it is no plain Python function.
    """
    if isinstance(decorated, FunctionType):
        return decorated
    raise WrongTypeError(
        f"{decorator}: expected a function defined with 'def', got {describe(decorated)}",
        remedy="decorate a plain 'def' directly, below all other decorators",
    )


def check_label(owner: str, definition: Authored, labels: Iterable[str]) -> None:
    """Checks the name of a variant.

    Raises:
        WrongValueError: it is ``_``, or the name of the function or of another variant.
    """
    label = definition.function.__name__
    if label == "_":
        raise WrongValueError(
            f"a variant of '{owner}' cannot be called '_'",
            span=definition.span,
            remedy="give it a name that says which extents it serves",
        )
    if label == owner or label in labels:
        raise WrongValueError(
            f"'{owner}' has a variant '{label}' already"
            if label != owner
            else f"a variant of '{owner}' cannot have its name",
            span=definition.span,
            remedy="give each variant a name of its own",
        )


def check_first(owner: str, weight: str, weights: Iterable[str], definition: Authored) -> None:
    """Checks that `weight` has no converter yet.

    Raises:
        WrongValueError: it has.
    """
    if weight in weights:
        raise WrongValueError(
            f"weight '{weight}' of '{owner}' has a converter already",
            span=definition.span,
            remedy="write one converter that takes all the raw tensors it needs",
        )


@dataclass(eq=False, repr=False)
class Member(Placeholder):
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

    @property
    def described(self) -> str:
        return f"the function '{self.name}' of this class"

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.function.__name__

    def specialize(self, *patterns: object) -> Callable[[object], Part]:
        """Decorates a variant: the body for the extents of one DimVar that the one pattern serves.

        Raises:
            WrongTypeError: the pattern is no DimVarRangePat, what is decorated is no function, or the module is sealed.
            WrongValueError: the variant is called ``_``, or as the function or another variant.
        """
        with at(sys._getframe(1)):
            pattern = the_pattern(self.name, patterns)

        def decorate(function: object) -> Part:
            frame = sys._getframe(1)
            with at(frame):
                definition = self._part("specialize", function, enclosing_names(frame))
                check_label(self.name, definition, [d.function.__name__ for _, d in self.variants])
            self.variants.append((pattern, definition))
            return Part(self, definition)

        return decorate

    def converter(self, *weights: object) -> Callable[[object], Part]:
        """Decorates what makes the one weight named, a ConstTensor parameter, from raw checkpoint tensors.

        The converter's parameters are the raw tensors, by their names in the checkpoint; it returns a tensor of the
        weight's declared shape and dtype. Its own name does not matter.

        Raises:
            WrongTypeError: the name is no string, what is decorated is no function, or the module is sealed.
            WrongValueError: the weight has a converter already.
        """
        with at(sys._getframe(1)):
            weight = the_weight(self.name, weights)

        def decorate(function: object) -> Part:
            frame = sys._getframe(1)
            with at(frame):
                definition = self._part("converter", function, enclosing_names(frame))
                check_first(self.name, weight, self.converters, definition)
            self.converters[weight] = definition
            return Part(self, definition)

        return decorate

    def _part(self, what: str, decorated: object, enclosing: dict[str, object]) -> Authored:
        function = the_function(f"@{self.name}.{what}", decorated)
        if self.sealed:
            raise WrongTypeError(
                f"'{self.name}' is sealed: its module is complete",
                span=Authored(function, {}).span,
                remedy="write variants and converters in the class body, before @module runs",
            )
        return Authored(function, enclosing)
