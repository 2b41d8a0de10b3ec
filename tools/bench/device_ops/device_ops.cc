// The functions of this library, which a linker would leave out of it otherwise.
#include <cstdint>

extern "C" {
int device_ops_attention(void const* tensors, float scale, bool causal, void* stream);
int device_ops_bulk_copy(void const* tensors, void* stream);
int device_ops_products(char const* type, void const* out, int64_t steps, void* stream);
int device_ops_row_map(char const* op, void const* args, void* stream);
int device_ops_rows(char const* op, void const* args, void* stream);
int device_ops_vectors(char const* op, void const* args, void* stream);
int gemm_by_rows_on_gpu(void const* tensors, bool vector, void* stream);
int gemm_on_gpu(void const* tensors, bool vector, void* stream);
}

__attribute__((used)) static void const* const kDeviceOps[] = {
    reinterpret_cast<void const*>(&device_ops_attention),
    reinterpret_cast<void const*>(&device_ops_bulk_copy),
    reinterpret_cast<void const*>(&device_ops_products),
    reinterpret_cast<void const*>(&device_ops_row_map),
    reinterpret_cast<void const*>(&device_ops_rows),
    reinterpret_cast<void const*>(&device_ops_vectors),
    reinterpret_cast<void const*>(&gemm_by_rows_on_gpu),
    reinterpret_cast<void const*>(&gemm_on_gpu)};
