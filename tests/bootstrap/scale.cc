// A library that TVM FFI loads: built against the headers of the same wheel that Python imports.

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <cstdint>

namespace {

void Scale(tvm::ffi::TensorView x, double factor) {
  auto* data = static_cast<float*>(x.data_ptr());
  for (int64_t i = 0; i < x.size(0); ++i) data[i] *= static_cast<float>(factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, Scale);
