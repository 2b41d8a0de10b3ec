"""Module.prepare: the statements of the runtime's behaviour that it answers to, and its faults."""

# mypy: ignore-errors
# (attributes of a Module are found at run time)

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch

import tilefoundry
from tilefoundry.dsl import ConstTensor, DimVar, Tensor, tf
from tilefoundry.evaluator import TorchExecutor
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.python import func, module
from tilefoundry.runtime import Absolute, DictResource, SafetensorsResource
from tilefoundry.runtime.prepare_progress import Progress
from tilefoundry.runtime.testing import Model, TorchModel, weights

INDEX = "model.safetensors.index.json"
N = DimVar("N", 1, 9)


@module(entry="run")
class Expert:
    """Its weight is stored transposed, one tensor for each of two experts."""

    @func
    def run(x: Tensor[(2, 3), "f32"], w: ConstTensor[(2, 3, 4), "f32"]) -> Tensor[(2, 2, 4), "f32"]:
        return tf.matmul(x, w)

    @run.converter("w")
    def _w(experts: Tensor[(2, 4, 3), "f32"]) -> Tensor[(2, 3, 4), "f32"]:
        return tf.transpose(experts, (0, 2, 1))


def identity(name: str, shape: tuple[int, ...], dtype: str = "f32") -> Function:
    x = Var("x", make_tensor_type(shape, dtype))
    return Function(name, (x, Var("w", x.type, True)), x, x.type)


def keys(directory: Path) -> dict[str, str]:
    return json.loads((directory / INDEX).read_text())["weight_map"]


def test_statement_42_what_is_prepared_is_loaded_by_both_twins(tmp_path: Path) -> None:
    tensors, x = weights(), torch.randn(2, 4)
    Model.prepare(DictResource(tensors), tmp_path / "out")
    shard = "model-00001-of-00001.safetensors"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [shard, INDEX]
    assert keys(tmp_path / "out") == dict.fromkeys(("first.w", "second.w", "gain"), shard)  # children first
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        loaded, twin = Model.load(prepared), TorchModel()
        twin.load(prepared)
        assert all(torch.equal(prepared.load(k), v) for k, v in tensors.items())
        torch.testing.assert_close(twin(x, 2), loaded(x, 2))
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_statement_42_shards_hold_at_most_what_is_stated(tmp_path: Path) -> None:
    Model.prepare(DictResource(weights()), tmp_path / "out", max_shard_bytes=80)  # 64, 64 and 16 bytes
    first, second = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    assert keys(tmp_path / "out") == {"first.w": first, "second.w": second, "gain": second}
    Model.prepare(DictResource(weights()), tmp_path / "tiny", max_shard_bytes=1)
    assert sorted(keys(tmp_path / "tiny").values()) == [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    with SafetensorsResource(tmp_path / "tiny", device="cpu") as prepared:
        prepared.verify()
    for bad, kind in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(kind, match="max_shard_bytes"):
            Model.prepare(DictResource(weights()), tmp_path / "bad", max_shard_bytes=bad)


def test_statement_42_converters_run_on_the_device(tmp_path: Path) -> None:
    seen = []

    class Spy(DictResource):
        def load(self, name):
            seen.append(name)
            return super().load(name)

    stored = torch.randn(2, 4, 3)
    Expert.prepare(Spy({"experts": stored}), tmp_path / "out", device=torch.device("cpu"))
    assert seen == ["experts"]  # the weight's own name is never asked for
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        assert torch.equal(prepared.load("w"), stored.transpose(1, 2))
    with pytest.raises(Exception, match="meta"):  # a device that holds no values: nothing could be written from it
        Expert.prepare(DictResource({"experts": stored}), tmp_path / "meta", device="meta")
    assert not (tmp_path / "meta").exists()


def test_statement_42_nothing_of_a_weight_is_kept_when_the_next_is_read(tmp_path: Path) -> None:
    many = Module("many", (), modules=tuple(Module(f"c{i}", (identity("f", (8,)),)) for i in range(6)))
    alive: list[weakref.ref[torch.Tensor]] = []
    most = 0

    class Lazy:
        def load(self, name):
            nonlocal most
            gc.collect()
            most = max(most, sum(ref() is not None for ref in alive))
            made = torch.ones(8)
            alive.append(weakref.ref(made))
            return made

        def load_group(self, name):
            return None

        def subtree(self, seg):
            return self

    many.prepare(Lazy(), tmp_path / "out")
    assert len(alive) == 6
    assert most <= 1  # the loop's variable


MEMORY = """
import resource, sys, torch
import tilefoundry
from tilefoundry.ir.core import Function, Module, Var
from tilefoundry.ir.types import make_tensor_type

ROWS = 8 << 20  # 32 MiB of f32
x = Var("x", make_tensor_type((ROWS,), "f32"))
many = Module("many", (), modules=tuple(
    Module(f"c{i}", (Function("f", (x, Var("w", x.type, True)), x, x.type),)) for i in range(24)
))

class Lazy:
    def load(self, name): return torch.ones(2 * ROWS)[::2]  # strided: it has to be copied to be written
    def load_group(self, name): return None
    def subtree(self, seg): return self

torch.ones(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
many.prepare(Lazy(), sys.argv[1])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_statement_42_memory_is_that_of_the_largest_weight(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(MEMORY)
    ran = subprocess.run(
        [sys.executable, program, tmp_path / "out"],
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    grown = int(ran.stdout)
    # 768 MiB are written. One weight's input takes 64 MiB, and what is dense of it at a time 32 MiB.
    assert grown < 64 + 256, f"{grown} MiB"
    assert sum(f.stat().st_size for f in (tmp_path / "out").glob("*.safetensors")) > 768 << 20


def test_statement_42_a_directory_with_content_is_kept_unless_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    Model.prepare(DictResource(weights(1)), out)  # an empty one may be taken
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    with pytest.raises(FileExistsError, match="not empty(.|\n)*overwrite=True"):
        Model.prepare(DictResource(weights(2)), out)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before
    (out / "stale.txt").write_text("old")
    Model.prepare(DictResource(weights(2)), out, overwrite=True)
    assert not (out / "stale.txt").exists()
    assert {p.name: p.read_bytes() for p in out.iterdir()} != before
    (tmp_path / "file").write_text("kept")
    with pytest.raises(FileExistsError, match="not a directory"):
        Model.prepare(DictResource(weights()), tmp_path / "file", overwrite=True)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("overwrite", [False, True])
def test_statement_42_a_failure_leaves_nothing_half_written(tmp_path: Path, overwrite: bool) -> None:
    out = tmp_path / "out"
    if overwrite:
        Model.prepare(DictResource(weights(1)), out)
    before = {p.name: p.read_bytes() for p in out.iterdir()} if overwrite else {}
    bad = weights(2)
    bad["gain"] = torch.ones(5)  # the last one: two are written when it fails
    with pytest.raises(ValueError, match="raw weight 'gain'"):
        Model.prepare(DictResource(bad), out, overwrite=overwrite)
    assert [p.name for p in tmp_path.iterdir()] == (["out"] if overwrite else [])
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before if overwrite else not out.exists()


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    big = Module("big", (identity("f", (1 << 16,)),))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))  # Python ignores the signal: write fails with EFBIG
    try:
        with pytest.raises(OSError, match="File too large"):
            big.prepare(DictResource({"w": torch.ones(1 << 16)}), tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import os, signal, sys
from tilefoundry.runtime import DictResource
from tilefoundry.runtime.testing import Model, weights

class Killed(DictResource):
    def load(self, name):
        if name == "gain":  # the last one
            os.kill(os.getpid(), signal.SIGKILL)
        return super().load(name)

Model.prepare(Killed(weights()), sys.argv[1])
"""
    )
    path = ":".join(p for p in sys.path if p)
    ran = subprocess.run([sys.executable, program, tmp_path / "out"], env={"PYTHONPATH": path, "PATH": "/usr/bin"})
    assert ran.returncode == -9
    assert not (tmp_path / "out").exists()
    Model.prepare(DictResource(weights()), tmp_path / "out")  # what is left of the killed run is not in the way
    assert len(keys(tmp_path / "out")) == 3


