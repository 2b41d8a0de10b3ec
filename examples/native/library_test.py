"""What `tilefoundry_kernel_library` builds: each entry is what `jit` gives for its program."""

from pathlib import Path
from typing import Any

import pytest
import torch

import tilefoundry
from examples.native.program import KERNELS
from tilefoundry.driver import CompilerOptions
from tilefoundry.driver.keys import module_key
from tilefoundry.runtime import RelL2, check
from tilefoundry.runtime.library import LibraryError
from tilefoundry.target import CpuTarget

LIBRARY = Path(__file__).absolute().parent / "rows.so"


@pytest.mark.parametrize("rows", [1, 3, 64])
def test_each_entry_computes_what_its_program_says(rows: int) -> None:
    x, weight = torch.randn(rows, 256), torch.randn(256)
    for entry, program in KERNELS.items():
        inputs = (x, weight) if entry == "rms_norm" else (x,)
        exact: Any = tilefoundry.evaluate(program, *inputs, precision="f64")
        kernel = tilefoundry.load(LIBRARY, entry)
        report = check(kernel, lambda *_, exact=exact: exact.float(), inputs, expect={"output": [RelL2(max=1e-6)]})
        assert report.passed, str(report)


def test_keys_are_those_of_jit() -> None:
    rows = [line.split() for line in LIBRARY.with_suffix(".key").read_text().splitlines()]
    keys = {entry: module_key(program, CpuTarget(), CompilerOptions()) for entry, program in KERNELS.items()}
    assert rows == [[name, "x86-64-v3", key] for name, key in keys.items()]
    linked = tilefoundry.load(LIBRARY, "softmax").linked
    assert linked is not None and linked.key == keys["softmax"]


def test_an_entry_has_its_own_sources() -> None:
    kernel = tilefoundry.load(LIBRARY, "softmax")
    assert list(kernel.sources) == ["softmax.cc", "entries.cc", "softmax.host_entry.cc"]
    assert [k.name for k in kernel.kernels] == ["softmax"]


def test_which_entry_must_be_said() -> None:
    with pytest.raises(ValueError, match=r"has the entries rms_norm, softmax: which one\?"):
        tilefoundry.load(LIBRARY)
    with pytest.raises(ValueError, match="has the entries rms_norm, softmax, and no entry 'gelu'"):
        tilefoundry.load(LIBRARY, "gelu")


def test_a_library_of_another_make_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "rows.so"
    other.write_bytes(LIBRARY.read_bytes().replace(b"__tvm_ffi_tilefoundry_", b"__tvm_ffi_tileFoundry_"))
    with pytest.raises(LibraryError, match="has no symbol 'tilefoundry_description'"):
        tilefoundry.load(other, "softmax")
