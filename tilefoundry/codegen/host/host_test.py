"""Host sources: what they check, what cannot cross the boundary, and how cubins are embedded."""

import pytest

from tilefoundry.codegen.host import describe_module, emit_host, emit_images
from tilefoundry.codegen.unit import KernelUnit, LinkableModule, source_digest
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.dims import Dim, DimVar, ceildiv, dim_mod, dim_mul, dim_sub
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.runtime.abi import EntryABI, ParamABI
from tilefoundry.runtime.abi_json import read_description
from tilefoundry.target import CpuTarget, CudaTarget, Target

N = DimVar("N", 1, 100)


def tensor(name: str, shape: tuple[ShapeDim, ...], dtype: DType = DType.f32, layout: Layout | None = None) -> ParamABI:
    return ParamABI(name, TensorType(shape, dtype, layout, StorageKind.GMEM))


def unit(
    *params: ParamABI, grid: Dim | None = None, tiles: Dim = N, aliases: tuple[tuple[str, str], ...] = ()
) -> KernelUnit:
    return KernelUnit("k", source_digest(""), "", EntryABI("k", params, 1, aliases), grid, tiles, 128, 64)


def host(*params: ParamABI, target: Target | None = None, grid: Dim | None = None, tiles: Dim = N) -> str:
    return emit_host((unit(*params, grid=grid, tiles=tiles),), target or CpuTarget())


def test_it_includes_the_umbrella_header_only() -> None:
    for target in (CpuTarget(), CudaTarget()):
        text = host(tensor("x", (N,)), tensor("out", (N,)), target=target)
        assert [line for line in text.splitlines() if line.startswith("#include")] == [
            "#include <tilefoundry/runtime.h>"
        ]
        assert "TVM_FFI_DLL_EXPORT_TYPED_FUNC(k, entry)" in text and "ops::" not in text


def test_tables_say_what_each_parameter_must_be() -> None:
    layout = Layout((N, 4), (8, 1))
    text = host(
        ParamABI("s", TensorType.scalar(DType.bf16)),
        tensor("x", (N, 4), DType.fp8e4m3, layout),
        tensor("out", (ceildiv(N, 2), 4), DType.bool),
    )
    assert '{"s", {kDLBfloat, 16, 1}, 0, nullptr, nullptr, false, -1},' in text
    assert '{"x", {kDLFloat8_e4m3fn, 8, 1}, 2, kShape1, kStrides1, false, -1},' in text
    assert '{"out", {kDLBool, 8, 1}, 2, kShape2, nullptr, true, -1},' in text
    assert "kShape1[] = {host::variable(0), host::fixed(4)}" in text
    assert "kStrides1[] = {host::fixed(8), host::fixed(1)}" in text
    assert "kShape2[] = {host::derived(0), host::fixed(4)}" in text
    assert "values[0] = tilefoundry::host::floor_div((dim_N + int64_t{1}), int64_t{2});" in text
    assert "uint16_t arg_s;" in text and "host::TensorArg<2> arg_x;" in text


def test_an_affine_axis_tells_its_dim_var_unless_another_is_it() -> None:
    odd = tensor("x", (dim_sub(dim_mul(N, 2), 1),))
    text = host(odd, tensor("n", (N,)), tensor("out", (N,)))
    assert "kShape0[] = {host::derived(0)}" in text and "kShape1[] = {host::variable(0)}" in text
    text = host(odd, tensor("out", (N,)))  # what the caller gives goes first
    assert "kShape0[] = {host::variable(0, 2, -1)}" in text and "kShape1[] = {host::variable(0, 1, 0)}" in text
    text = host(tensor("x", (dim_sub(dim_mul(N, 2), 1), 4)), tensor("out", (dim_mul(N, 3),)))
    assert "kShape0[] = {host::variable(0, 2, -1), host::fixed(4)}" in text
    assert "kShape1[] = {host::variable(0, 3, 0)}" in text
    assert 'kDims[] = {{"N", 1, 100}}' in text


