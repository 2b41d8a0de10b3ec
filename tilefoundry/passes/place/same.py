"""Kernels that compute the same from other tensors: those of the layers of a model, whose weights are parameters."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.text import canonical_function_text
from tilefoundry.passes.names import Names


class Kernels:
    """The kernels of one chain, each once.

    Attributes:
        all: in the order of their first launches.

    Args:
        names: gives each its name.
    """

    def __init__(self, names: Names) -> None:
        self.all: list[Function] = []
        self._names = names
        self._known: dict[str, Function] = {}

    def one(self, kernel: Function) -> Function:
        """The kernel of the chain that computes what this one does from the same kinds of parameters.

        That is an earlier one, or this one, under a name like its own that no other has.
        """
        text = _text(kernel)
        if text not in self._known:
            self._known[text] = replace(kernel, name=self._names.fresh(kernel.name))
            self.all.append(self._known[text])
        return self._known[text]


def _text(kernel: Function) -> str:
    """What a kernel is, whatever it and its parameters are called."""
    params = tuple(Var(f"p{k}", p.type, p.is_const) for k, p in enumerate(kernel.params))
    assert kernel.body is not None
    body = Rewriter(dict(zip(kernel.params, params, strict=True))).expr(kernel.body)
    return canonical_function_text(replace(kernel, name="kernel", params=params, body=body))
