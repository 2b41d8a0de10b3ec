// A program without Python: it loads a library of two kernels, runs them on tensors of its own, and compares
// the results with a plain computation in double. The library is found through TVM FFI, whose calling
// convention its entries have.
//
//   native <library.so> [rows]

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

namespace ffi = tvm::ffi;

constexpr int64_t kColumns = 256;
constexpr double kEpsilon = 1e-6;

/// Memory for tensors of this program. Kernels borrow tensors; they neither keep nor free them.
struct HostMemory {
  void AllocData(DLTensor* tensor) {
    const size_t bytes = (ffi::GetDataSize(*tensor) + 63) / 64 * 64;
    tensor->data = std::aligned_alloc(64, bytes);
  }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

ffi::Tensor make_tensor(std::vector<int64_t> const& shape) {
  return ffi::Tensor::FromNDAlloc(HostMemory(), ffi::ShapeView(shape.data(), shape.size()),
                                  DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

float* values(ffi::Tensor const& tensor) { return static_cast<float*>(tensor.data_ptr()); }

ffi::Function find(ffi::Module& library, std::string const& entry) {
  auto function = library->GetFunction(entry);
  if (!function.has_value()) TVM_FFI_THROW(ValueError) << "the library has no entry '" << entry << "'";
  return *function;
}

void rms_norm(float const* x, float const* weight, double* y) {
  double squares = 0;
  for (int64_t c = 0; c < kColumns; ++c) squares += double(x[c]) * x[c];
  const double scale = 1 / std::sqrt(squares / kColumns + kEpsilon);
  for (int64_t c = 0; c < kColumns; ++c) y[c] = x[c] * scale * weight[c];
}

void softmax(float const* x, double* y) {
  const double most = *std::max_element(x, x + kColumns);
  double sum = 0;
  for (int64_t c = 0; c < kColumns; ++c) sum += y[c] = std::exp(x[c] - most);
  for (int64_t c = 0; c < kColumns; ++c) y[c] /= sum;
}

/// Prints the largest difference of a kernel's result, of the largest expected value; returns whether it is
/// in bounds.
bool report(char const* name, std::vector<double> const& expected, ffi::Tensor const& found, double bound) {
  double most = 0, difference = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(values(found)[i] - expected[i]);
    difference = off <= difference ? difference : off;  // a NaN is taken, and stays
    most = std::max(most, std::abs(expected[i]));
  }
  const bool passed = difference <= bound * most;
  std::printf("%-10s %10.1e %10.0e   %s\n", name, difference / most, bound, passed ? "PASS" : "FAIL");
  return passed;
}

int run(char const* path, int64_t rows) {
  ffi::Module library = ffi::Module::LoadFromFile(path);
  ffi::Tensor x = make_tensor({rows, kColumns}), weight = make_tensor({kColumns}),
              y = make_tensor({rows, kColumns});
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::generate_n(values(x), rows * kColumns, [&] { return normal(random); });
  std::generate_n(values(weight), kColumns, [&] { return normal(random); });
  std::vector<double> expected(rows * kColumns);
  bool passed = true;

  std::printf("%lld x %lld, f32\nkernel     difference      bound   result\n", static_cast<long long>(rows),
              static_cast<long long>(kColumns));
  std::fill_n(values(y), rows * kColumns, NAN);  // what a kernel does not write shows
  find(library, "rms_norm")(x, weight, y);
  for (int64_t r = 0; r < rows; ++r)
    rms_norm(values(x) + r * kColumns, values(weight), &expected[r * kColumns]);
  passed &= report("rms_norm", expected, y, 1e-6);

  std::fill_n(values(y), rows * kColumns, NAN);
  find(library, "softmax")(x, y);
  for (int64_t r = 0; r < rows; ++r) softmax(values(x) + r * kColumns, &expected[r * kColumns]);
  passed &= report("softmax", expected, y, 1e-6);

  // A wrong argument is refused by its name, before anything runs.
  try {
    find(library, "softmax")(weight, y);
    passed = false;
  } catch (ffi::Error const& error) {
    std::printf("softmax(weight, y): %s\n", std::string(error.message()).c_str());
  }
  return passed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s <library.so> [rows]\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1], argc == 3 ? std::max(1L, std::atol(argv[2])) : 1000);
  } catch (ffi::Error const& error) {
    std::fprintf(stderr, "%s\n", std::string(error.message()).c_str());
    return 1;
  }
}
