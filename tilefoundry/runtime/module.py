"""RuntimeModule: the base of everything that runs a Module (runtime spec, 1.1)."""

from __future__ import annotations

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.weights import WeightSource


class RuntimeModule:
    """A node of a tree of kernels: a name, an entry, and children.

    A subclass builds its children in ``__init__`` and writes the composition in `forward`, as with ``torch.nn.Module``.

    Args:
        name: the name of the node in its tree; weights of a child live under it.
        entry: name of the function that a call runs, if the node has one.
        modules: the children.
    """

    def __init__(self, name: str, entry: str | None = None, modules: tuple[RuntimeModule, ...] = ()) -> None:
        self.name = name
        self.entry = entry
        self.modules = tuple(modules)

    @property
    def module(self) -> Module | None:
        """The authored Module that this stands for; None when it stands for no single one."""
        return None

    def forward(self, *args: object) -> object:
        """Runs the node.

        Raises:
            NotImplementedError: the subclass does not say how.
        """
        raise NotImplementedError(f"runtime module '{self.name}' defines no forward()")

    def __call__(self, *args: object) -> object:
        return self.forward(*args)

    def load(self, resource: WeightSource) -> None:
        """Loads every child from its part of `resource`; the base class has no weights of its own."""
        for child in self.modules:
            child.load(resource.subtree(child.name))


def authored_module(node: RuntimeModule, caller: str) -> Module:
    """The Module that a node stands for, for whoever cannot do without one.

    Raises:
        WrongTypeError: it stands for none; another is not put in its place.
    """
    if node.module is None:
        raise WrongTypeError(
            f"{caller}: runtime module '{node.name}' ({type(node).__name__}) stands for no single Module",
            remedy="pass the Module itself",
        )
    return node.module
