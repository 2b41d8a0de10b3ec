"""What crosses the boundary of a compiled entry, statement by statement (25 to 38), on kernels that the compiler made.

On the CPU, and where TILEFOUNDRY_TEST_TARGET=cuda on a GPU; `edge_cuda_test` has what only a GPU has.
"""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tilefoundry
from tests.compiler import edge_programs as programs
from tests.compiler.running import TARGET, built
from tilefoundry import CompilerOptions, jit
from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError, LaunchError
from tilefoundry.driver.keys import module_key
from tilefoundry.runtime import CompiledModule
from tilefoundry.target import CpuTarget

on_the_cpu = pytest.mark.skipif(TARGET != "cpu", reason="looks at what only a CPU entry takes")
on_a_gpu = pytest.mark.skipif(TARGET != "cuda", reason="looks at what only a GPU entry refuses")
KIND = {"cpu": "kDLCPU", "cuda": "kDLCUDA"}[TARGET]


@pytest.fixture
def axpy() -> CompiledModule:
    return built(programs.Axpy)


def x(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(np.prod(shape))
    return torch.arange(count, dtype=torch.float32, device=TARGET).reshape(shape).to(dtype)


def check(axpy: CompiledModule, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """Runs into poisoned memory and compares exactly: the values are small integers."""
    want = 2 * a + b
    out.fill_(float("nan"))
    assert axpy(2.0, a, b, out) is out
    assert torch.equal(out, want)


def test_25_extents_of_outputs_follow_from_the_inputs(axpy: CompiledModule) -> None:
    made = axpy(1.0, x(3, 40), x(3, 40))
    assert isinstance(made, torch.Tensor) and made.shape == (3, 40) and made.device.type == TARGET
    pair = built(programs.Halves)(x(6, 32))
    assert isinstance(pair, tuple) and [tuple(t.shape) for t in pair] == [(6, 32)] * 2
    assert torch.equal(pair[0], 2 * x(6, 32)) and torch.equal(pair[1], x(6, 32) ** 2)
    with pytest.raises(ValueError, match=r"argument 'x' has extent 7 on axis 0, expected 2 \* 'M' \+ 0"):
        built(programs.Halves)(x(7, 32))
    with pytest.raises(ValueError, match="'y' has extent 4 on axis 0, but 'M' is 3 by axis 0 of argument 'x'"):
        axpy(1.0, x(3, 40), x(4, 40))


_OK = x(2, 3)
_SAME = x(2, 3)
_BUFFER = torch.zeros(64, device=TARGET)
BAD: dict[str, tuple[tuple[object, ...], type[Exception], str]] = {
    "rank": ((1.0, x(6), _OK, _OK), ValueError, r"argument 'x' has rank 1 and shape \(6,\), expected rank 2"),
    "dtype": ((1.0, _OK, _OK.bfloat16(), _OK), TypeError, "argument 'y' has dtype bf16, expected f32"),
    "two 16-bit types": ((1.0, _OK.half(), _OK, _OK), TypeError, "argument 'x' has dtype f16, expected f32"),
    "bool for a number": ((1.0, _OK > 0, _OK, _OK), TypeError, "argument 'x' has dtype bool, expected f32"),
    "output dtype": ((1.0, _OK, _OK, _OK.double()), TypeError, "argument 'out' has dtype f64, expected f32"),
    "extent": ((1.0, _OK, x(2, 4), _OK), ValueError, "argument 'y' has extent 4 on axis 1, but 'K' is 3"),
    "output extent": ((1.0, _OK, _OK, x(3, 3)), ValueError, "argument 'out' has extent 3 on axis 0, but 'M' is 2"),
    "no tensor": ((1.0, _OK, None, _OK), TypeError, f"argument 'y' must be a {KIND} tensor of f32, got None"),
    "a list": ((1.0, _OK, [1.0], _OK), TypeError, f"argument 'y' must be a {KIND} tensor of f32, got"),
    "overlapping output": (
        (1.0, _OK, _OK, torch.zeros(1, 3, device=TARGET).expand(2, 3)),
        ValueError,
        "argument 'out' is an output whose elements overlap",
    ),
    "output is an input": ((1.0, _SAME, _OK, _SAME), ValueError, "'out' is an output that overlaps argument 'x'"),
    "output overlaps partly": (
        (1.0, _BUFFER[:6].view(2, 3), x(2, 3), _BUFFER[5:11].view(2, 3)),
        ValueError,
        "'out' is an output that overlaps argument 'x'",
    ),
    "scalar kind": (("1", _OK, _OK, x(2, 3)), TypeError, r"argument 'alpha': expected a float \(f32\)"),
    "scalar range": ((1e39, _OK, _OK, x(2, 3)), ValueError, r"argument 'alpha': 1e\+39 is beyond the range of f32"),
    "too few": ((1.0, _OK), TypeError, r"takes 3 argument\(s\) \(alpha, x, y\)"),
    "too many": ((1.0, *[_OK] * 4), TypeError, r"or 4 with the outputs \(.*\) given; got 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_26_a_bad_argument_is_named_and_nothing_is_launched(axpy: CompiledModule, case: str) -> None:
    args, kind, message = BAD[case]
    before = [t.clone() if isinstance(t, torch.Tensor) else None for t in args]
    with pytest.raises(kind, match=message.replace("'out'", f"'{axpy.type.output_params[0].name}'")) as caught:
        axpy(*args)
    assert isinstance(caught.value, LaunchError)
    for tensor, copy in zip(args, before, strict=True):
        assert copy is None or torch.equal(tensor, copy)  # type: ignore[arg-type]


def test_26_a_declared_layout_is_demanded_and_otherwise_any_strides_do(axpy: CompiledModule) -> None:
    with pytest.raises(ValueError, match="argument 'a' has stride 1 on axis 0, but its declared layout has 32"):
        built(programs.doubled)(x(32, 9).t(), torch.empty(9, 32, device=TARGET))
    m, n = 5, 33
    check(axpy, x(n, m).t(), x(m, n), torch.empty(n, m, device=TARGET).t())


@on_the_cpu
def test_26_negative_strides_and_misaligned_addresses_are_refused(axpy: CompiledModule) -> None:
    with pytest.raises(ValueError, match=r"argument 'x' has negative strides \(-3, 1\); pass a contiguous copy"):
        axpy(1.0, np.ones((2, 3), np.float32)[::-1], _OK, x(2, 3))
    odd = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(2, 3)
    with pytest.raises(ValueError, match="argument 'x' starts at .* not a multiple of 4 bytes"):
        axpy(1.0, odd, _OK, x(2, 3))


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (4, 64), (129, 33), (17, 40)])
def test_27_offsets_and_views_give_the_right_value(axpy: CompiledModule, shape: tuple[int, int]) -> None:
    m, n = shape

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, device=TARGET)

    check(axpy, x(m, n), x(m, n), empty(m, n))
    check(axpy, x(m, 2 * n)[:, ::2], x(m + 1, n)[1:], empty(m, n + 3)[:, 2:-1])
    check(axpy, x(1, n).expand(m, n), x(m, 1).expand(m, n), empty(m, n))
    check(axpy, x(1 + m * n)[1:].view(m, n), x(m, n), empty(m, n))  # aligned to one element only
    buffer = torch.full((m + 2, n + 5), -1.0, device=TARGET)
    axpy(2.0, x(m, n), x(m, n), buffer[1:-1, 2:-3])
    assert torch.equal(buffer[1:-1, 2:-3], 3 * x(m, n))
    buffer[1:-1, 2:-3] = -1
    assert bool((buffer == -1).all()), "neighbours of the output stay"


def test_27_strides_of_single_elements_and_of_nothing_do_not_matter(axpy: CompiledModule) -> None:
    odd = torch.arange(3.0, device=TARGET).as_strided((1, 3), (7, 1))
    assert torch.equal(axpy(1.0, odd, odd), 2 * torch.arange(3.0, device=TARGET)[None])  # type: ignore[arg-type]
    none = torch.empty(0, device=TARGET).as_strided((0, 4), (17, 5))
    assert tuple(axpy(1.0, none, none).shape) == (0, 4)  # type: ignore[attr-defined]


def test_27_a_lazy_negation_gives_the_resolved_value(axpy: CompiledModule) -> None:
    negated = torch._neg_view(x(2, 3))
    assert torch.equal(axpy(1.0, negated, x(2, 3)), torch.zeros(2, 3, device=TARGET))  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError, match="is an output that torch negates lazily"):
        axpy(1.0, x(2, 3), x(2, 3), torch._neg_view(x(2, 3)))
    imaginary = (x(2, 3) * 1j).conj().imag  # a view of every second number, negated
    assert torch.equal(axpy(1.0, imaginary, x(2, 3)), torch.zeros(2, 3, device=TARGET))  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [2, 2.0, np.float64(2), torch.tensor(2.0), torch.tensor(2.0, device=TARGET)])
