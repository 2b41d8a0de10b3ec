import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    "core",
    "core.expr",
    "core.module",
    "dims",
    "dims.ops",
    "hir",
    "shard",
    "text",
    "types",
    "types.tensor",
    "verify",
]


@pytest.mark.parametrize("first", PACKAGES)
def test_any_package_may_be_imported_first_and_brings_no_tensor_library(first):
    program = f"import sys, tilefoundry.ir.{first}; sys.exit(any(m in sys.modules for m in ('torch', 'numpy')))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
