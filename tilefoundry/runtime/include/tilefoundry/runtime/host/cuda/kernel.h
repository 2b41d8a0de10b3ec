// Launching kernels that were compiled to cubins and embedded in this library.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "tilefoundry/runtime/host/cuda/context.h"
#include "tilefoundry/runtime/host/cuda/driver.h"
#include "tilefoundry/runtime/host/launch.h"

namespace tilefoundry::host {

/// An embedded cubin. One that is `specific` (sm_90a) runs on its own compute capability only, any other on
/// the later minor ones too. The table of images is written in assembler: keep the order and size of the
/// fields.
struct Cubin {
  const unsigned char* begin;
  const char* arch;
  int32_t major;
  int32_t minor;
  int32_t specific;
  int32_t reserved;
};

/// A kernel and its images. Each device loads its image at the first launch there. Images stay loaded as long
/// as the process lives: a launch is asynchronous, so nobody here knows when the last one ends.
class CudaKernel {
 public:
  struct Config {
    const char* name;
    const char* vector_symbol;
    const char* general_symbol;
    const Cubin* images;
    const int32_t* image_count;
    unsigned block;
    unsigned shared_bytes;
    bool grid_barrier;  // CTAs meet, so all must be resident
  };

  explicit constexpr CudaKernel(const Config& config) : config_(config) {}

  /// Launches on the caller's current stream of `device`. The caller holds a CudaDeviceGuard.
  /// Throws kLaunchError with the kernel's name.
  void launch(int device, const Launch& launch) {
    const CudaDriver& driver = CudaDriver::get();
    const Loaded& loaded = on_device(device);
    const Variant& variant = launch.vector ? loaded.vector : loaded.general;
    const int64_t grid = grid_of(launch, variant.resident);
    if (grid > INT32_MAX) {
      throw_error(kLaunchError, what(device), ": a grid of ", grid, " CTAs is above the limit of ",
                  INT32_MAX);
    }
    if (config_.grid_barrier && grid > variant.resident) {
      throw_error(kLaunchError, what(device), ": its CTAs meet at barriers, and of a grid of ", grid,
                  " the device holds ", variant.resident, " at once; launch at most ", variant.resident,
                  " CTAs, or CTAs with less threads, registers or shared memory");
    }
    void* params[] = {launch.args};
    const CUstream stream = current_stream(device);
    const auto blocks = static_cast<unsigned>(grid);
    const CUresult result = config_.grid_barrier
                                ? driver.launch_cooperative(variant.function, blocks, 1, 1, config_.block, 1,
                                                            1, config_.shared_bytes, stream, params)
                                : driver.launch_kernel(variant.function, blocks, 1, 1, config_.block, 1, 1,
                                                       config_.shared_bytes, stream, params, nullptr);
    if (result != CUDA_SUCCESS) {
      driver.check(result, what(device), " (grid ", grid, ", block ", config_.block, ", ",
                   config_.shared_bytes, " bytes of shared memory)");
    }
  }

 private:
  struct Variant {
    CUfunction function;
    int64_t resident;  // CTAs that the device holds at once
  };
  struct Loaded {
    Variant vector;
    Variant general;
  };

  std::string what(int device) const {
    return "kernel '" + std::string(config_.name) + "' on cuda:" + std::to_string(device);
  }

  const Loaded& on_device(int device) {
    if (const Loaded* known = loaded_[device].load(std::memory_order_acquire)) return *known;
    const std::lock_guard<std::mutex> lock(loading_);
    if (const Loaded* known = loaded_[device].load(std::memory_order_acquire)) return *known;
    const CudaDriver& driver = CudaDriver::get();
    const RelaxedCapture relaxed;
    CUmodule module = nullptr;
    driver.check(driver.load_module(&module, image_for(device).begin), "loading ", what(device));
    auto loaded = std::make_unique<Loaded>();
    loaded->vector = variant(module, config_.vector_symbol, device);
    loaded->general = variant(module, config_.general_symbol, device);
    loaded_[device].store(loaded.get(), std::memory_order_release);
    return *loaded.release();
  }

  static int attribute(CUdevice_attribute which, int device) {
    const CudaDriver& driver = CudaDriver::get();
    CUdevice handle = 0;
    int value = 0;
    driver.check(driver.device_get(&handle, device), "cuda:", device);
    driver.check(driver.device_attribute(&value, which, handle), "attribute of cuda:", device);
    return value;
  }

  const Cubin& image_for(int device) const {
    const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    const Cubin* best = nullptr;
    std::string built;
    for (int i = 0; i < *config_.image_count; ++i) {
      const Cubin& image = config_.images[i];
      built += (i ? ", " : "") + std::string(image.arch);
      const bool exact = image.major == major && image.minor == minor;
      const bool runs = exact || (!image.specific && image.major == major && image.minor < minor);
      const auto rank = [](const Cubin& c) { return c.minor * 2 + c.specific; };
      if (runs && (best == nullptr || rank(image) > rank(*best))) best = &image;
    }
    if (best == nullptr) {
      throw_error(kLaunchError, what(device), ": built for ", built,
                  ", but the device has compute capability ", major, ".", minor,
                  "; compile for a target of that architecture");
    }
    return *best;
  }

  Variant variant(CUmodule module, const char* symbol, int device) const {
    const CudaDriver& driver = CudaDriver::get();
    Variant variant = {};
    driver.check(driver.get_function(&variant.function, module, symbol), "loading ", what(device));
    driver.check(
        driver.set_function_attribute(variant.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(config_.shared_bytes)),
        what(device), ": ", config_.shared_bytes, " bytes of shared memory");
    int per_processor = 0;
    driver.check(driver.occupancy(&per_processor, variant.function, static_cast<int>(config_.block),
                                  config_.shared_bytes),
                 "occupancy of ", what(device));
    variant.resident = int64_t{per_processor} * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    return variant;
  }

  Config config_;
  std::mutex loading_;
  std::atomic<const Loaded*> loaded_[kMaxCudaDevices] = {};
};

}  // namespace tilefoundry::host
