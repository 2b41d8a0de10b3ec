"""The bare call that ours is measured against: TVM FFI hands over tensors, and the same kernel is launched on them.

It checks nothing, knows the grid beforehand, and stands where the host entry of the library stood.
"""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.codegen.unit import KernelUnit, LinkableModule
from tilefoundry.target import CudaTarget

_COMMON = """\
#include <tilefoundry/runtime.h>
#include <tvm/ffi/container/tensor.h>

#include <algorithm>

namespace host = tilefoundry::host;
using tvm::ffi::TensorView;

template <int Rank>
host::TensorArg<Rank> arg(TensorView t) {{
  host::TensorArg<Rank> record;
  record.data = t.data_ptr();
  std::copy_n(t.shape().data(), Rank, record.shape);
  std::copy_n(t.strides().data(), Rank, record.stride);
  return record;
}}

struct Args {{
{fields}
}};
{launch}
void bare({params}) {{
  Args args = {{{values}}};
  launch(&args, {first}.device().device_id);
}}
tvm::ffi::String description() {{ return ""; }}

TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, bare)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(tilefoundry_description, description)
"""
_CPU = """\
extern "C" void {name}__vector(const void* args, int64_t grid);
void launch(Args* args, int) {{ {name}__vector(args, 1); }}
"""
_CUDA = """\
extern "C" const host::Cubin {name}__cubins[];
CUfunction kernel(int device) {{
  const host::CudaDriver& driver = host::CudaDriver::get();
  const host::CudaDeviceGuard guard(device);
  CUmodule module;
  CUfunction function;
  driver.check(driver.load_module(&module, {name}__cubins[0].begin), "module");
  driver.check(driver.get_function(&function, module, "{name}__vector"), "function");
  return function;
}}
void launch(Args* args, int device) {{
  static const CUfunction function = kernel(device);
  static const host::CudaDriver& driver = host::CudaDriver::get();
  void* params[] = {{args}};
  driver.launch_kernel(function, 1, 1, 1, {block}, 1, 1, {shared_bytes}, host::current_stream(device), params, nullptr);
}}
"""


def bare_module(module: LinkableModule) -> LinkableModule:
    """The same library with a bare entry: one kernel on tensors, a grid of one CTA, the vector variant."""
    (unit,) = module.units
    return replace(module, host_source=_source(unit, isinstance(module.target, CudaTarget)))


def _source(unit: KernelUnit, cuda: bool) -> str:
    names = [p.name for p in unit.abi.params]
    ranks = [len(p.type.shape) for p in unit.abi.params]
    launch = (_CUDA if cuda else _CPU).format(name=unit.name, block=unit.block, shared_bytes=unit.shared_bytes)
    return _COMMON.format(
        name=unit.name,
        fields="\n".join(f"  host::TensorArg<{rank}> {name};" for rank, name in zip(ranks, names, strict=True)),
        launch=launch,
        params=", ".join(f"TensorView {name}" for name in names),
        values=", ".join(f"arg<{rank}>({name})" for rank, name in zip(ranks, names, strict=True)),
        first=names[0],
    )