def test_28_a_scalar_is_a_number_or_a_0d_tensor(axpy: CompiledModule, alpha: object) -> None:
    assert torch.equal(axpy(alpha, x(2, 3), x(2, 3)), 3 * x(2, 3))  # type: ignore[arg-type]


SCALARS: dict[str, tuple[torch.dtype, tuple[Any, ...]]] = {
    "f64": (torch.float64, (0.1, -1e300, 3)),
    "f32": (torch.float32, (0.1, 16777217.0, -3)),
    "f16": (torch.float16, (0.1, 65504.0)),
    "bf16": (torch.bfloat16, (0.1, 3e38)),
    "i64": (torch.int64, (-(2**62), 7)),
    "i32": (torch.int32, (-(2**31), 7)),
}


@pytest.mark.parametrize("dtype", SCALARS)
def test_28_a_scalar_keeps_its_declared_dtype(dtype: str) -> None:
    torch_dtype, values = SCALARS[dtype]
    kernel = built(programs.filled(dtype))
    zero = torch.zeros(1, 32, dtype=torch_dtype, device=TARGET)
    for value in values:
        want = torch.full_like(zero, value)
        assert torch.equal(kernel(zero, value), want)  # type: ignore[arg-type]
        assert torch.equal(kernel(zero, torch.tensor(value, dtype=torch_dtype)), want)  # type: ignore[arg-type]
    wrong = 1.5 if dtype.startswith("i") else "1"
    with pytest.raises(ArgumentTypeError, match="argument 's': expected"):
        kernel(zero, wrong)
    with pytest.raises(ArgumentTypeError, match="argument 's' has dtype bool, expected"):
        kernel(zero, torch.tensor(True))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_29_zero_extents_launch_nothing(axpy: CompiledModule, shape: tuple[int, int]) -> None:
    out = axpy(2.0, torch.empty(shape, device=TARGET), torch.empty(shape, device=TARGET))
    assert isinstance(out, torch.Tensor) and out.shape == shape
    pair = built(programs.Halves)(torch.empty(0, 32, device=TARGET))
    assert isinstance(pair, tuple) and all(t.shape == (0, 32) for t in pair)


