"""A copy of the tree that holds one layer and what it may import, and nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.layers.imports import module_name
from tests.layers.levels import HEAVY, layer_of, outside_of, reachable
from tests.layers.violations import is_test

# Runs before the code under test. Outside packages lie in folders of many, so they are refused by name, not by path.
_REFUSE = """\
import sys
class _Refused:
    names = frozenset({names!r})
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"{{name}} is not for this layer", name=name)
        return None
sys.meta_path.insert(0, _Refused())
"""


def prune(root: Path, layer: str, to: Path) -> list[str]:
    """Copies the layer and all it may import into `to`; returns the names of the layer's own modules.

    A package whose own `__init__.py` belongs to a layer above is left without one: Python still finds what lies in it.
    """
    kept = reachable(layer)
    names = []
    for file in sorted((root / "tilefoundry").rglob("*")):
        if not file.is_file() or "__pycache__" in file.parts:
            continue
        name = module_name(root, file)
        owner = _owner(name)
        if owner not in kept or is_test(file):
            continue
        target = to / file.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        if owner == layer and file.suffix == ".py":
            names.append(name)
    return names


def _owner(name: str) -> str | None:
    """The layer of a module, or of the folder of a data file."""
    while name and layer_of(name) is None:
        name = name.rpartition(".")[0]
    return layer_of(name)


def run_in(tree: Path, layer: str, code: str, paths: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Runs code with the pruned tree first on the path and the packages that are not for the layer refused.

    Args:
      tree: the pruned tree.
      layer: whose packages are allowed.
      code: Python source.
      paths: the folders of outside packages.
    """
    refused = sorted(set(HEAVY) - outside_of(layer))
    return subprocess.run(
        [sys.executable, "-s", "-c", _REFUSE.format(names=refused) + code],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), *paths]), "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
