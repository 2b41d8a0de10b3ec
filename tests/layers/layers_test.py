"""The tree keeps its layers: by what every import says, and by running each layer without the ones above it."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

import tilefoundry
from tests.layers.exercises import EXERCISES
from tests.layers.imports import module_name
from tests.layers.levels import HEAVY, LAYERS, layer_of, outside_of, reachable
from tests.layers.pruned import prune, run_in
from tests.layers.violations import is_test, sources, violations

_ROOT = Path(tilefoundry.__file__).parents[1]
# Where outside packages lie: what is on the path and does not hold this tree.
_OUTSIDE = [p for p in [*sys.path, *site.getsitepackages()] if p and not (Path(p) / "tilefoundry").is_dir()]

_PRESENT = {layer_of(module_name(_ROOT, f)) for f in sources(_ROOT)}

_RUN = """
import importlib, sys
for name in {names!r}:
    importlib.import_module(name)
{exercise}
loaded = {{m.partition(".")[0] for m in sys.modules}} & set({refused!r})
assert not loaded, loaded
"""


def test_the_table_is_layered() -> None:
    for name, layer in LAYERS.items():
        for other in layer.may_import:
            assert LAYERS[other].level <= layer.level, f"{name} may import {other}, which is above it"
        assert name not in {n for o in layer.may_import for n in reachable(o)}, f"{name} imports itself through others"


def test_the_tree_has_its_layers() -> None:
    assert set(LAYERS) - _PRESENT <= {"cli"}, "only the command line may be missing still"


def test_no_import_breaks_the_table() -> None:
    assert len(sources(_ROOT)) > 20, f"no tree to look at in {_ROOT}"
    broken = violations(_ROOT)
    assert not broken, "\n" + "\n".join(broken)


def test_layers_without_torch_and_tvm_ffi() -> None:
    for name in ("diagnostics", "target", "ir", "abi", "python", "dsl", "passes", "codegen"):
        assert not outside_of(name) & set(HEAVY), f"{name} would load torch or TVM FFI"


@pytest.mark.parametrize("layer", [name for name in LAYERS if name in _PRESENT])
def test_layer_runs_alone(layer: str, tmp_path: Path) -> None:
    """Every module of it imports, and it does its work, in a tree without the layers above."""
    names = prune(_ROOT, layer, tmp_path)
    assert names, f"the layer {layer} has no modules"
    refused = sorted(set(HEAVY) - outside_of(layer))
    done = run_in(tmp_path, layer, _RUN.format(names=names, exercise=EXERCISES[layer], refused=refused), _OUTSIDE)
    assert done.returncode == 0, done.stdout


def test_import_needs_only_the_checkout(tmp_path: Path) -> None:
    """PYTHONPATH=<checkout> python3 -c 'import tilefoundry': no Bazel, no generated file, no outside package."""
    for file in [f for f in (_ROOT / "tilefoundry").rglob("*.py") if not is_test(f)]:
        target = tmp_path / file.relative_to(_ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    code = (
        "import sys, tilefoundry, tilefoundry.dsl, tilefoundry.target, tilefoundry.ir.core.module\n"
        "tilefoundry.func, tilefoundry.module, tilefoundry.DType\n"
        "assert not {'torch', 'tvm_ffi', 'numpy'} & set(sys.modules)"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-s", "-c", code], cwd="/", env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
