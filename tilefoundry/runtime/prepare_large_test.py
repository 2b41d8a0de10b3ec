"""4 GiB are prepared in the memory of one weight.

It writes 4 GiB, so it runs when it is asked for:

    bazel test --test_tag_filters=large //tilefoundry/runtime:prepare_large_test
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tilefoundry.runtime import SafetensorsResource

# The limit counts all private memory that the process may write to, from the moment on at which torch is loaded.
PROGRAM = """
import resource, sys, torch
import tilefoundry
from tilefoundry.dsl import ConstTensor, Tensor, tf
from tilefoundry.python import func, module
from tilefoundry.ir.core import Module

ROWS, COLUMNS, COUNT = 4096, 8192, 32  # 128 MiB each

@module(entry="run")
class Turned:
    @func
    def run(x: Tensor[(1, 4096), "f32"], w: ConstTensor[(4096, 8192), "f32"]) -> Tensor[(1, 8192), "f32"]:
        return tf.matmul(x, w)

    @run.converter("w")
    def _w(stored: Tensor[(8192, 4096), "f32"]) -> Tensor[(4096, 8192), "f32"]:
        return tf.transpose(stored, (1, 0))

class Made:
    def __init__(self, number=0): self.number = number
    def load(self, name): return torch.full((COLUMNS, ROWS), float(self.number))
    def load_group(self, name): return None
    def subtree(self, seg): return Made(int(seg[1:]))

many = Module("many", (), modules=tuple(Turned.renamed(f"c{i}") for i in range(COUNT)))
torch.ones(8) @ torch.ones(8)
held = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
one = ROWS * COLUMNS * 4
limit = held + 2 * one + (256 << 20)  # a weight's input and its result, and 256 MiB
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    bytearray(5 * one)
except MemoryError:
    print("limited")
many.prepare(Made(), sys.argv[1], max_shard_bytes=1 << 30)
print("prepared")
"""


def test_statement_42_4_gib_take_the_memory_of_one_weight_and_256_mib(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, program, tmp_path / "out"],
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": "/usr/bin", "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["limited", "prepared"]
    sizes = [file.stat().st_size for file in (tmp_path / "out").glob("*.safetensors")]
    assert len(sizes) == 4
    assert sum(sizes) > 4 << 30
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        prepared.verify()
        for number in (0, 17, 31):
            weight = prepared.load(f"c{number}.w")
            assert weight.shape == (4096, 8192)
            assert float(weight.min()) == float(weight.max()) == number
