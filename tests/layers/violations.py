"""The layer rules, applied to a tree: what each import breaks, in words."""

import sys
from pathlib import Path

from tests.layers.imports import COMPUTED, Import, imports_of, module_name
from tests.layers.levels import LAYERS, layer_of

# What imports late by design: the public API does so on first use of a name, the command line to start fast.
_LATE = ("root", "cli")
# What imports modules whose names its user gives: the programs to compile.
_LOADS_PROGRAMS = ("driver", "cli")


def sources(root: Path) -> list[Path]:
    """The product's Python files under the import root, without their unit tests."""
    return sorted(f for f in (root / "tilefoundry").rglob("*.py") if not is_test(f))


def is_test(file: Path) -> bool:
    """Whether a file is only there for tests, which may look at other layers."""
    return file.name.endswith("_test.py") or file.name in ("conftest.py", "testing.py")


def violations(root: Path) -> list[str]:
    """All broken rules in the tree under the import root, one line each."""
    found = []
    for file in sources(root):
        name = file.relative_to(root)
        layer = layer_of(module_name(root, file))
        if layer is None:
            found.append(f"{name}: belongs to no layer; give it one in tests/layers/levels.py")
            continue
        found += [f"{name}:{i.line}: {broken}" for i in imports_of(root, file) if (broken := _broken(layer, i))]
    return found


def _broken(layer: str, made: Import) -> str | None:
    """What one import of a layer breaks, if anything."""
    rules = LAYERS[layer]
    if made.module == COMPUTED:
        return None if layer in _LOADS_PROGRAMS else f"{layer} imports a module by a name that its source does not hold"
    top = made.module.partition(".")[0]
    if top != "tilefoundry":
        if top in sys.stdlib_module_names or top in rules.outside:
            return None
        allowed = ", ".join(rules.outside) or "nothing"
        return f"{layer} imports {made.module}; outside the standard library it may use {allowed}"
    other = layer_of(made.module)
    if other is None:
        return f"{layer} imports {made.module}, which belongs to no layer"
    if other == layer:
        return None
    what = f"{layer} imports {made.module} of {other}"
    if other not in rules.may_import:
        return f"{what}; it may import {', '.join(rules.may_import) or 'no layer'}"
    if made.late and layer not in _LATE:
        return f"{what} inside a function; import at the top, or turn the dependency round"
    return None