def test_30_outputs_overlap_nothing_unless_declared_in_place(axpy: CompiledModule) -> None:
    buffer = x(6, 12)
    want = 2 * buffer[:, :4] + buffer[:, 4:8]
    axpy(2.0, buffer[:, :4], buffer[:, 4:8], buffer[:, 8:])  # columns of one buffer share no element
    assert torch.equal(buffer[:, 8:], want)
    with pytest.raises(ValueError, match="overlaps argument 'y'"):
        axpy(2.0, buffer[:, :4], buffer[:, 4:8], buffer[:, 7:11])
    pair = built(programs.Halves)
    twice = torch.empty(4, 32, device=TARGET)
    with pytest.raises(ValueError, match="'out1' is an output that overlaps argument 'out0'"):
        pair(x(4, 32), twice, twice)
    smoothed = built(programs.smoothed)
    assert smoothed.type.aliases == (("o", "a"),)
    a = x(8, 32)
    want = a + a.roll(-1, 0)
    assert smoothed(a, 1) is a and torch.equal(a, want)
    with pytest.raises(ValueError, match="'o' is updated in place: it must be the same memory as argument 'a'"):
        smoothed(a, 1, x(8, 32))


@on_a_gpu
def test_31_a_cpu_tensor_is_refused_by_name(axpy: CompiledModule) -> None:
    for args, name in (((torch.ones(2, 3), x(2, 3)), "x"), ((x(2, 3), torch.ones(2, 3)), "y")):
        with pytest.raises(ValueError, match=f"argument '{name}' must be a kDLCUDA tensor"):
            axpy(2.0, *args)
    with pytest.raises(ValueError, match="argument 'a' must be a kDLCUDA tensor"):
        built(programs.doubled)(torch.ones(2, 32))


def test_32_a_launch_error_names_the_kernel() -> None:
    words = {"cpu": "kernel 'crowd': a grid of 50000", "cuda": "kernel 'crowd' on cuda:0: .* a grid of 50000"}
    with pytest.raises(LaunchError, match=words[TARGET]):
        built(programs.crowd_host)(torch.zeros(50000, 32, device=TARGET))


