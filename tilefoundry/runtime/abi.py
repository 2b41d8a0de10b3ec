"""The launcher ABI: what an entry takes, and the record of a linked library (runtime spec, 1.1.1 and 1.1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.types import TensorType

if TYPE_CHECKING:
    from tilefoundry.ir.core.expr import Var
    from tilefoundry.ir.core.function import Function
    from tilefoundry.ir.types import ShapeDim


@dataclass(frozen=True)
class ParamABI:
    """One parameter: dtype, shape, storage and layout come from `type`; a dynamic extent is a DimVar of its shape."""

    name: str
    type: TensorType


@dataclass(frozen=True)
class EntryABI:
    """An entry: all its parameters in declaration order, the last `output_count` of which are outputs.

    Attributes:
        aliases: (output, input) pairs of names; such an output is the input, updated in place.

    Raises:
        WrongValueError: `output_count` is negative or above the number of parameters, or an alias names no such pair.
    """

    name: str
    params: tuple[ParamABI, ...]
    output_count: int = 0
    aliases: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.output_count <= len(self.params):
            raise WrongValueError(
                f"entry '{self.name}': output_count is {self.output_count}, expected 0..{len(self.params)} "
                f"(it has {len(self.params)} parameters)"
            )
        inputs = {p.name for p in self.input_params}
        outputs = {p.name for p in self.output_params}
        for out, source in self.aliases:
            if out not in outputs or source not in inputs:
                raise WrongValueError(
                    f"entry '{self.name}': alias '{out}' of '{source}' does not pair an output with an input; "
                    f"outputs are {sorted(outputs)}, inputs are {sorted(inputs)}"
                )

    @property
    def input_count(self) -> int:
        return len(self.params) - self.output_count

    @property
    def input_params(self) -> tuple[ParamABI, ...]:
        return self.params[: self.input_count]

    @property
    def output_params(self) -> tuple[ParamABI, ...]:
        return self.params[self.input_count :]


@dataclass(frozen=True)
class KernelLaunch:
    """How the entry launches one kernel.

    Attributes:
        grid: CTAs; None where the host chooses up to `tiles` at each call.
        grid_barrier: all CTAs meet, so that they are launched cooperatively.
    """

    name: str
    grid: ShapeDim | None
    tiles: ShapeDim
    block: int
    shared_bytes: int
    grid_barrier: bool = False


@dataclass(frozen=True)
class LinkedModule:
    """A library on disk, with what it exports and how it was made.

    Attributes:
        library: path of the shared library.
        entry: the exported function.
        kernels: launch configuration of each kernel, in launch order.
        target: canonical text of the target it was compiled for.
        target_name: "cuda" or "cpu".
        isa: instruction set (CPU) or compile architecture (CUDA).
        key: the key under which `jit` would cache it.
        sources: generated file name to text; empty when the library came without them.
        options: compiler option to value, likewise; None where the compiler chooses.
    """

    library: Path
    entry: EntryABI
    kernels: tuple[KernelLaunch, ...]
    target: str
    target_name: str
    isa: str
    key: str = ""
    sources: Mapping[str, str] = field(default_factory=dict, hash=False)
    options: Mapping[str, bool | int | None] = field(default_factory=dict, hash=False)


def param_abi_of(var: Var) -> ParamABI:
    """The ABI of one parameter; the only place where one is derived from IR.

    Raises:
        WrongTypeError: the parameter is not a tensor (a tuple or unit value does not cross the boundary).
    """
    if not isinstance(var.type, TensorType):
        raise WrongTypeError(f"parameter '{var.name}' has type {var.type}, expected a TensorType")
    return ParamABI(var.name, var.type)


def entry_abi_of(fn: Function) -> EntryABI:
    """The ABI of a HIR function: one entry per declared parameter, no outputs (it returns its value)."""
    return EntryABI(fn.name, tuple(param_abi_of(p) for p in fn.params))
