"""The port to whatever runs IR: a protocol and one slot.

The IR knows no tensor library. The composition root fills the slot with a loader that imports the evaluator on first
use, so that importing the IR stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Protocol

from tilefoundry.diagnostics import TileFoundryError

if TYPE_CHECKING:
    from tilefoundry.ir.core.function import Function
    from tilefoundry.ir.core.module import Module
    from tilefoundry.ir.core.weights import WeightSource
    from tilefoundry.ir.shard import Mesh


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a function is run.

    Attributes:
        precision: "declared", or "f64": every float in f64.
        mesh: as many units on each level as to evaluate over; None leaves it to the program.
        is_inner: another function made the arguments, so that its floats are of the precision already.
    """

    precision: str = "declared"
    mesh: Mesh | None = None
    is_inner: bool = False


AS_DECLARED = RunOptions()


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What the IR asks about a tensor.

    Attributes:
        dtype: the name of its DType; the tensor library's own where it has no counterpart.
        device: as the tensor library writes it, with an index where it has one ("cpu", "cuda:1").
    """

    shape: tuple[int, ...]
    dtype: str
    device: str


class Executor(Protocol):
    """Runs functions on tensors that the IR does not look into."""

    def run(
        self,
        module: Module,
        function: Function,
        args: tuple[object, ...],
        device: str | None = None,
        children: Mapping[str, Callable[..., object]] | None = None,
        options: RunOptions = AS_DECLARED,
    ) -> object:
        """The value of `function` of `module` on one argument for each declared parameter.

        Args:
            device: where to run; None leaves it to the arguments.
            children: what runs the entries of the children on their own weights, by the child's name; called with
                activations, and with the keyword `options` where these are not `AS_DECLARED`.
        """
        ...

    def reached(self, function: Function, args: tuple[object, ...] | None) -> tuple[str, ...]:
        """The names of the children whose entries a call of `function` reaches, on their own weights.

        Args:
            args: one for each declared parameter: they select the variant of a prototype. None leaves that open, and
                what only a variant calls is not reached.
        """
        ...

    def facts(self, value: object) -> TensorFacts | None:
        """Shape, dtype and device of a tensor; None when `value` is none."""
        ...

    def prepare(
        self,
        module: Module,
        raw: WeightSource,
        out_dir: str | PathLike[str],
        *,
        device: object,
        overwrite: bool,
        max_shard_bytes: int | None,
    ) -> None:
        """Writes the declared weights of a tree as a checkpoint; see `Module.prepare`."""
        ...


_loaders: list[Callable[[], Executor]] = []
_executors: list[Executor] = []


def set_executor_loader(loader: Callable[[], Executor]) -> None:
    """Fills the slot; the loader is called once, when something is run for the first time."""
    _loaders[:] = [loader]
    _executors.clear()


def executor() -> Executor:
    """The executor in the slot.

    Raises:
        TileFoundryError: the slot is empty.
    """
    if not _executors:
        if not _loaders:
            raise TileFoundryError(
                "nothing here can run functions", remedy="import tilefoundry, which brings the evaluator"
            )
        _executors.append(_loaders[0]())
    return _executors[0]