def test_an_in_place_output_names_its_input() -> None:
    text = emit_host((unit(tensor("x", (N,)), tensor("out", (N,)), aliases=(("out", "x"),)),), CpuTarget())
    assert "true, 0}," in text


def test_grids() -> None:
    params = tensor("x", (N,)), tensor("out", (N,))
    assert "{host::kChooseGrid, tiles, vector, &args}" in host(*params)
    assert "{int64_t{7}, tiles, vector, &args}" in host(*params, grid=7)
    assert "{tilefoundry::host::floor_div((dim_N + int64_t{15}), int64_t{16}), tiles" in host(
        *params, grid=ceildiv(N, 16)
    )
    assert "tiles = (dim_N - int64_t{3})" in host(*params, tiles=dim_sub(N, 3))
    assert "floor_div(dim_N, int64_t{5})" in host(*params, tiles=dim_mod(N, 5))  # x % d is x - d * (x // d)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ((tensor("out", (1,) * 9),), "'out' of 'k' has more than 8 axes"),
        ((tensor("out", (4,), DType.f4e2m1),), "'out' of 'k': DLPack has no f4e2m1"),
        ((ParamABI("s", TensorType.scalar(DType.fp8e5m2)), tensor("out", (N,))), "rank-0 parameter 's' .* fp8e5m2"),
        ((tensor("out", (ceildiv(N, 2),)),), r"needs \['N'\], which no axis tells"),
        (tuple(tensor(f"x{i}", (N,) * 8) for i in range(32)), "take 4352 bytes, at most 4096 fit"),
    ],
)
def test_what_cannot_cross_the_boundary(params: tuple[ParamABI, ...], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        host(*params, tiles=1)


def test_an_extent_that_is_unknown_at_launch() -> None:
    with pytest.raises(CompileError, match="extent 'G' is not known when the kernel is launched"):
        host(tensor("out", (N,)), grid=DimVar("G", 1, 9))


def test_a_kernel_takes_what_the_entry_takes() -> None:
    entry = EntryABI("e", (tensor("other", (N,)),), 1)
    with pytest.raises(CompileError, match="kernel 'k' takes 'out', which is no parameter of 'e'"):
        emit_host((unit(tensor("out", (N,))),), CpuTarget(), entry)
    with pytest.raises(CompileError, match="an entry of 2 kernels needs an ABI of its own"):
        emit_host((unit(tensor("out", (N,))), unit(tensor("out", (N,)))), CpuTarget())


def test_any_dim_var_name_gives_valid_text() -> None:
    odd = DimVar('"tokens"-1', 1, 9)
    text = host(tensor("x", (odd,)), tensor("out", (odd,)), tiles=odd)
    assert r'{"\"tokens\"-1", 1, 9}' in text and "tiles = dim_0;" in text


def test_the_description_reads_back() -> None:
    kernel = unit(tensor("x", (N, 4)), tensor("out", (N, 4)), grid=ceildiv(N, 3))
    module = LinkableModule(CudaTarget(), (kernel,), "", kernel.abi)
    entry, kernels = read_description(describe_module(module))
    assert entry == kernel.abi
    assert [(k.name, k.grid, k.tiles, k.block, k.shared_bytes) for k in kernels] == [("k", ceildiv(N, 3), N, 128, 64)]


def test_images() -> None:
    text = emit_images((unit(tensor("out", (N,))),), ("sm_80", "sm_90a", "sm_120"))
    assert '.incbin "k.sm_90a.cubin"' in text
    assert [line for line in text.splitlines() if ".long" in line] == [
        "  .long 8, 0, 0, 0", "  .long 9, 0, 1, 0", "  .long 12, 0, 0, 0", "k__cubin_count: .long 3",
    ]  # fmt: skip
    with pytest.raises(CompileError, match="unknown CUDA architecture 'sm9'"):
        emit_images((unit(tensor("out", (N,))),), ("sm9",))
