// The functions of this library, which a linker would leave out of it otherwise.
#include <cstdint>

extern "C" {
int device_ops_vectors(char const* op, void const* args, void* stream);
int device_ops_row_sums(void const* args, void* stream);
int device_ops_bulk_copy(void const* tensors, void* stream);
int device_ops_products(void const* out, int64_t steps, void* stream);
int gemm_on_gpu(void const* tensors, bool vector, void* stream);
}

__attribute__((used)) static void const* const kDeviceOps[] = {
    reinterpret_cast<void const*>(&device_ops_vectors), reinterpret_cast<void const*>(&device_ops_row_sums),
    reinterpret_cast<void const*>(&device_ops_bulk_copy), reinterpret_cast<void const*>(&device_ops_products),
    reinterpret_cast<void const*>(&gemm_on_gpu)};
