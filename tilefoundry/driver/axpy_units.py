"""A kernel written by hand as the emitter hands it over: ``out = alpha * x + y`` on matrices. For tests."""

from __future__ import annotations

from tilefoundry.codegen.host import emit_host
from tilefoundry.codegen.unit import KernelUnit, LinkableModule, source_digest
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.runtime.abi import EntryABI, ParamABI
from tilefoundry.target import CudaTarget, Target

M = DimVar("M", 0, 1 << 20)
N = DimVar("N", 0, 1 << 20)

_BODY = """\
#include <cstdint>
namespace tilefoundry {{ inline namespace TILEFOUNDRY_UNIT {{ namespace {name} {{
struct Matrix {{ {ctype}* data; int64_t shape[2]; int64_t stride[2]; }};
struct Args {{ {scalar} alpha; Matrix x, y, out; }};
template <bool Vector> {device} void row(Args const& a, int64_t i) {{
  for (int64_t j = 0; j < a.out.shape[1]; ++j) {{
    const int64_t k = Vector ? 1 : 0;
    auto at = [&](Matrix const& m) -> {ctype}& {{ return m.data[i * m.stride[0] + j * (k ? 1 : m.stride[1])]; }};
    at(a.out) = a.alpha * at(a.x) + at(a.y);
  }}
}}
}} }} }}
"""
_CUDA = """\
extern "C" __global__ void {name}__{variant}(const __grid_constant__ tilefoundry::{name}::Args a) {{
  for (int64_t i = blockIdx.x; i < a.out.shape[0]; i += gridDim.x)
    if (threadIdx.x == 0) tilefoundry::{name}::row<{vector}>(a, i);
}}
"""
_CPU = """\
extern "C" void {name}__{variant}(void const* args, int64_t grid) {{
  auto const& a = *static_cast<tilefoundry::{name}::Args const*>(args);
  for (int64_t c = 0; c < grid; ++c)
    for (int64_t i = c; i < a.out.shape[0]; i += grid) tilefoundry::{name}::row<{vector}>(a, i);
}}
"""


def matrix(name: str, dtype: DType = DType.f32, shape: tuple[DimVar | int, ...] = (M, N)) -> ParamABI:
    """A matrix parameter of any strides."""
    return ParamABI(name, TensorType(shape, dtype, None, StorageKind.GMEM))


def axpy_module(target: Target, name: str = "axpy", *, bias: int = 0) -> LinkableModule:
    """The module of one axpy kernel; `bias` is added to alpha's factor, to tell two of them apart."""
    alpha = ParamABI("alpha", TensorType.scalar(DType.f32))
    abi = EntryABI(name, (alpha, matrix("x"), matrix("y"), matrix("out")), 1)
    cuda = isinstance(target, CudaTarget)
    device = "__device__" if cuda else ""
    body = _BODY.format(name=name, ctype="float", scalar="float", device=device)
    if bias:
        body = body.replace("a.alpha *", f"(a.alpha + {bias}) *")
    wrapper = _CUDA if cuda else _CPU
    source = body + "".join(
        wrapper.format(name=name, variant=v, vector="true" if v == "vector" else "false") for v in ("vector", "general")
    )
    unit = KernelUnit(name, source_digest(source), source, abi, None, M, 128, 0)
    return LinkableModule(target, (unit,), emit_host((unit,), target), abi)
