"""The usual call of a compiled entry, without a loop: code for exactly its parameters.

Small kernels take a few microseconds, launch included, so every question that Python asks of an argument is felt. The
function asks each of them once, of plain tensors; whatever is not the usual case goes the general way.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

import torch

M = TypeVar("M")

_MISSING = object()  # stands for an argument that was not given
_MOST = 64  # parameters; beyond, nobody feels a loop


@functools.cache
def with_quick_call(cls: type[M], inputs: str, outputs: int) -> type[M]:
    """A subclass of the same name whose calls with all arguments are quick; `cls` itself where a loop is no slower.

    ``__call__`` runs ``self._fn`` where every tensor is a plain one that owns what it hands over, and no output takes
    part in autograd, and else returns what ``self._call`` does. An error of `self._fn` goes to ``self._explain`` first.

    Args:
        inputs: "t" for each tensor and "s" for each scalar among the inputs, in order.
        outputs: how many tensors come behind them.
    """
    names = [f"p{i}" for i in range(len(inputs) + outputs)]
    tensors = [name for name, kind in zip(names, inputs + "t" * outputs, strict=True) if kind == "t"]
    if not tensors or len(names) > _MOST:
        return cls
    results = names[len(inputs) :]
    plain = [f"(type({name}) is Tensor or type({name}) is Parameter)" for name in tensors]
    own = [f"not {name}.is_neg()" for name in tensors] + [f"not {name}.requires_grad" for name in results]
    given = "".join(f"{name}, " for name in names)
    source = "\n".join(
        [
            f"def __call__(self, {', '.join(f'{name}=MISSING' for name in names)}, /, *rest):",
            f"    if not rest and {' and '.join((*plain, *own))}:",
            "        try:",
            f"            self._fn({given})",
            "        except RuntimeError as error:",
            f"            self._explain(({given}), error)",
            "            raise",
            f"        return {results[0] if outputs == 1 else '(' + ''.join(f'{name}, ' for name in results) + ')'}",
            f"    return self._call(*[p for p in ({given}) if p is not MISSING], *rest)",
        ]
    )
    scope: dict[str, Any] = {"Tensor": torch.Tensor, "Parameter": torch.nn.Parameter, "MISSING": _MISSING}
    exec(source, scope)  # of numbered names alone, as dataclasses make their methods
    members = {"__call__": scope["__call__"], "__module__": cls.__module__, "__doc__": cls.__doc__}
    made = type(cls.__name__, (cls,), members)
    made.__qualname__ = cls.__qualname__
    return made
