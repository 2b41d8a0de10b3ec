"""Output tensors of a compiled entry, allocated from what its inputs say."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tilefoundry.diagnostics import ArgumentTypeError, DimSubstitutionError
from tilefoundry.ir.dims import DimVar, evaluate_dim
from tilefoundry.runtime.abi import EntryABI
from tilefoundry.runtime.torch_dtype import torch_dtype


class OutputAllocator:
    """Makes the outputs of calls of one entry: dtype and shape from the ABI, device from the first tensor input.

    It judges no argument: the entry does that, for every way to call it. Where an input is so wrong that an output has
    no shape, `allocate` returns None in its place and the entry names the input.
    """

    def __init__(self, entry: EntryABI) -> None:
        self._entry = entry
        self._tensors = [i for i, p in enumerate(entry.input_params) if p.type.shape]
        self._dtypes = [torch_dtype(p.type.dtype) for p in entry.output_params]
        sources = dict(entry.aliases)
        names = [p.name for p in entry.input_params]
        self._in_place = [names.index(sources[p.name]) if p.name in sources else None for p in entry.output_params]
        self._sources: dict[str, tuple[int, int]] = {}  # DimVar -> (input, axis) that gives its extent
        for i, param in enumerate(entry.input_params):
            for axis, dim in enumerate(param.type.shape):
                if isinstance(dim, DimVar):
                    self._sources.setdefault(dim.name, (i, axis))

    def allocate(self, inputs: Sequence[object]) -> list[torch.Tensor | None]:
        """Uninitialised outputs; an output that updates an input in place is that input.

        Raises:
            ArgumentTypeError: an input tensor is not torch's, or there is none to take the device from.
        """
        device = self._device(inputs)
        extents = {
            name: inputs[i].shape[axis]  # type: ignore[attr-defined]  # _device checked that it is a tensor
            for name, (i, axis) in self._sources.items()
            if axis < inputs[i].dim()  # type: ignore[attr-defined]
        }
        outputs: list[torch.Tensor | None] = []
        for param, dtype, source in zip(self._entry.output_params, self._dtypes, self._in_place, strict=True):
            if source is not None:
                outputs.append(inputs[source])  # type: ignore[arg-type]
                continue
            try:
                shape = [evaluate_dim(d, extents) for d in param.type.shape]
            except DimSubstitutionError:
                self._require_sources(param.name, param.type.shape)
                outputs.append(None)
                continue
            outputs.append(torch.empty(shape, dtype=dtype, device=device) if min(shape, default=0) >= 0 else None)
        return outputs

    def _device(self, inputs: Sequence[object]) -> torch.device:
        for i in self._tensors:
            if not isinstance(inputs[i], torch.Tensor):
                raise ArgumentTypeError(
                    f"{self._entry.name}: cannot allocate outputs: argument '{self._entry.params[i].name}' is a "
                    f"{type(inputs[i]).__name__}, expected a torch.Tensor",
                    remedy="pass torch tensors, or pass the outputs too",
                )
        for value in inputs:
            if isinstance(value, torch.Tensor) and (value.dim() > 0 or not self._tensors):
                return value.device
        raise ArgumentTypeError(
            f"{self._entry.name}: cannot infer device: no input is a tensor", remedy="pass the outputs too"
        )

    def _require_sources(self, name: str, shape: Sequence[object]) -> None:
        missing = sorted({d.name for d in shape if isinstance(d, DimVar) and d.name not in self._sources})
        if missing:
            raise ArgumentTypeError(
                f"{self._entry.name}: cannot allocate output '{name}': no input has the extent {', '.join(missing)}",
                remedy="pass the outputs too",
            )
