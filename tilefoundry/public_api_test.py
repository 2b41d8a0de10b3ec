"""The public API: every name resolves, the three lists agree, and importing it loads nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tilefoundry


@pytest.mark.parametrize("name", tilefoundry.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(tilefoundry, name)
    assert value is not None
    assert getattr(tilefoundry, name) is value, "a name must mean the same object each time"


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(tilefoundry.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {
        (a.asname, n.module) for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names if a.name == a.asname
    }
    assert seen == {(name, home) for home, names in tilefoundry._HOMES.items() for name in names}


def test_dir_lists_what_is_not_loaded_yet() -> None:
    assert set(tilefoundry.__all__) <= set(dir(tilefoundry))
    assert tilefoundry.__all__ == sorted(set(tilefoundry.__all__))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'tilefoundry' has no attribute 'nothing'"):
        getattr(tilefoundry, "nothing")  # noqa: B009
    with pytest.raises(ImportError, match="nothing"):
        exec("from tilefoundry import nothing")


def test_import_loads_no_torch() -> None:
    code = (
        "import sys, tilefoundry\n"
        "heavy = {'torch', 'numpy', 'tvm_ffi', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "tilefoundry.func, tilefoundry.module, tilefoundry.DType, tilefoundry.VerifyError\n"
        "heavy = {'torch', 'numpy', 'tvm_ffi', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(p for p in sys.path if p)})
