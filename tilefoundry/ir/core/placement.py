"""On which device a call runs: where its weights and its activations are, when they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.execution import executor
from tilefoundry.ir.core.weights import join_path

if TYPE_CHECKING:
    from tilefoundry.ir.core.module import Module


def path_of(module: Module) -> str:
    """The dotted path of a node below its root; empty for a root."""
    return "" if module.owner is None else join_path(path_of(module.owner), module.name)


def weight_devices(module: Module, constants: Mapping[str, object]) -> dict[str, str]:
    """The device of each weight of a node, by path."""
    facts = {join_path(path_of(module), name): executor().facts(value) for name, value in constants.items()}
    return {path: fact.device for path, fact in facts.items() if fact is not None}


def agreed_device(callee: str, weights: Mapping[str, str], activations: Sequence[object]) -> str | None:
    """The one device of weights and tensor activations; None when there are neither.

    Args:
        callee: what is called, for the error.
        weights: `weight_devices` of the called node.

    Raises:
        WrongValueError: there is more than one; nothing is moved.
    """
    where = {f"weight '{path}'": device for path, device in weights.items()}
    for i, value in enumerate(activations):
        fact = executor().facts(value)
        if fact is not None:
            where[f"activation {i}"] = fact.device
    devices = set(where.values())
    if len(devices) > 1:
        listed = ", ".join(f"{what} on {device}" for what, device in where.items())
        raise WrongValueError(
            f"{callee}: weights and activations are on more than one device: {listed}",
            remedy="load the weights onto the device of the activations, or move the activations; nothing is moved",
        )
    return devices.pop() if devices else None
