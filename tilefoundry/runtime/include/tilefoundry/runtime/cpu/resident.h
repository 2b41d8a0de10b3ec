// cpu::launch_resident: runs a kernel body as every instance of a grid whose CTAs meet at barriers.
#pragma once

#include <tilefoundry/runtime/cpu/launch.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

/// What all CTAs of a launch may take together while they wait for each other: address space of stacks, of
/// which pages are used as instances touch them, and shared memory. It also bounds the mappings of a process.
inline constexpr int64_t kResidentBytes = int64_t{6} << 30;

/// The CTAs of a resident launch between its barriers. Every thread runs CTAs of its own up to the next
/// barrier and meets the other threads there; a fibre never changes its thread, so thread-local addresses
/// stay right.
class ResidentGrid {
 public:
  template <class Body>
  ResidentGrid(int64_t grid, int threads, int shared_bytes, Body const& body)
      : slots_(static_cast<size_t>(grid)), failed_cta_(grid) {
    for (int64_t cta = 0; cta < grid; ++cta) {
      slots_[cta] = std::make_unique<Slot>();
      Instance whole;
      whole.cta = static_cast<int>(cta);
      whole.ctas = static_cast<int>(grid);
      whole.threads = threads;
      whole.shared = slots_[cta]->shared.reserve(shared_bytes);
#if defined(TILEFOUNDRY_CHECKED)
      slots_[cta]->checks = std::make_unique<checked::Cta>(whole.cta, threads, whole.shared, shared_bytes);
      whole.checks = slots_[cta]->checks.get();
#endif
      slots_[cta]->cta.begin(whole, body);
    }
  }

  /// Runs to completion on at most `wanted` threads, the calling one among them.
  void run(int64_t wanted) {
    wanted = std::min(wanted, static_cast<int64_t>(slots_.size()));
    std::vector<std::thread> helpers;
    try {
      while (static_cast<int64_t>(helpers.size()) + 1 < wanted) {
        int64_t const index = static_cast<int64_t>(helpers.size()) + 1;
        helpers.emplace_back([this, index] { work(index); });
      }
    } catch (std::system_error const&) {  // no more threads: those that there are take all
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      workers_ = static_cast<int64_t>(helpers.size()) + 1;
    }
    changed_.notify_all();
    work(0);
    for (std::thread& helper : helpers) helper.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Slot {
    Cta cta;
    SharedMemory shared;
#if defined(TILEFOUNDRY_CHECKED)
    std::unique_ptr<checked::Cta> checks;
#endif
    bool ended = false;
  };

  void work(int64_t first) {
    int64_t step = 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return workers_ > 0; });
      step = workers_;
    }
    int64_t const count = static_cast<int64_t>(slots_.size());
    bool again = true;
    while (again) {
      int64_t ended = 0;
      for (int64_t cta = first; cta < count; cta += step) ended += advance(cta);
      again = meet(ended);
    }
    for (int64_t cta = first; cta < count; cta += step) {
      if (!slots_[cta]->ended) slots_[cta]->cta.cancel();
    }
  }

  /// Runs one CTA up to its next barrier; whether it has ended.
  bool advance(int64_t cta) {
    Slot& slot = *slots_[cta];
    if (slot.ended) return true;
    try {
      slot.ended = slot.cta.advance();
#if defined(TILEFOUNDRY_CHECKED)
      if (slot.ended) slot.checks->finish();
#endif
    } catch (...) {
      slot.ended = true;
      fail(cta, std::current_exception());
    }
    return slot.ended;
  }

  void fail(int64_t cta, std::exception_ptr error) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (cta < failed_cta_) {
      failed_cta_ = cta;
      error_ = std::move(error);
    }
  }

  /// All threads meet, and the last one decides for all whether there is another round. `ended`: how many of
  /// the caller's CTAs have ended so far.
  bool meet(int64_t ended) {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_ += ended;
    if (++arrived_ < workers_) {
      int64_t const round = round_;
      changed_.wait(lock, [&] { return round_ != round; });
      return again_;
    }
    int64_t const count = static_cast<int64_t>(slots_.size());
    if (!error_ && ended_ != 0 && ended_ != count) error_ = diverged();
    again_ = !error_ && ended_ == 0;
    arrived_ = ended_ = 0;
    ++round_;
#if defined(TILEFOUNDRY_CHECKED)
    checked::Call::current()->next_epoch();  // the only thread is the caller's
#endif
    changed_.notify_all();
    return again_;
  }

  std::exception_ptr diverged() const {
    auto const of = [&](bool ended) {
      auto const slot =
          std::find_if(slots_.begin(), slots_.end(), [&](auto const& s) { return s->ended == ended; });
      return std::to_string(slot - slots_.begin());
    };
    return std::make_exception_ptr(DivergenceError("barrier divergence in the grid: CTA " + of(false) +
                                                   " waits at the grid barrier, CTA " + of(true) +
                                                   " has finished"));
  }

  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t workers_ = 0;
  int64_t arrived_ = 0;
  int64_t ended_ = 0;
  int64_t round_ = 0;
  bool again_ = true;
  int64_t failed_cta_;
  std::exception_ptr error_;
};

}  // namespace target

TILEFOUNDRY_CPU_NAMESPACE_BEGIN

/// As `launch`, for a body with grid barriers: all CTAs are alive at once, their instances as fibres.
/// @throws as `launch`; std::length_error when they take more memory than target::kResidentBytes;
///   std::runtime_error when some CTAs end while others wait
template <class Body>
void launch_resident(int64_t grid, int threads, int shared_bytes, Body const& body) {
  target::check_geometry(grid, threads, shared_bytes);
  if (grid == 0) return;
  int64_t const bytes = grid * (threads * static_cast<int64_t>(fibre::Stacks::kBytes) + shared_bytes);
  if (bytes > target::kResidentBytes) {
    throw std::length_error("a grid of " + std::to_string(grid) + " CTAs of " + std::to_string(threads) +
                            " threads that meet at barriers takes " + std::to_string(bytes >> 20) +
                            " MiB of stacks and shared memory, above the limit of " +
                            std::to_string(target::kResidentBytes >> 20) + " MiB; launch fewer CTAs");
  }
#if defined(TILEFOUNDRY_CHECKED)
  checked::Launch const launch;
#endif
  target::ResidentGrid(grid, threads, shared_bytes, body).run(target::launch_width(grid));
}

TILEFOUNDRY_CPU_NAMESPACE_END

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