@on_a_gpu
def test_32_launches_are_on_the_callers_stream_and_replay(axpy: CompiledModule) -> None:
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    a, out = torch.zeros(2000, 500, device="cuda"), torch.empty(2000, 500, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # type: ignore[no-untyped-call]  # any other stream would read the zeros
        a.fill_(1.0)
        axpy(2.0, a, a, out)
    stream.synchronize()
    assert bool((out == 3).all())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        axpy(2.0, a, a, out)
    for value in (4.0, 5.0):
        a.fill_(value)
        graph.replay()
        assert bool((out == 3 * value).all())


def test_33_a_rebuilt_library_is_not_served_from_an_earlier_handle(tmp_path: Path) -> None:
    first, second = built(programs.Axpy), built(programs.Halves)
    assert first.linked is not None and second.linked is not None
    path = tmp_path / "kernel.so"
    shutil.copy(first.linked.library, path)
    assert tilefoundry.load(path).name == "axpy"
    shutil.copy(second.linked.library, path)
    again = tilefoundry.load(path)
    assert again.name == "halves"
    assert torch.equal(again(x(2, 32))[0], 2 * x(2, 32))  # type: ignore[index]


_LIVES = """
import gc, sys, torch, tilefoundry
order, path, device = sys.argv[1:]
held = {"module": tilefoundry.load(path)}
held["bound"] = held["module"].forward
held["tensor"] = held["module"](1.0, torch.ones(2, 3, device=device), torch.ones(2, 3, device=device))
for name in order.split(","):
    del held[name]
    gc.collect()
    for rest in held.values():
        if not isinstance(rest, torch.Tensor):
            rest(1.0, torch.ones(2, 3, device=device), torch.ones(2, 3, device=device))
        else:
            assert bool((rest == 2).all())
"""


@pytest.mark.parametrize("order", ["module,bound,tensor", "tensor,module,bound", "bound,tensor", ""])
def test_33_each_outlives_the_others_and_the_process_ends_well(order: str) -> None:
    linked = built(programs.Axpy).linked
    assert linked is not None
    code = _LIVES if order else _LIVES.partition("for name in order")[0]
    done = subprocess.run(
        [sys.executable, "-c", code, order, str(linked.library), TARGET],
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_34_jit_takes_programs_and_known_keywords_only() -> None:
    with pytest.raises(TypeError, match="expected Function or Module(.|\n)*@func"):
        jit(lambda: None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        jit(programs.doubled, cta_mesh=())  # type: ignore[call-arg]
    signature = inspect.signature(jit)
    assert [(p.name, p.default) for p in signature.parameters.values()][1:] == [("target", "cuda"), ("options", None)]


def test_35_targets() -> None:
    with pytest.raises(ValueError, match="cuda.*cpu|cpu.*cuda"):
        built(programs.Axpy, "tpu")
    placed, own = built(programs.Axpy, "cpu"), built(programs.doubled)
    assert placed.kernels[0].block == 128, "the placement of the GPU"
    assert placed.linked is not None and own.linked is not None and own.linked.target_name == TARGET


def test_36_one_program_one_object() -> None:
    first = built(programs.Axpy)
    assert built(programs.Axpy) is first
    size = jit.cache_info()["size"]
    assert jit.cache_info() == {"size": size} and size >= 1
    jit.cache_clear()
    assert jit.cache_info() == {"size": 0} and built(programs.Axpy) is not first


def test_37_a_function_becomes_a_module() -> None:
    assert built(programs.doubled).name == "doubled"


def test_38_the_key_covers_what_is_reached() -> None:
    def key(program: Any) -> str:
        module = tilefoundry.normalize_to_module(program)
        return module_key(module, CpuTarget(), CompilerOptions())

    keys = [key(p) for p in (programs.chain, programs.eightfold, programs.shares, programs.filled("f32"))]
    assert len(set(keys)) == len(keys) and key(programs.filled("f32")) == keys[-1] != key(programs.filled("f64"))


@pytest.mark.parametrize("rows", [1, 7, 8, 29])
def test_a_prototype_runs_the_variant_of_the_extent(rows: int) -> None:
    kernel = built(programs.Scaled)
    assert [k.name for k in kernel.kernels] == ["scaled_1_8", "scaled_8_30"]
    a, out = x(rows, 32), torch.full((rows, 32), float("nan"), device=TARGET)
    assert kernel(a, out) is out
    assert torch.equal(out, 2 * a if rows < 8 else -a)
    with pytest.raises(ValueError, match=r"argument 'x' has extent 30 on axis 0, outside of 'L' in \[1, 30\)"):
        kernel(x(30, 32))
