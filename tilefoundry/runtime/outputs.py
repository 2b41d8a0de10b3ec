"""Output tensors of a compiled entry, allocated from what its inputs say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError
from tilefoundry.ir.dims import Dim, DimVar, dim_vars, evaluate_dim, linear_in
from tilefoundry.runtime.abi import EntryABI
from tilefoundry.runtime.torch_dtype import torch_dtype


@dataclass(frozen=True)
class _AxisOf:
    """An extent that an axis of an input tells: the axis' extent is ``scale * it + offset``."""

    input: int
    axis: int
    scale: int = 1
    offset: int = 0


_Extent = int | _AxisOf | Dim


@dataclass(frozen=True)
class _Recipe:
    """How to make one output: what is the same in every call, worked out once."""

    name: str
    dtype: torch.dtype
    shape: tuple[_Extent, ...]
    in_place_of: int | None  # the input that it updates
    missing: tuple[str, ...]  # DimVars that no axis of an input tells


class OutputAllocator:
    """Makes the outputs of calls of one entry: dtype and shape from the ABI, device from the first tensor input.

    It judges no argument: the entry does that, for every way to call it. Where an input is so wrong that an output has
    no shape, `allocate` returns None in its place and the entry names the input.
    """

    def __init__(self, entry: EntryABI) -> None:
        self._entry = entry
        self._tensors = [i for i, p in enumerate(entry.input_params) if p.type.shape]
        self._sources: dict[str, _AxisOf] = {}
        axes = [(i, k, d) for i, p in enumerate(entry.input_params) for k, d in enumerate(p.type.shape)]
        for i, axis, dim in axes:
            if isinstance(dim, DimVar):
                self._sources.setdefault(dim.name, _AxisOf(i, axis))
        for i, axis, dim in axes:
            if (linear := linear_in(dim)) is not None:
                self._sources.setdefault(linear[0].name, _AxisOf(i, axis, *linear[1:]))
        aliases = dict(entry.aliases)
        names = [p.name for p in entry.input_params]
        self._recipes = [
            _Recipe(
                name=p.name,
                dtype=torch_dtype(p.type.dtype),
                shape=tuple(self._sources.get(d.name, d) if isinstance(d, DimVar) else d for d in p.type.shape),
                in_place_of=names.index(aliases[p.name]) if p.name in aliases else None,
                missing=tuple(sorted({v.name for d in p.type.shape for v in dim_vars(d)} - set(self._sources))),
            )
            for p in entry.output_params
        ]

    def allocate(self, inputs: Sequence[object]) -> list[torch.Tensor | None]:
        """Uninitialised outputs; an output that updates an input in place is that input.

        Raises:
            ArgumentTypeError: an input tensor is not torch's, there is none to take the device from, or no input has
                an extent of an output.
        """
        device = self._device(inputs)
        return [self._make(recipe, inputs, device) for recipe in self._recipes]

    def _make(self, recipe: _Recipe, inputs: Sequence[object], device: torch.device) -> torch.Tensor | None:
        if recipe.in_place_of is not None:
            source = inputs[recipe.in_place_of]
            return source if isinstance(source, torch.Tensor) else None
        if recipe.missing:
            raise ArgumentTypeError(
                f"{self._entry.name}: cannot allocate output '{recipe.name}': no input has the extent "
                f"{', '.join(recipe.missing)}",
                remedy="pass the outputs too",
            )
        try:
            shape = [d if type(d) is int else self._extent(d, inputs) for d in recipe.shape]
        except IndexError:  # an input of another rank
            return None
        if shape and min(shape) < 0:
            raise ArgumentValueError(
                f"{self._entry.name}: output '{recipe.name}' would have the shape ({', '.join(map(str, shape))})",
                remedy="pass larger inputs",
            )
        return torch.empty(shape, dtype=recipe.dtype, device=device)

    def _extent(self, extent: _Extent, inputs: Sequence[object]) -> int:
        if isinstance(extent, _AxisOf):
            told = inputs[extent.input].size(extent.axis)  # type: ignore[attr-defined]  # a torch.Tensor
            return (told - extent.offset) // extent.scale
        known = {v.name: self._extent(self._sources[v.name], inputs) for v in dim_vars(extent)}
        return evaluate_dim(extent, known)

    def _device(self, inputs: Sequence[object]) -> torch.device:
        for i in self._tensors:
            if not isinstance(inputs[i], torch.Tensor):
                raise ArgumentTypeError(
                    f"{self._entry.name}: cannot allocate outputs: argument '{self._entry.params[i].name}' is a "
                    f"{type(inputs[i]).__name__}, expected a torch.Tensor",
                    remedy="pass torch tensors, or pass the outputs too",
                )
        if self._tensors:
            return inputs[self._tensors[0]].device  # type: ignore[attr-defined]  # checked above
        for value in inputs:  # 0-d tensors in the place of numbers
            if isinstance(value, torch.Tensor):
                return value.device
        raise ArgumentTypeError(
            f"{self._entry.name}: cannot infer device: no input is a tensor", remedy="pass the outputs too"
        )
