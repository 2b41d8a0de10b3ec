"""Kernels in TIR, compiled: what they compute, and what is refused for want of code, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.compiler import kernel_programs as programs
from tests.compiler.running import compiled, leaves_output, needs_cpu
from tilefoundry import CompileError
from tilefoundry.codegen.emit import emit_module
from tilefoundry.driver.inputs import normalize_to_module
from tilefoundry.driver.native import build_library
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.ir.core import Module
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.passes import lower
from tilefoundry.python.testing import load_program, marked
from tilefoundry.target import CpuTarget, CudaTarget

NAN = float("nan")


def test_the_example_of_the_surface() -> None:
    a = torch.randn(4, 32)
    for entry in (programs.host, programs.dev):
        out = torch.full((4, 32), NAN)
        kernel = compiled(entry)
        kernel(a, out)
        assert torch.equal(out, a * a)
        assert torch.equal(torch.as_tensor(kernel(a)), a * a)  # the last parameter is the output


def test_views_have_the_strides_that_they_state() -> None:
    kernel = compiled(programs.host)
    with pytest.raises(ValueError, match="'a'"):
        kernel(torch.randn(32, 4).t(), torch.empty(4, 32))


@pytest.mark.parametrize("count", [1, 5, 13, 64])
def test_loops_branches_and_scalars(count: int) -> None:
    a, out = torch.randn(count, 32), torch.full((count, 32), NAN)
    compiled(programs.rows_host)(a, torch.tensor(2, dtype=torch.int32), out)
    expected = (a * 4).clamp(0, 8)
    expected[1::2] *= -1
    expected[0::2] += 0.5
    assert torch.equal(out, expected)


@pytest.mark.parametrize("count", [1, 7])
def test_shared_memory_slices_and_barriers(count: int) -> None:
    a, out = torch.randn(count, 64), torch.full((count, 64), NAN)
    compiled(programs.turned_host)(a, out)
    assert torch.equal(out, torch.cat([a[:, 32:], a[:, :32]], 1))


def test_a_reduction_across_warps() -> None:
    a, out = torch.randn(8, 128), torch.full((8, 1), NAN)
    compiled(programs.total)(a, out)
    torch.testing.assert_close(out.double(), a.double().sum(1, keepdim=True), rtol=1e-5, atol=1e-5)


def test_elements_of_all_kinds() -> None:
    a, out = torch.randn(16, 32).half(), torch.full((16, 32), NAN)
    compiled(programs.mixture)(a, torch.tensor(0.5), out)
    columns = torch.arange(32.0).expand(16, 32)
    assert torch.equal(out, torch.where(columns % 2 == 0, (a.float() + 0.5).relu(), columns))


def test_a_product_of_shared_tiles() -> None:
    a, b, out = torch.randn(16, 16), torch.randn(16, 16), torch.full((16, 16), NAN)
    compiled(programs.product)(a, b, out)
    torch.testing.assert_close(out.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-5)


def test_pointers() -> None:
    a, out = torch.randn(4, 64), torch.full((4, 64), NAN)
    compiled(programs.interleaved)(a, out)
    assert torch.equal(out.flatten(), torch.cat([a.flatten()[128:], a.flatten()[:128]]))


def sources(entry: PrimFunction, target: CpuTarget | CudaTarget) -> list[str]:
    return [unit.source for unit in emit_module(lower(normalize_to_module(entry), target), target).units]


def test_both_targets_run_the_same_body() -> None:
    for entry in (programs.host, programs.rows_host, programs.turned_host, programs.total, programs.mixture):
        (cpu,), (cuda,) = (sources(entry, target) for target in (CpuTarget(), programs.CUDA))
        assert cpu.partition('extern "C"')[0] == cuda.partition('extern "C"')[0]


def test_kernels_build_for_cuda(tmp_path: Path) -> None:
    module = lower(normalize_to_module(programs.turned_host), programs.CUDA)
    library, *_ = build_library(emit_module(module, programs.CUDA), CompilerOptions(), tmp_path, "turned.so")
    assert b"turned__vector" in library.read_bytes()


def test_a_host_function_is_compiled_for_what_it_launches() -> None:
    assert normalize_to_module(programs.host).resolve_target() == programs.CUDA


def test_the_key_holds_what_is_launched() -> None:
    text = (
        "@prim_func\ndef dev(a: Tensor[(8,), 'f32']):\n    T.fill(a, {})\n"
        "@prim_func\ndef host(a: Tensor[(8,), 'f32']):\n    launch(dev, a, grid=1, block=1)\n"
    )
    once, again, other = (
        canonical_module_text(normalize_to_module(load_program(text.format(value))["host"]))  # type: ignore[arg-type]
        for value in (1.0, 1.0, 2.0)
    )
    assert once == again != other


def test_one_kernel_launched_twice() -> None:
    program = load_program(
        "@prim_func(target=CudaTarget())\n"
        'def twice(a: Tensor[(64,), "f32"], o: Tensor[(64,), "f32"]):\n'
        '    with Mesh((Topology("thread", 64),), (64,), ("t",)) as m:\n'
        '        r = T.alloc_tensor(Tensor[(64,), "f32", (64 @ m.t,), "rmem"])\n'
        "        T.copy(T.tensor_view(a, layout=(64 @ m.t,)), r)\n"
        "        T.binary(r, r, r, kind=BinaryKind.ADD)\n"
        "        T.copy(r, T.tensor_view(o, layout=(64 @ m.t,)))\n"
        "@prim_func(target=CpuTarget(), output_count=2)\n"
        'def host(a: Tensor[(64,), "f32"], b: Tensor[(64,), "f32"], o: Tensor[(64,), "f32"]):\n'
        "    launch(twice, a, b, grid=1, block=64)\n"
        "    launch(twice, b, o, grid=1, block=64)\n"
    )
    a, b, out = torch.randn(64), torch.full((64,), NAN), torch.full((64,), NAN)
    compiled(program["host"])(a, b, out)  # type: ignore[arg-type]  # a kernel
    assert torch.equal(b, a * 2) and torch.equal(out, a * 4)


def test_kernels_call_kernels() -> None:
    program = load_program(
        'M1 = Mesh((Topology("thread", 64),), Layout((64,), (1,)), ("t",))\n'
        "PART = ShardLayout(Layout((64,), (0,)), (S(0),), M1)\n"
        "@prim_func\n"
        'def doubled(r: Tensor[(64,), "f32", PART, "rmem"], times: Tensor[(), "i32"]):\n'
        "    for i in range(times):\n"
        "        T.binary(r, r, r, kind=BinaryKind.ADD)\n"
        "@prim_func\n"
        'def stored(r: Tensor[(64,), "f32", PART, "rmem"], o: Tensor[(64,), "f32", ShardLayout(Layout((64,), (1,)), '
        "(S(0),), M1)]):\n"
        "    doubled(r, 1)\n"
        "    T.copy(r, o)\n"
        "@prim_func\n"
        'def k(a: Tensor[(64,), "f32"], times: Tensor[(), "i32"], o: Tensor[(64,), "f32"]):\n'
        "    with M1 as m:\n"
        '        r = T.alloc_tensor(Tensor[(64,), "f32", PART, "rmem"])\n'
        "        T.copy(T.tensor_view(a, layout=(64 @ m.t,)), r)\n"
        "        doubled(r, times + 1)\n"
        "        stored(r, T.tensor_view(o, layout=(64 @ m.t,)))\n"
    )
    a, out = torch.randn(64), torch.full((64,), NAN)
    compiled(program["k"])(a, torch.tensor(2, dtype=torch.int32), out)  # type: ignore[arg-type]  # a kernel
    assert torch.equal(out, a * 16)


@needs_cpu
@leaves_output
def test_a_dispatch_by_extent_and_an_abort() -> None:
    program = load_program(
        "@intrinsic\n"
        "def stored(o, value):\n"
        '    with Mesh((Topology("thread", 32),), (32,), ("t",)) as m:\n'
        "        T.fill(T.tensor_view(o, 0, 0, shape=(1, 32), layout=(1, 32 @ m.t)), value)\n"
        "@prim_func\n"
        'def small(o: Tensor[(N, 32), "f32"]):\n'
        "    stored(o, 1.0)\n"
        "@prim_func\n"
        'def large(o: Tensor[(N, 32), "f32"]):\n'
        "    stored(o, 2.0)\n"
        "@prim_func(target=CudaTarget())\n"
        'def pick(o: Tensor[(N, 32), "f32"]):\n'
        '    T.dispatch("pick", o.shape[0], (DimVarRangePat("N", 5, 9), large), (DimVarRangePat("N", 1, 5), small),\n'
        '               args=(o,), otherwise="N is \\"9\\" or more")\n'
        "@prim_func(target=CpuTarget())\n"
        'def host(o: Tensor[(N, 32), "f32"]):\n'
        "    launch(pick, o, grid=1, block=32)\n"
    )
    pick = compiled(program["host"])  # type: ignore[arg-type]  # a kernel
    for count, value in ((1, 1.0), (4, 1.0), (5, 2.0), (8, 2.0)):
        out = torch.zeros(count, 32)
        pick(out)
        assert torch.equal(out[0], torch.full((32,), value))
    with pytest.raises(Exception, match='N is "9" or more'):
        pick(torch.zeros(9, 32))


def kernel(*lines: str, params: str = 'a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]') -> str:
    head = 'with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:'
    fragment = '    r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])'
    body = "\n".join(f"    {line}" for line in (head, fragment, *(f"    {line}" for line in lines)))
    return f"@prim_func\ndef k({params}):\n{body}"


def host(*lines: str) -> str:
    params = 'a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]'
    scope = '    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:\n        T.sync(m)'
    body = "\n".join(f"    {line}" for line in lines)
    return f"@prim_func(target=CudaTarget())\ndef dev({params}):\n{scope}\n@prim_func\ndef k({params}):\n{body}"


# name: (program, words)
REFUSED = {
    "return": (kernel("T.sync(m)", "if m.w == 0:", "    §return"), ("'return' in a kernel whose instances meet",)),
    "norm": (
        kernel("§T.rms_norm(a, w, r)", params='a: Tensor[(4, 32), "f32"], w: Tensor[(32,), "f32"]'),
        ("T.rms_norm of a 'src' outside of registers",),
    ),
    "whole copy": (kernel("§T.copy(a, o)"), ("between two whole tensors",)),
    "whole operand": (kernel("§T.unary(a, o, kind=UnaryKind.EXP)"), ("whole tensor 'a'",)),
    "registers without a mesh": (kernel('§x = T.alloc_tensor(Tensor[(4, 32), "f32", "rmem"])'), ("without a mesh",)),
    "view without an owner": (kernel("§v = T.tensor_view(a, 0, 0, shape=(2, 32))"), ("no unit owns",)),
    "window of a view": (
        kernel("v = T.tensor_view(a, layout=(4 @ m.w, 32 @ m.l))", "§x = T.tensor_view(v, 0, 0, layout=(4, 32 @ m.l))"),
        ("a window of the view 'v'",),
    ),
    "part of registers": (kernel("§x = T.tensor_view(r, 0, 0, layout=(4, 32 @ m.l))"), ("'x', a",)),
    "dynamic view": (
        kernel("§v = T.tensor_view(a)", params='a: Tensor[(N, 32), "f32"], o: Tensor[(4, 32), "f32"]'),
        ("dynamic shape",),
    ),
    "factors": (
        kernel("§v = T.tensor_view(a, layout=ShardLayout(Layout((32, 4), (1, 32)), (S(1), S(0)), m))"),
        ("no factors of the axes",),
    ),
    "reduce without a workspace": (
        kernel(
            "L = ShardLayout(Layout((1, 1), (0, 0)), (Broadcast(), Broadcast()), m)",
            "s = T.alloc_tensor(TensorType((1, 1), DType.f32, L, StorageKind.RMEM))",
            "§T.reduce(r, s, axes=(0, 1), kind=ReduceKind.SUM)",
        ),
        ("across warps without a workspace",),
    ),
    "reduce into another layout": (
        kernel(
            "L = ShardLayout(Layout((4, 1), (1, 0)), (Broadcast(), Broadcast()), m)",
            "s = T.alloc_tensor(TensorType((4, 1), DType.f32, L, StorageKind.RMEM))",
            "§T.reduce(r, s, axes=(1,), kind=ReduceKind.SUM)",
        ),
        ("T.reduce into the layout", "give 'dst' the layout"),
    ),
    "call that returns early": (
        "@prim_func\ndef g(a: Tensor[(4, 32), 'f32']):\n    return\n" + kernel("§g(a)"),
        ("call of 'g', which returns early",),
    ),
    "call under other extents": (
        "@prim_func\ndef g(a: Tensor[(N, 32), 'f32']):\n    pass\n" + kernel("§g(a)"),
        ("call of 'g' under other extents",),
    ),
    "sharded parameters": (
        'W = Mesh((Topology("thread", 4),), Layout((4,), (1,)), ("w",))\n@prim_func\n'
        'def k(§a: Tensor[(4, 32), "f32", ShardLayout(Layout((4, 32), (32, 1)), (S(0),), W)]):\n    pass',
        ("parameter 'a' has the layout",),
    ),
    "statements of a host": (
        host("launch(dev, a, o, grid=1, block=128)", "§T.copy(a, o)"),
        ("beside launching kernels",),
    ),
    "a launch on other CTAs than the mesh has": (
        "@prim_func\ndef dev(a: Tensor[(N, 32), 'f32']):\n"
        '    with Mesh((Topology("cta", N),), (N,), ("c",)) as c:\n        T.sync(c)\n'
        "@prim_func(target=CpuTarget())\ndef k(a: Tensor[(N, 32), 'f32']):\n    §launch(dev, a, grid=7, block=32)",
        ("written for N units of 'cta', and the launch gives 7",),
    ),
    "a launch with shared memory": (
        host("§launch(dev, a, o, grid=1, block=128, dynamic_smem=64)"),
        ("'dynamic_smem' of a launch", "T.alloc_tensor"),
    ),
    "a launch of clusters": (
        host("§launch(dev, a, o, grid=2, block=128, cluster=(2, 1, 1))"),
        ("'cluster' of a launch", "leave it out"),
    ),
    "a launch on a stream": (
        host('§launch(dev, a, o, grid=1, block=128, stream="side")'),
        ("'stream' of a launch", "the caller's current stream"),
    ),
    "a launch with attributes": (
        host('§launch(dev, a, o, grid=1, block=128, attrs=(("cooperative", 1),))'),
        ("'attrs' of a launch", "leave them out"),
    ),
    "dynamic block": (host("§launch(dev, a, o, grid=1, block=a.shape[0])"), ("not known when it is compiled",)),
}


def test_rows_are_normed() -> None:
    generator = torch.Generator().manual_seed(3)
    a, w = torch.randn(3, 512, generator=generator).bfloat16(), torch.randn(512, generator=generator)
    o = torch.full_like(a, float("nan"))
    p = compiled(programs.normed)(a, w, o)
    for found, eps in ((o, 1e-3), (p, 1e-6)):
        exact = a.double() * (a.double().square().mean(-1, keepdim=True) + eps).rsqrt() * w
        torch.testing.assert_close(found.double(), exact, rtol=2**-8, atol=1e-6)


def test_an_instruction_of_a_warp() -> None:
    generator = torch.Generator().manual_seed(4)
    a, b = torch.randn(16, 16, generator=generator).bfloat16(), torch.randn(16, 8, generator=generator).bfloat16()
    torch.testing.assert_close(
        compiled(programs.by_instruction)(a, b).double(), a.double() @ b.double() + 1, rtol=1e-5, atol=1e-5
    )


def test_a_product_of_parts() -> None:
    a, b = torch.randint(-9, 9, (8, 6)).float(), torch.randint(-9, 9, (6, 64)).float()
    assert torch.equal(compiled(programs.by_parts)(a, b), a @ b)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_code_is_refused_at_its_place(name: str) -> None:
    text, words = REFUSED[name]
    source, place = marked(text)
    module = normalize_to_module(load_program(source)["k"])  # type: ignore[arg-type]  # a kernel
    assert isinstance(module, Module)
    with pytest.raises(CompileError) as caught:
        emit_module(lower(module, CpuTarget()), CpuTarget())
    error = caught.value
    assert error.span is not None and (error.span.line, error.span.column) == place, error
    assert error.remedy
    for word in words:
        assert word in str(error)
