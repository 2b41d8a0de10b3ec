"""The machine's CUDA is out of reach and what is first on PATH is not a compiler: the premise of the other tests."""

import os
import shutil
import subprocess
from pathlib import Path


def test_wrong_compiler_is_first_on_path() -> None:
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True)
    assert done.returncode == 97, done.stdout
    assert "wrong nvcc" in done.stderr
    assert os.environ["CUDA_HOME"] == str(Path(nvcc).parents[1])


def test_hidden_folders_cannot_be_read() -> None:
    hidden = os.environ["HIDDEN_CUDA"].split(":")
    assert hidden
    for path in filter(os.path.exists, filter(None, hidden)):
        assert not os.access(path, os.R_OK | os.X_OK) or (os.path.isdir(path) and not os.listdir(path)), path
