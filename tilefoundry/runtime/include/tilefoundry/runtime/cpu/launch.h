// cpu::launch: runs a kernel body as every instance of a grid.
#pragma once

#include <tilefoundry/runtime/cpu/cta.h>
#include <tilefoundry/runtime/cpu/pool.h>
#include <tilefoundry/runtime/cpu/workers.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

/// Shared memory of the CTA that a thread runs, kept between CTAs and launches.
class SharedMemory {
 public:
  static constexpr size_t kAlignment = 1024;  ///< the period of the widest swizzle

  char* reserve(int bytes) {
    size_t const needed = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    if (needed > size_) {
      data_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, needed)));
      size_ = data_ ? needed : 0;
      if (!data_) throw std::bad_alloc();
    }
#if !defined(NDEBUG) || defined(TILEFOUNDRY_CHECKED)
    // What a kernel reads before it writes is NaN, as a value or in every float format.
    if (needed) std::memset(data_.get(), 0xff, needed);
#endif
    return data_.get();
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

/// What a thread keeps from one CTA to the next. A kernel that launches another one finds its own in use, and
/// the inner one gets another.
template <class T>
class Kept {
 public:
  Kept() {
    if (free().empty()) free().push_back(std::make_unique<T>());
    value_ = std::move(free().back());
    free().pop_back();
  }
  ~Kept() { free().push_back(std::move(value_)); }
  Kept(Kept const&) = delete;
  Kept& operator=(Kept const&) = delete;
  T* operator->() const { return value_.get(); }

 private:
  static std::vector<std::unique_ptr<T>>& free() {
    static thread_local std::vector<std::unique_ptr<T>> list;
    return list;
  }
  std::unique_ptr<T> value_;
};

/// The instances of one CTA, as fibres or one after the other.
template <bool Collective, class Body>
void run_cta(Instance const& whole, Body const& body) {
  if (Collective && whole.threads > 1) {
    Kept<Cta>()->run(whole, body);
    return;
  }
  Instance self = whole;
  struct Restore {
    Instance const* outer = current;
    ~Restore() { current = outer; }
  } restore;
  current = &self;
  for (self.thread = 0; self.thread < self.threads; ++self.thread) {
    try {
      body();
    } catch (...) {
      std::rethrow_exception(located_current_exception(self));
    }
  }
}

/// How many CTAs run at once (one needs no count of the workers): in checking mode one after the other, so
/// that findings do not depend on time.
inline int64_t launch_width([[maybe_unused]] int64_t grid) {
#if defined(TILEFOUNDRY_CHECKED)
  return 1;
#else
  return grid == 1 ? 1 : host::worker_count();
#endif
}

/// @throws std::invalid_argument for a geometry that no GPU has either
inline void check_geometry(int64_t grid, int threads, int shared_bytes) {
  if (grid < 0 || grid > std::numeric_limits<int>::max() || threads < 1 || threads > 1024 ||
      shared_bytes < 0) {
    throw std::invalid_argument(
        "cpu::launch: expected 0 <= grid < 2^31, 1 <= threads <= 1024, shared bytes >= 0; got " +
        std::to_string(grid) + ", " + std::to_string(threads) + ", " + std::to_string(shared_bytes));
  }
}

}  // namespace target

TILEFOUNDRY_CPU_NAMESPACE_BEGIN

/// Runs `body()` as each of `threads` instances of each of `grid` CTAs, and returns when all have ended.
/// CTAs are spread over host::worker_count() threads; the instances of a CTA are fibres when the body has
/// barriers or exchanges (`Collective`), and otherwise a plain loop.
/// @throws std::runtime_error naming the instance, when one throws; std::invalid_argument for a bad geometry.
/// Of
///   several failing CTAs the first is reported.
template <bool Collective, class Body>
void launch(int64_t grid, int threads, int shared_bytes, Body const& body) {
  target::check_geometry(grid, threads, shared_bytes);
  if (grid == 0) return;
#if defined(TILEFOUNDRY_CHECKED)
  checked::Launch const launch;
#endif
  std::mutex mutex;
  std::atomic<int64_t> failed_cta{grid};
  std::exception_ptr error;
  host::Pool::instance().run(grid, target::launch_width(grid), [&](int64_t cta) {
    // CTAs start in increasing order, and only those behind a failed one are left out: the first failing one
    // runs.
    if (cta > failed_cta.load(std::memory_order_relaxed)) return;
    try {
      target::Kept<target::SharedMemory> const shared;
      target::Instance whole;
      whole.cta = static_cast<int>(cta);
      whole.ctas = static_cast<int>(grid);
      whole.threads = threads;
      whole.shared = shared->reserve(shared_bytes);
#if defined(TILEFOUNDRY_CHECKED)
      checked::Cta checks(whole.cta, threads, whole.shared, shared_bytes);
      whole.checks = &checks;
#endif
      target::run_cta<Collective>(whole, body);
#if defined(TILEFOUNDRY_CHECKED)
      checks.finish();
#endif
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (cta < failed_cta) {
        failed_cta = cta;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

TILEFOUNDRY_CPU_NAMESPACE_END

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
