"""Attention, placed for a GPU and run over the CPU runtime with the same placement, against an f64 reference."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

import tilefoundry
from examples.attention.program import DTYPES, HEAD_DIMS, attention_module
from examples.attention.reference import TORCH_DTYPES, attention_f64, expectations
from tests.compiler.running import built
from tilefoundry.ir import tir
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.tir.text import tir_text
from tilefoundry.passes import lower
from tilefoundry.runtime import check
from tilefoundry.target import CpuTarget, CudaTarget

LENGTHS = (1, 7, 64, 129, 333)
HEADS = 3


def inputs(length: int, dim: int, dtype: str) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(length * dim)
    q, k, v = (torch.randn(HEADS, length, dim).to(TORCH_DTYPES[dtype]) for _ in range(3))
    return q, k, v


def poisoned(like: Tensor) -> Tensor:
    """The output inside a larger buffer, all NaN: what the kernel does not write, or writes beyond, shows."""
    buffer = torch.full((like.shape[0] + 2, like.shape[1] + 2, like.shape[2]), float("nan"), dtype=like.dtype)
    return buffer[1:-1, 1:-1]


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", HEAD_DIMS)
def test_one_kernel_serves_every_length(dim: int, dtype: str, causal: bool) -> None:
    tilefoundry.jit.cache_clear()
    module = attention_module(dim, dtype, causal)
    for length in LENGTHS:
        kernel = built(module)
        q, k, v = inputs(length, dim, dtype)
        out = poisoned(q)

        def run(q: Tensor, k: Tensor, v: Tensor, kernel=kernel, out: Tensor = out) -> Tensor:  # type: ignore[no-untyped-def]
            assert kernel(q, k, v, out) is out
            return out

        report = check(
            run, lambda q, k, v: attention_f64(q, k, v, causal), (q, k, v), expect={"output": expectations(dtype)}
        )
        assert report.passed, f"{length} tokens\n{report}"
        around = out.untyped_storage()
        everything = torch.empty(0, dtype=q.dtype).set_(around)  # type: ignore[call-overload]
        assert int(everything.isnan().sum()) == everything.numel() - out.numel(), "wrote outside of the output"
    assert tilefoundry.jit.cache_info() == {"size": 1}


@pytest.mark.parametrize("ctas", [1, 3, 200])
def test_any_grid_gives_the_same_bits(ctas: int) -> None:
    """Fewer CTAs than tiles, a number that does not divide them, and more CTAs than tiles."""
    q, k, v = inputs(129, 32, "f32")
    expected = built(attention_module(32))(q, k, v)
    assert torch.equal(built(attention_module(32, ctas=ctas))(q, k, v), expected)


def test_strided_inputs_go_through_the_general_variant() -> None:
    kernel = built(attention_module(32))
    q, k, v = inputs(70, 32, "f32")
    expected = kernel(q, k, v)
    apart = [x.mT.contiguous().mT for x in (q, k, v)]
    assert all(x.stride(-1) != 1 for x in apart)
    assert torch.equal(kernel(*apart), expected)
    odd = [torch.cat([x, x[..., :1]], -1)[..., :-1] for x in (q, k, v)]  # rows of 33 elements: not 16-byte aligned
    assert torch.equal(kernel(*odd), expected)


def both_targets(dtype: str) -> tuple[PrimFunction, PrimFunction]:
    module = attention_module(64, dtype, True)
    cuda, cpu = (lower(module, target).functions[0] for target in (CudaTarget("nvidia.h200_sxm"), CpuTarget()))
    assert isinstance(cuda, PrimFunction) and isinstance(cpu, PrimFunction)
    return cuda, cpu


def test_both_targets_run_the_same_program() -> None:
    cuda, cpu = both_targets("f32")
    assert tir_text(cuda) == tir_text(cpu)
    assert "Mma" in tir_text(cuda) and "PipeWait" in tir_text(cuda)


def effects(kernel: PrimFunction) -> list[str]:
    """What a kernel does, in order, but for copies into operand tiles and the barriers that these need."""
    kinds = [
        str(item.callable) if isinstance(item, tir.Evaluate) else f"for {item.extent!r} by {item.step!r}"
        for item in tir.items_within(tir.unfold(kernel.body))
        if isinstance(item, (tir.Evaluate, tir.For))
    ]
    return [kind for kind in kinds if not kind.startswith(("Copy", "Sync"))]


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_tensor_cores_change_where_operands_lie_and_nothing_else(dtype: str) -> None:
    cuda, cpu = both_targets(dtype)
    assert effects(cuda) == effects(cpu)
    assert tir_text(cuda).count("Sync") < tir_text(cpu).count("Sync")  # the softmax's weights stay in registers


def test_the_evaluator_and_the_kernel_agree(tmp_path: Path) -> None:
    module = attention_module(32, "f32", True)
    kernel = built(module)
    arguments = inputs(45, 32, "f32")
    report = check(
        kernel, lambda *x: tilefoundry.evaluate(module, *x), arguments, expect={"output": expectations("f32")}
    )
    assert report.passed, str(report)
