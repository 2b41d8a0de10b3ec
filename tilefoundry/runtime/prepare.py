"""Module.prepare: from a raw checkpoint to one that holds exactly the declared weights (runtime spec, 1.1.2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from tilefoundry.diagnostics import MissingNameError, TileFoundryError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.execution import executor
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.weights import WeightSource, join_path, misfit, require_source
from tilefoundry.ir.types import TensorType
from tilefoundry.runtime.prepare_directory import published_directory
from tilefoundry.runtime.prepare_writer import Layout, plan_shards, write_checkpoint


@dataclass(frozen=True)
class _Weight:
    """A declared weight and where it comes from."""

    path: str
    name: str
    type: TensorType
    node: Module
    raw: WeightSource
    converter: Function | None


def prepare(
    module: Module,
    raw: WeightSource,
    out_dir: str | os.PathLike[str],
    device: torch.device,
    overwrite: bool,
    max_shard_bytes: int | None,
) -> None:
    """Writes the declared weights of a tree as a safetensors checkpoint; see `Module.prepare`."""
    require_source(f"raw weights of '{module.name}'", raw)
    weights = list(_weights(module, raw, ""))
    layouts = [Layout.of(w.path, w.type) for w in weights]
    shards = plan_shards(layouts, max_shard_bytes)
    with published_directory(Path(out_dir), overwrite) as directory:
        write_checkpoint(directory, shards, (_value(w, device) for w in weights))


def _weights(node: Module, raw: WeightSource, path: str) -> Iterator[_Weight]:
    for child in node.modules:
        yield from _weights(child, raw.subtree(child.name), join_path(path, child.name))
    converters = _converters(node, path)
    for name, declared in node.weights.items():
        weight = join_path(path, name)
        if not isinstance(declared, TensorType) or not all(isinstance(d, int) for d in declared.shape):
            raise WrongValueError(
                f"weight '{weight}' is declared as {declared}, but a checkpoint holds extents that are known",
                remedy="declare the weight with plain extents",
            )
        yield _Weight(weight, name, declared, node, raw, converters.get(name))


def _converters(node: Module, path: str) -> dict[str, Function]:
    found: dict[str, tuple[str, Function]] = {}
    for function in node.functions:
        for weight, converter in function.converters if isinstance(function, Function) else ():
            if weight in found:
                raise WrongValueError(
                    f"weight '{join_path(path, weight)}' has more than one registered converter: "
                    f"of '{found[weight][0]}' and of '{function.name}'",
                    remedy="register one; functions that share a weight share its converter",
                )
            found[weight] = function.name, converter
    return {weight: converter for weight, (_, converter) in found.items()}


def _value(weight: _Weight, device: torch.device) -> torch.Tensor:
    """What is to be stored: the converter's result, or the raw tensor, checked against the declaration."""
    if weight.converter is None:
        what, value = f"raw weight '{weight.path}'", _fetch(weight, weight.name)
    else:
        what = f"converter for weight '{weight.path}'"
        args = tuple(_fetch(weight, p.name).to(device) for p in weight.converter.params)
        try:
            made = executor().run(weight.node, weight.converter, args, str(device))
        except TileFoundryError as error:
            error.add_note(f"in the {what}")
            raise
        assert isinstance(made, torch.Tensor)  # its return type is a tensor's
        value = made
    fault = misfit(what, weight.type, value, {})
    if fault is not None:
        raise WrongValueError(fault)
    return value


def _fetch(weight: _Weight, name: str) -> torch.Tensor:
    """A raw tensor; a one-to-many name is stacked on a new first axis."""
    what = f"raw tensor '{name}' of weight '{weight.path}'"
    try:
        group = weight.raw.load_group(name)
        members = (weight.raw.load(name),) if group is None else tuple(group)
    except KeyError as error:
        reason = error.message if isinstance(error, TileFoundryError) else str(error)
        raise MissingNameError(f"{what} is missing: {reason}") from error
    tensors = [m.detach() for m in members if isinstance(m, torch.Tensor)]
    if len(tensors) < len(members):
        kinds = ", ".join(sorted({type(m).__name__ for m in members if not isinstance(m, torch.Tensor)}))
        raise WrongTypeError(f"{what}: the resource gave {kinds}, expected a torch.Tensor")
    if group is None:
        return tensors[0]
    if len({(t.shape, t.dtype, t.device) for t in tensors}) != 1:
        shown = ", ".join(f"{tuple(t.shape)} {t.dtype} on {t.device}" for t in tensors)
        raise WrongValueError(f"{what}: the members of the group must be alike to be stacked, got {shown or 'none'}")
    return torch.stack(tensors, 0)
