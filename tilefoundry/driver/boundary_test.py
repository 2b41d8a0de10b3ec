"""What crosses the boundary of a compiled entry: every bad argument by name, every good one right."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tilefoundry.codegen.host import emit_host
from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError, LaunchError
from tilefoundry.driver.axpy_units import axpy_module
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.runtime import CompiledModule
from tilefoundry.runtime.loader import load_linked_module
from tilefoundry.target import CpuTarget


@pytest.fixture(scope="module")
def axpy(tmp_path_factory: pytest.TempPathFactory) -> CompiledModule:
    folder = tmp_path_factory.mktemp("axpy")
    library = write_artifact(axpy_module(CpuTarget()), CompilerOptions(), folder, "axpy", {"x86-64-v3": "k" * 64})
    return load_linked_module(read_artifact(library))


def x(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape).to(dtype)


_BUFFER = torch.zeros(64)
_ODD = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(2, 3)
_SAME = x(2, 3)
_OK = x(2, 3)
BAD: dict[str, tuple[tuple[object, ...], type[Exception], str]] = {
    "dtype": ((1.0, _OK, x(2, 3, dtype=torch.bfloat16)), TypeError, "argument 'y' has dtype bf16, expected f32"),
    "output dtype": ((1.0, _OK, _OK, _OK.double()), TypeError, "argument 'out' has dtype f64, expected f32"),
    "rank": ((1.0, x(6), _OK), ValueError, r"argument 'x' has rank 1 and shape \(6,\), expected rank 2"),
    "extent": (
        (1.0, _OK, x(4, 3)),
        ValueError,
        "argument 'y' has extent 4 on axis 0, but 'M' is 2 by axis 0 of argument 'x'",
    ),
    "output extent": (
        (1.0, _OK, _OK, x(2, 4)),
        ValueError,
        "argument 'out' has extent 4 on axis 1, but 'N' is 3 by axis 1 of argument 'x'",
    ),
    "envelope": (
        (1.0, *[torch.zeros(1).expand(1 << 20, 1)] * 2),
        ValueError,
        r"argument 'x' has extent 1048576 on axis 0, outside of 'M' in \[0, 1048576\)",
    ),
    "device": ((1.0, _OK, _OK.to("meta"), _OK), Exception, "meta"),
    "no tensor": ((1.0, _OK, None, _OK), TypeError, "argument 'y' must be a kDLCPU tensor of f32, got None"),
    "number for a tensor": ((1.0, 2.0, _OK, _OK), TypeError, "argument 'x' must be a kDLCPU tensor"),
    "negative strides": (
        (1.0, np.ones((2, 3), np.float32)[::-1], _OK, x(2, 3)),
        ValueError,
        r"argument 'x' has negative strides \(-3, 1\); pass a contiguous copy",
    ),
    "output overlaps itself": (
        (1.0, _OK, _OK, torch.zeros(1, 3).expand(2, 3)),
        ValueError,
        "argument 'out' is an output whose elements overlap",
    ),
    "output is an input": ((1.0, _SAME, _OK, _SAME), ValueError, "'out' is an output that overlaps argument 'x'"),
    "output overlaps partly": (
        (1.0, _BUFFER[:6].view(2, 3), _OK, _BUFFER[5:11].view(2, 3)),
        ValueError,
        "'out' is an output that overlaps argument 'x'",
    ),
    "misaligned": ((1.0, _ODD, _OK, x(2, 3)), ValueError, "argument 'x' starts at .* not a multiple of 4 bytes"),
    "scalar kind": (("1", _OK, _OK), TypeError, r"argument 'alpha': expected a float \(f32\)"),
    "scalar range": ((1e39, _OK, _OK), ValueError, r"argument 'alpha': 1e\+39 is beyond the range of f32"),
    "scalar dtype": (
        (torch.tensor(1.0).double(), _OK, _OK),
        TypeError,
        "argument 'alpha' has dtype f64, expected f32",
    ),
    "scalar shape": ((torch.ones(1), _OK, _OK), ValueError, r"argument 'alpha' has shape \(1,\)"),
    "too few": ((1.0, _OK), TypeError, r"takes 3 argument\(s\) \(alpha, x, y\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_argument_is_named_and_nothing_is_written(axpy: CompiledModule, case: str) -> None:
    args, kind, message = BAD[case]
    before = [t.clone() if isinstance(t, torch.Tensor) and t.device.type == "cpu" else None for t in args]
    with pytest.raises(kind, match=message) as caught:
        axpy(*args)
    assert case == "device" or isinstance(caught.value, LaunchError)
    for tensor, copy in zip(args, before, strict=True):
        assert copy is None or torch.equal(tensor, copy)  # type: ignore[arg-type]


def check(axpy: CompiledModule, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """Runs into poisoned memory and compares exactly: the values are small integers."""
    want = 2 * a + b
    out.fill_(float("nan"))
    assert axpy(2.0, a, b, out) is out
    assert torch.equal(out, want)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (4, 64), (129, 33)])
def test_any_view_gives_the_right_value(axpy: CompiledModule, shape: tuple[int, int]) -> None:
    m, n = shape
    check(axpy, x(m, n), x(m, n), torch.empty(m, n))
    check(axpy, x(n, m).t(), x(m, n), torch.empty(n, m).t())
    check(axpy, x(m, 2 * n)[:, ::2], x(m + 1, n)[1:], torch.empty(m, n + 3)[:, 2:-1])
    check(axpy, x(1, n).expand(m, n), x(m, 1).expand(m, n), torch.empty(m, n))


def test_column_blocks_of_one_buffer_do_not_overlap(axpy: CompiledModule) -> None:
    buffer = x(6, 12)
    want = 2 * buffer[:, :4] + buffer[:, 4:8]
    axpy(2.0, buffer[:, :4], buffer[:, 4:8], buffer[:, 8:])
    assert torch.equal(buffer[:, 8:], want)
    with pytest.raises(ValueError, match="overlaps argument 'y'"):
        axpy(2.0, buffer[:, :4], buffer[:, 4:8], buffer[:, 7:11])


def test_neighbours_of_the_output_stay(axpy: CompiledModule) -> None:
    buffer = torch.full((7, 9), -1.0)
    axpy(2.0, x(3, 4), x(3, 4), buffer[2:5, 3:7])
    buffer[2:5, 3:7] = -1
    assert torch.equal(buffer, torch.full((7, 9), -1.0))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_zero_extents(axpy: CompiledModule, shape: tuple[int, int]) -> None:
    out = axpy(2.0, torch.empty(shape), torch.empty(shape).as_strided(shape, (17, 5)))
    assert isinstance(out, torch.Tensor) and out.shape == shape


@pytest.mark.parametrize("alpha", [2, 2.0, torch.tensor(2.0), np.float64(2)])
def test_a_scalar_is_a_number_or_a_0d_tensor(axpy: CompiledModule, alpha: object) -> None:
    assert torch.equal(axpy(alpha, x(2, 3), x(2, 3)), 3 * x(2, 3))  # type: ignore[arg-type]


def test_an_f32_scalar_keeps_its_bits(axpy: CompiledModule) -> None:
    for value in (0.1, 1e-45, -0.0, float("inf"), 16777217.0):
        got = axpy(value, torch.ones(1, 1), torch.zeros(1, 1))
        want = torch.tensor(value, dtype=torch.float32) + 0.0
        assert torch.equal(got[0, 0].view(torch.int32), want.view(torch.int32))  # type: ignore[index]


def test_any_dlpack_tensor_may_be_given(axpy: CompiledModule) -> None:
    a, out = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    assert axpy(2.0, a, a, out) is out
    assert (out == 3).all()


def test_size_one_axes_may_have_any_stride(axpy: CompiledModule) -> None:
    odd = torch.arange(3.0).as_strided((1, 3), (7, 1))
    assert torch.equal(axpy(1.0, odd, odd), 2 * torch.arange(3.0)[None])  # type: ignore[arg-type]


def test_a_negated_view_gives_the_resolved_value(axpy: CompiledModule) -> None:
    assert torch.equal(axpy(1.0, torch._neg_view(x(2, 3)), x(2, 3)), torch.zeros(2, 3))  # type: ignore[arg-type]


def test_a_tensor_without_memory_is_refused_by_name(axpy: CompiledModule) -> None:
    with FakeTensorMode():
        fake = torch.empty(2, 3)
    freed = x(2, 3)
    freed.untyped_storage().resize_(0)
    cases = (
        (freed, ArgumentValueError, "argument 'y' has 6 elements and no memory"),
        (fake, ArgumentTypeError, "argument 'y' is a FakeTensor"),
        (torch.empty(2, 3, device="meta"), ArgumentValueError, "argument 'y' is on the device 'meta'"),
        (x(2, 3).to_sparse(), ArgumentValueError, "argument 'y' has the layout torch.sparse_coo"),
    )
    for tensor, error, words in cases:
        with pytest.raises(error, match=words):
            axpy(1.0, x(2, 3), tensor, torch.empty(2, 3))


def test_a_parameter_is_a_tensor(axpy: CompiledModule) -> None:
    weight = torch.nn.Parameter(x(2, 3))
    assert torch.equal(torch.as_tensor(axpy(1.0, weight, x(2, 3))), 2 * x(2, 3))


def test_what_was_built_is_visible(axpy: CompiledModule) -> None:
    assert "axpy__vector" in axpy.source and list(axpy.sources) == ["axpy.cc", "host_entry.cc"]
    assert [(k.name, k.grid, k.block) for k in axpy.kernels] == [("axpy", None, 128)]
    assert axpy.linked is not None and axpy.linked.key == "k" * 64 and axpy.linked.isa == "x86-64-v3"


def test_an_output_in_place_is_its_input(tmp_path: Path) -> None:
    module = axpy_module(CpuTarget(), "accumulate")
    entry = dataclasses.replace(module.entry, aliases=(("out", "y"),))
    module = LinkableModule(module.target, module.units, emit_host(module.units, module.target, entry), entry)
    library = write_artifact(module, CompilerOptions(), tmp_path, "accumulate", {})
    accumulate = load_linked_module(read_artifact(library))
    y = x(2, 3)
    assert accumulate(2.0, x(2, 3), y) is y and torch.equal(y, 3 * x(2, 3))
    assert accumulate(2.0, x(2, 3), y, y) is y and torch.equal(y, 5 * x(2, 3))
    with pytest.raises(ValueError, match="'out' is updated in place: it must be the same memory as argument 'y'"):
        accumulate(2.0, x(2, 3), y, x(2, 3))
    with pytest.raises(ValueError, match="argument 'out' is an output that overlaps argument 'x'"):
        accumulate(2.0, y, y, y)


def test_a_library_for_another_cpu_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = write_artifact(axpy_module(CpuTarget(), "axpy_isa"), CompilerOptions(), tmp_path, "axpy_isa", {})
    monkeypatch.setattr("tilefoundry.runtime.isa._cpu_flags", lambda: frozenset({"avx2"}))
    with pytest.raises(RuntimeError, match="built for x86-64-v3; this machine lacks .*fma"):
        load_linked_module(read_artifact(library))
