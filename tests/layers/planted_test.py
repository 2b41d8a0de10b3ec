"""The layer test finds what it is there to find: planted violations, each in a small tree of its own."""

from pathlib import Path

import pytest

from tests.layers.imports import Import, imports_of
from tests.layers.levels import layer_of
from tests.layers.pruned import prune, run_in
from tests.layers.violations import violations

_CLEAN = {
    "__init__.py": "",
    "diagnostics/__init__.py": "import dataclasses\n",
    "ir/__init__.py": "",
    "ir/core.py": "from tilefoundry import diagnostics\n",
    "evaluator/__init__.py": "import torch\nfrom tilefoundry.ir import core\n",
    "runtime/__init__.py": "import importlib\n_E = {'x': 'tilefoundry.runtime.x'}\n"
    "def __getattr__(n):\n    return importlib.import_module(_E[n])\n",
    "runtime/y.py": "def __getattr__(n):\n    from tilefoundry.runtime.abi import core\n",
    "runtime/abi.py": "from tilefoundry.ir import core\n",
    "runtime/x.py": "import torch\n",
    "driver/__init__.py": "import importlib, sys\nimportlib.import_module(sys.argv[1])\n",
    "codegen/__init__.py": "from ..runtime import abi\n",
}


def _plant(root: Path, **more: str) -> Path:
    for name, text in {**_CLEAN, **more}.items():
        file = root / "tilefoundry" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_the_clean_tree_is_clean(tmp_path: Path) -> None:
    assert violations(_plant(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("ir/bad.py", "import tilefoundry.evaluator\n", "ir imports tilefoundry.evaluator of evaluator"),
        ("ir/bad.py", "from tilefoundry import evaluator\n", "ir imports tilefoundry.evaluator of evaluator"),
        ("ir/bad.py", "from .. import evaluator\n", "ir imports tilefoundry.evaluator of evaluator"),
        ("ir/bad.py", "def f():\n    from tilefoundry.evaluator import e\n", "ir/bad.py:2: ir imports"),
        ("ir/bad.py", "def f():\n    import torch\n", "ir imports torch"),
        ("ir/bad.py", "if TYPE_CHECKING:\n    from tilefoundry.passes import p\n", "ir imports tilefoundry.passes"),
        ("ir/bad.py", "import importlib\nimportlib.import_module('tilefoundry.evaluator')\n", "ir imports"),
        ("ir/bad.py", "from importlib import import_module as i\ni('torch')\n", "ir imports torch"),
        ("ir/bad.py", "__import__('torch')\n", "ir imports torch"),
        (
            "ir/bad.py",
            "import importlib\nN = 'tilefoundry.cli'\nimportlib.import_module(N)\n",
            "ir imports tilefoundry.cli",
        ),
        (
            "ir/bad.py",
            "import importlib, sys\nimportlib.import_module(sys.argv[1])\n",
            "by a name that its source does not",
        ),
        ("ir/bad.py", "def f():\n    import tilefoundry.diagnostics\n", "inside a function"),
        (
            "codegen/bad.py",
            "from tilefoundry.runtime import loader\n",
            "codegen imports tilefoundry.runtime of runtime",
        ),
        ("codegen/bad.py", "import tvm_ffi\n", "codegen imports tvm_ffi"),
        ("diagnostics/bad.py", "import numpy\n", "diagnostics imports numpy"),
        (
            "target/__init__.py",
            "import tilefoundry.ir\n",
            "target imports tilefoundry.ir of ir; it may import diagnostics",
        ),
        ("new/__init__.py", "", "new/__init__.py: belongs to no layer"),
        ("ir/bad.py", "import tilefoundry.new\n", "tilefoundry.new, which belongs to no layer"),
    ],
)
def test_planted(file: str, text: str, says: str, tmp_path: Path) -> None:
    broken = violations(_plant(tmp_path, **{file: text}))
    assert len(broken) == 1
    assert says in broken[0]


def test_imports_are_read_with_their_lines(tmp_path: Path) -> None:
    _plant(
        tmp_path,
        **{"ir/a.py": "import os.path\n\nfrom . import core\nclass A:\n    def f(self):\n        import json\n"},
    )
    assert imports_of(tmp_path, tmp_path / "tilefoundry/ir/a.py") == [
        Import("os.path", 1, False),
        Import("tilefoundry.ir.core", 3, False),
        Import("json", 6, True),
    ]


@pytest.mark.parametrize(
    ("module", "layer"),
    [
        ("tilefoundry", "root"),
        ("tilefoundry.ir.core.module", "ir"),
        ("tilefoundry.runtime.abi", "abi"),
        ("tilefoundry.runtime.loader", "loader"),
        ("tilefoundry.runtime.module", "runtime"),
        ("tilefoundry.irrelevant", None),
    ],
)
def test_layer_of(module: str, layer: str | None) -> None:
    assert layer_of(module) == layer


def test_a_pruned_tree_lacks_what_is_above(tmp_path: Path) -> None:
    names = prune(_plant(tmp_path / "tree", **{"ir/core_test.py": ""}), "ir", tmp_path / "pruned")
    assert names == ["tilefoundry.ir", "tilefoundry.ir.core"]
    left = {str(f.relative_to(tmp_path / "pruned/tilefoundry")) for f in (tmp_path / "pruned").rglob("*.py")}
    assert left == {"diagnostics/__init__.py", "ir/__init__.py", "ir/core.py"}


@pytest.mark.parametrize(
    "text",
    [
        "from tilefoundry import evaluator\n",
        "import torch\n",
        "name = ''.join(['tor', 'ch'])\n__import__(name)\n",  # what no reading of the source can find
    ],
)
def test_running_a_layer_finds_what_it_must_not_load(text: str, tmp_path: Path) -> None:
    prune(_plant(tmp_path / "tree", **{"ir/bad.py": text}), "ir", tmp_path / "pruned")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "torch.py").write_text("")
    done = run_in(tmp_path / "pruned", "ir", "import tilefoundry.ir.bad", [str(packages)])
    assert done.returncode != 0
    assert "ModuleNotFoundError" in done.stdout or "ImportError" in done.stdout
    assert run_in(tmp_path / "pruned", "ir", "import tilefoundry.ir.core", [str(packages)]).returncode == 0
    assert run_in(tmp_path / "tree", "evaluator", "import torch", [str(packages)]).returncode == 0
