"""What there is to know about a Module before it is run, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Definition, Module
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry; an output is one that a kernel writes."""

    name: str
    type: str
    role: Literal["input", "weight", "output"]


@dataclass(frozen=True)
class Entry:
    """What a call runs; a kernel has no result."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str | None


@dataclass(frozen=True)
class Weight:
    """A declared weight; a symbolic extent is text."""

    name: str
    type: str
    shape: tuple[int | str, ...]
    dtype: str


@dataclass(frozen=True)
class Level:
    """A topology; a symbolic size, which a launch provides, is text."""

    name: str
    size: int | str


@dataclass(frozen=True)
class Description:
    """A Module. Target and topologies are those in force, also where an owner declares them."""

    name: str
    entry: Entry | None
    functions: tuple[str, ...]
    methods: tuple[str, ...]
    weights: tuple[Weight, ...]
    children: tuple[Description, ...]
    topologies: tuple[Level, ...]
    target: str | None


def describe(module: Module) -> Description:
    """The description of a Module and of all below it.

    Raises:
        WrongValueError: the entry names no function, or one weight has two types.
    """
    return Description(
        name=module.name,
        entry=_entry(module.entry_function()) if module.entry is not None else None,
        functions=tuple(f.name for f in module.functions),
        methods=tuple(module.methods),
        weights=tuple(_weight(name, type_) for name, type_ in module.weights.items()),
        children=tuple(describe(child) for child in module.modules),
        topologies=tuple(Level(t.name, _extent(t.size)) for t in module.effective_topologies()),
        target=module.resolve_target().canonical_text() if module.declares_target() else None,
    )


def _entry(definition: Definition) -> Entry:
    if isinstance(definition, PrimFunction):
        inputs = tuple(Parameter(p.name, str(p.type), "input") for p in definition.inputs)
        outputs = tuple(Parameter(p.name, str(p.type), "output") for p in definition.outputs)
        return Entry(definition.name, inputs + outputs, None)
    assert isinstance(definition, Function)
    params = (Parameter(p.name, str(p.type), "weight" if p.is_const else "input") for p in definition.params)
    return Entry(definition.name, tuple(params), str(definition.return_type))


def _weight(name: str, type_: Type) -> Weight:
    assert isinstance(type_, TensorType)  # which ConstTensor makes
    return Weight(name, str(type_), tuple(_extent(d) for d in type_.shape), str(type_.dtype))


def _extent(extent: object) -> int | str:
    return extent if isinstance(extent, int) else str(extent)
