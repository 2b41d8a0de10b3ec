"""The layers of the tree and what each may import: the table that the layer tests assert."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """One layer.

    Attributes:
      level: layers of a lower level are below it.
      modules: dotted names; the layer holds these and all below them. The longest name that fits a module wins.
      may_import: the other layers that it may import.
      outside: the packages beyond the standard library that it may import.
    """

    level: int
    modules: tuple[str, ...]
    may_import: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


_FOUNDATION = ("diagnostics", "target", "ir", "abi")
_MIDDLE = (*_FOUNDATION, "dsl", "python", "evaluator", "passes")
_BELOW_DRIVER = (*_MIDDLE, "codegen", "runtime", "loader")

LAYERS: dict[str, Layer] = {
    "diagnostics": Layer(0, ("tilefoundry.diagnostics",)),
    "target": Layer(0, ("tilefoundry.target",), ("diagnostics",)),
    "ir": Layer(1, ("tilefoundry.ir",), ("diagnostics", "target")),
    "viewer": Layer(2, ("tilefoundry.viewer",), ("diagnostics", "target", "ir")),
    "abi": Layer(2, ("tilefoundry.runtime.abi", "tilefoundry.runtime.abi_json"), ("diagnostics", "target", "ir")),
    "dsl": Layer(3, ("tilefoundry.dsl",), _FOUNDATION),
    "python": Layer(3, ("tilefoundry.python",), (*_FOUNDATION, "dsl")),
    "evaluator": Layer(3, ("tilefoundry.evaluator",), _FOUNDATION, ("torch", "numpy")),
    "passes": Layer(3, ("tilefoundry.passes",), _FOUNDATION),
    "codegen": Layer(4, ("tilefoundry.codegen",), (*_FOUNDATION, "passes")),
    "runtime": Layer(4, ("tilefoundry.runtime",), (*_FOUNDATION, "evaluator"), ("torch", "numpy", "safetensors")),
    "loader": Layer(
        4,
        ("tilefoundry.runtime.loader", "tilefoundry.runtime.library"),
        (*_FOUNDATION, "runtime"),
        ("tvm_ffi", "torch"),
    ),
    "driver": Layer(5, ("tilefoundry.driver",), _BELOW_DRIVER, ("tvm_ffi",)),
    "cli": Layer(6, ("tilefoundry.cli",), (*_BELOW_DRIVER, "driver", "viewer", "root"), ("typer", "rich")),
    "root": Layer(6, ("tilefoundry",), (*_BELOW_DRIVER, "driver", "viewer")),
}

# What a layer without these in `outside` must do without, whatever the packages it imports bring along.
HEAVY = ("torch", "tvm_ffi")


def layer_of(module: str) -> str | None:
    """The layer that a module of ours belongs to, None for one that the table does not place.

    `tilefoundry` itself is the root layer; a package beside the known ones belongs to none.
    """
    best: tuple[int, str] | None = None
    for name, layer in LAYERS.items():
        for prefix in layer.modules:
            inside = module == prefix or (prefix != "tilefoundry" and module.startswith(prefix + "."))
            if inside and (best is None or len(prefix) > best[0]):
                best = (len(prefix), name)
    return best[1] if best else None


def reachable(layer: str) -> frozenset[str]:
    """The layer and all that it may import, directly or through others."""
    seen: set[str] = set()
    todo = [layer]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(LAYERS[name].may_import)
    return frozenset(seen)


def outside_of(layer: str) -> frozenset[str]:
    """The outside packages that the layer may load, itself or through the layers that it imports."""
    return frozenset(p for name in reachable(layer) for p in LAYERS[name].outside)