def test_a_faster_process_wins(tmp_path: Path) -> None:
    class Rival(DictResource):
        def load(self, name):
            if name == "w":
                return super().load(name)
            Model.prepare(DictResource(weights(1)), tmp_path / "out")  # "gain" is the last weight to be read
            return super().load(name)

    with pytest.raises(FileExistsError, match="not empty"):
        Model.prepare(Rival(weights(2)), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        assert torch.equal(prepared.load("gain"), weights(1)["gain"])
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_statement_42_values_are_saved_whatever_their_memory_looks_like(tmp_path: Path) -> None:
    base = torch.randn(2, 3, 4, 5)
    raw = {
        "a.w": base,
        "b.w": base,  # tied
        "c.w": base.to(memory_format=torch.channels_last),
        "d.w": torch.randn(5, 4, 3, 2).permute(3, 2, 1, 0),
        "e.w": torch.randn(4, 3, 4, 5)[1:3],
        "f.w": torch.randn(1, 1, 1, 1).expand(2, 3, 4, 5),
    }
    many = Module("many", (), modules=tuple(Module(k[0], (identity("f", (2, 3, 4, 5)),)) for k in raw))
    many.prepare(DictResource(raw), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        prepared.verify()
        for name, value in raw.items():
            assert torch.equal(prepared.load(name), value), name


@pytest.mark.parametrize("dtype", [d.name for d in TORCH])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 5)])
def test_every_dtype_and_shape_keeps_its_bits(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    kind = torch_dtype(make_tensor_type((1,), dtype).dtype)
    count = torch.Size(shape).numel()
    high = 2 if dtype == "bool" else 256
    bits = torch.randint(0, high, (count * kind.itemsize,), dtype=torch.uint8)
    value = bits.view(kind).reshape(shape)
    w = Var("w", make_tensor_type(shape, dtype), True)
    one = Module("one", (Function("f", (w,), w, w.type),))
    one.prepare(DictResource({"w": value}), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        stored = prepared.load("w")
    assert (stored.shape, stored.dtype) == (value.shape, value.dtype)
    assert torch.equal(stored.reshape(-1).view(torch.uint8), bits)


def test_statement_43_a_group_is_stacked_on_a_new_first_axis(tmp_path: Path) -> None:
    raw = {f"experts.{i}": torch.randn(4, 3) for i in range(2)}
    alias = {"experts": ("experts.0", "experts.1")}
    Expert.prepare(DictResource(raw, alias=alias), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        assert torch.equal(prepared.load("w"), torch.stack(list(raw.values())).transpose(1, 2))
    unlike = {**raw, "experts.1": torch.randn(4, 3).double()}
    with pytest.raises(ValueError, match="'experts' of weight 'w'.*alike.*float32.*float64"):
        Expert.prepare(DictResource(unlike, alias=alias), tmp_path / "unlike")


def test_statement_43_a_group_without_a_converter_is_stacked(tmp_path: Path) -> None:
    one = Module("one", (identity("f", (2, 3)),))
    parts = {"a": torch.randn(3), "b": torch.randn(3)}
    one.prepare(DictResource(parts, alias={"w": ("a", "b")}), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        assert torch.equal(prepared.load("w"), torch.stack([parts["a"], parts["b"]]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.ones(5, dtype=torch.float64), r"raw weight 'gain': declared with shape \(4\), got \(5,\)"),
        (torch.ones(4, dtype=torch.float64), "raw weight 'gain': declared with dtype f32, got f64"),
    ],
)
def test_statement_43_raw_values_are_checked(tmp_path: Path, value: torch.Tensor, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Model.prepare(DictResource({**weights(), "gain": value}), tmp_path / "out")


def test_statement_43_what_a_converter_makes_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for made, words in (
        (torch.ones(2, 3), r"converter for weight 'w': declared with shape \(2, 3, 4\), got \(2, 3\)"),
        (torch.ones(2, 3, 4).double(), "converter for weight 'w': declared with dtype f32, got f64"),
    ):
        monkeypatch.setattr(TorchExecutor, "run", lambda *_, made=made: made)  # front end and evaluator check, too
        with pytest.raises(ValueError, match=words):
            Expert.prepare(DictResource({"experts": torch.ones(2, 4, 3)}), tmp_path / "out")


def test_a_converter_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(tilefoundry.EvalError, match="experts") as caught:
        Expert.prepare(DictResource({"experts": torch.ones(2, 4, 3).double()}), tmp_path / "out")
    assert caught.value.__notes__ == ["in the converter for weight 'w'"]
    with pytest.raises(KeyError, match="raw tensor 'experts' of weight 'w' is missing"):
        Expert.prepare(DictResource({}), tmp_path / "out")


def test_statement_44_two_converters_for_one_weight(tmp_path: Path) -> None:
    run = Expert.lookup("run")
    again = Function("again", run.params, run.body, run.return_type, converters=run.converters)
    with pytest.raises(ValueError, match="'w' has two converters"):
        Function("twice", run.params, run.body, run.return_type, converters=run.converters * 2)
    both = Module("both", (run, again), modules=(Expert,))
    with pytest.raises(ValueError, match="weight 'w' has more than one registered converter: of 'run' and of 'again'"):
        both.prepare(DictResource({"experts": torch.ones(2, 4, 3)}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_alias_reaches_what_another_scope_owns(tmp_path: Path) -> None:
    raw = {"gain": torch.ones(4), "shared": torch.randn(4, 4)}
    Model.prepare(DictResource(raw, alias={"w": Absolute("shared")}), tmp_path / "out")
    with SafetensorsResource(tmp_path / "out", device="cpu") as prepared:
        assert torch.equal(prepared.load("first.w"), prepared.load("second.w"))


def test_a_dynamic_weight_is_refused(tmp_path: Path) -> None:
    w = Var("w", make_tensor_type((N,), "f32"), True)
    with pytest.raises(ValueError, match="weight 'w' is declared as .*N"):
        Module("m", (Function("f", (w,), w, w.type),)).prepare(DictResource({"w": torch.ones(3)}), tmp_path / "out")


def test_progress_is_silent_without_a_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Model.prepare(DictResource(weights()), tmp_path / "out")
    assert capfd.readouterr() == ("", "")


def test_progress_counts_tensors_and_bytes(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress = Progress(2, 3_000_000_000)
    progress.advance(1_000_000_000)
    progress.advance(2_000_000_000)
    progress.close()
    assert capsys.readouterr().err.endswith("\rprepare: 2/2 tensors, 3.00/3.00 GB\n")
