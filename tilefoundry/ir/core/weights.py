"""Reading declared weights from a resource, and checking them against their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tilefoundry.diagnostics import MissingNameError, TileFoundryError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.execution import executor
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import dim_vars, evaluate_dim, linear_in
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.types import TensorType

if TYPE_CHECKING:
    from tilefoundry.ir.core.module import Module
    from tilefoundry.ir.types import ShapeDim


@runtime_checkable
class WeightSource(Protocol):
    """What reading weights takes: any object with these methods (see `tilefoundry.runtime.RuntimeResource`)."""

    def load(self, name: str) -> object:
        """The tensor of a name; KeyError when there is none."""
        ...

    def load_group(self, name: str) -> tuple[object, ...] | None:
        """The tensors of a one-to-many name, or None for an ordinary one."""
        ...

    def subtree(self, seg: str) -> WeightSource:
        """The view of one more path segment."""
        ...


def require_source(name: str, resource: object) -> None:
    """Refuses what weights cannot be read from, such as a plain dict.

    Raises:
        WrongTypeError: it lacks a method of a `WeightSource`.
    """
    if not isinstance(resource, WeightSource):
        raise WrongTypeError(
            f"{name}: expected a resource with load, load_group and subtree, got {type(resource).__name__}",
            remedy="give tilefoundry.runtime.DictResource(a dict of tensors) or SafetensorsResource(a folder)",
        )


@runtime_checkable
class ListedSource(Protocol):
    """A source that knows its tensors, and which of them nobody has read."""

    def unread(self) -> tuple[str, ...]:
        """The raw names that nobody has read so far."""
        ...


class WeightReader:
    """Reads the weights of the nodes of a tree, and says at the end everything that is wrong, not only the first."""

    def __init__(self) -> None:
        self._missing: list[tuple[str, KeyError]] = []
        self._unfit: list[str] = []

    def read(self, module: Module, resource: WeightSource, path: str) -> dict[str, object]:
        """The weights that a node declares, by name; those that are missing or do not fit are noted.

        Args:
            path: the dotted path of the node in the tree that is read; empty for its root.
        """
        require_source(f"weights of '{path or module.name}'", resource)
        found: dict[str, object] = {}
        bindings: dict[str, int] = {}
        for name, declared in module.weights.items():
            try:
                value = resource.load(name)
            except KeyError as error:
                self._missing.append((join_path(path, name), error))
                continue
            fault = misfit(f"weight '{join_path(path, name)}'", declared, value, bindings)
            if fault is not None:
                self._unfit.append(fault)
            found[name] = value
        return found

    def finish(self, resource: WeightSource) -> None:
        """Raises what was noted.

        Args:
            resource: what was read; where it knows its tensors, those that no weight asked for are named beside the
                missing ones. They alone are no error: a checkpoint may hold more than a model declares.

        Raises:
            MissingNameError: declared weights are missing; all of them are listed.
            WrongValueError: a weight has another shape or dtype than declared.
        """
        if self._missing:
            lines = [f"  '{path}': {_message(error)}" for path, error in self._missing]
            head = f"missing declared weight{'s' if len(lines) > 1 else ''}:"
            raise MissingNameError(
                "\n".join([head, *lines, *self._unfit, *_unread(resource)]),
                remedy="give a checkpoint that holds them; module.prepare(raw, out_dir) writes one from raw tensors",
            ) from self._missing[0][1]
        if self._unfit:
            raise WrongValueError(
                "\n".join(self._unfit),
                remedy="where the checkpoint stores another dtype or form, register a weight converter and prepare it",
            )


_LISTED = 20  # a checkpoint of another model holds thousands


def _unread(resource: WeightSource) -> list[str]:
    names = resource.unread() if isinstance(resource, ListedSource) else ()
    if not names:
        return []
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return [f"tensors that no declared weight asked for: {', '.join(map(repr, names[:_LISTED]))}{more}"]


def join_path(path: str, name: str) -> str:
    """A dotted path, one segment longer."""
    return f"{path}.{name}" if path else name


def misfit(what: str, declared: Type, value: object, bindings: dict[str, int]) -> str | None:
    """How a tensor differs from its declaration: shape first, then dtype; None when it fits.

    Args:
        what: names the tensor in what is returned.
        bindings: the extents of DimVars found so far; the tensor's are added.

    Raises:
        WrongTypeError: `value` is no tensor.
    """
    facts = executor().facts(value)
    if facts is None:
        raise WrongTypeError(
            f"{what} is a {type(value).__name__}, expected a tensor", remedy="let the resource return tensors"
        )
    assert isinstance(declared, TensorType)  # a ConstTensor is one
    if not _fits(declared.shape, facts.shape, bindings):
        shape = ", ".join(format_dim(d) for d in declared.shape)
        return f"{what}: declared with shape ({shape}), got {facts.shape}"
    if facts.dtype != declared.dtype.name:
        return f"{what}: declared with dtype {declared.dtype}, got {facts.dtype} (see weight converters)"
    return None


def _fits(declared: tuple[ShapeDim, ...], given: tuple[int, ...], bindings: dict[str, int]) -> bool:
    if len(declared) != len(given):
        return False
    for dim, extent in zip(declared, given, strict=True):
        linear = linear_in(dim)
        if linear is not None:
            var, scale, offset = linear
            value, rest = divmod(extent - offset, scale)
            if rest or not var.lo <= value < var.hi:
                return False
            bindings.setdefault(var.name, value)
    return all(_agrees(d, extent, bindings) for d, extent in zip(declared, given, strict=True))


def _agrees(dim: ShapeDim, extent: int, bindings: Mapping[str, int]) -> bool:
    # An extent over a DimVar that no weight binds is known only when an activation comes.
    return not all(v.name in bindings for v in dim_vars(dim)) or evaluate_dim(dim, bindings) == extent


def _message(error: KeyError) -> str:
    return error.message if isinstance(error, TileFoundryError) else str(error)
