"""What a kernel takes of an SM's registers, where that decides how many CTAs one holds; nothing is run."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from examples.attention.program import attention_module
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.native import build_library
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
_REGISTERS = 64 << 10  # of an SM


_REGISTER_COUNT = b"\x04\x2f\x08\x00"  # of `.nv.info`; a symbol and the number follow


def registers(cubin: bytes) -> dict[str, int]:
    """The registers of a thread, for each kernel."""
    start, size, count, names = struct.unpack_from("<Q10xHHH", cubin, 0x28)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + k * size) for k in range(count)]

    def text(table: int, at: int) -> str:
        first = sections[table][4] + at
        return cubin[first : cubin.index(b"\0", first)].decode()

    [info] = [s for s in sections if text(names, s[0]) == ".nv.info"]
    [symbols] = [s for s in sections if text(names, s[0]) == ".symtab"]
    found, at = {}, info[4]
    while (at := cubin.find(_REGISTER_COUNT, at, info[4] + info[5])) >= 0:
        symbol, used = struct.unpack_from("<II", cubin, at + 4)
        found[text(symbols[6], struct.unpack_from("<I", cubin, symbols[4] + 24 * symbol)[0])] = used
        at += 12
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_an_sm_holds_two_ctas_of_attention_with_64_columns(tmp_path: Path, causal: bool) -> None:
    emitted = emit_module(lower(attention_module(64, "bf16", causal), TARGET), TARGET)
    build_library(emitted, CompilerOptions(), tmp_path, "attention.so")
    [unit], [cubin] = emitted.units, tmp_path.glob("*.cubin")
    used = registers(cubin.read_bytes())["attention__vector"]
    assert 0 < used * unit.block <= _REGISTERS // 2
