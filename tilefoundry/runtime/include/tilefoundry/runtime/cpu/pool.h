// The threads that run CTAs. Process-level and free of units: one pool serves every kernel of a library.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilefoundry {
namespace host {

/// A parallel loop over indices. The caller takes part, so a loop ends even when no other thread is free
/// (several launches at once). In a forked child, which has no threads but its own, the caller runs all of
/// it.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  /// Calls body(i) once for each i in [0, count), on at most `width` threads, in increasing order of start.
  /// All of them compute in the caller's floating-point environment (rounding, denormal numbers). `body` must
  /// not throw.
  template <class Body>
  void run(int64_t count, int64_t width, Body const& body) {
    Loop loop;
    loop.count = count;
    loop.room = std::min(width, count) - 1;
    loop.context = &body;
    loop.call = [](void const* context, int64_t i) { (*static_cast<Body const*>(context))(i); };
    // A child may have been forked while a thread that it lacks held the mutex: nobody would ever unlock it
    // there.
    if (loop.room <= 0 || getpid() != owner_) {
      loop.work();
      return;
    }
    std::fegetenv(&loop.environment);
    {
      std::lock_guard<std::mutex> lock(shared_->mutex);
      auto& threads = shared_->threads;
      try {
        while (static_cast<int64_t>(threads.size()) < width - 1) threads.emplace_back([this] { serve(); });
      } catch (std::system_error const&) {  // no more threads: those that there are take all
      }
      shared_->loops.push_back(&loop);
    }
    shared_->posted.notify_all();
    loop.work();
    std::unique_lock<std::mutex> lock(shared_->mutex);
    auto& loops = shared_->loops;
    loops.erase(std::find(loops.begin(), loops.end(), &loop));
    shared_->finished.wait(lock, [&] { return loop.helpers == 0; });
  }

  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;

  ~Pool() {
    if (getpid() != owner_) return;  // a forked child: the threads are the parent's
    {
      std::lock_guard<std::mutex> lock(shared_->mutex);
      shared_->stopping = true;
    }
    shared_->posted.notify_all();
    for (std::thread& thread : shared_->threads) thread.join();
    delete shared_;
  }

 private:
  struct Loop {
    std::atomic<int64_t> next{0};
    int64_t count = 0;
    int64_t room = 0;     // threads that may still join; guarded by the pool's mutex
    int64_t helpers = 0;  // threads at work besides the caller; likewise
    std::fenv_t environment;
    void const* context = nullptr;
    void (*call)(void const*, int64_t) = nullptr;

    void work() {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) call(context, i);
    }
  };

  struct Shared {
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable posted, finished;
    std::vector<Loop*> loops;
    bool stopping = false;

    Loop* open_loop() const {
      for (Loop* loop : loops) {
        if (loop->room > 0 && loop->next.load(std::memory_order_relaxed) < loop->count) return loop;
      }
      return nullptr;
    }
  };

  Pool() : owner_(getpid()), shared_(new Shared) {}

  void serve() {
    std::unique_lock<std::mutex> lock(shared_->mutex);
    for (;;) {
      Loop* loop = nullptr;
      shared_->posted.wait(lock,
                           [&] { return shared_->stopping || (loop = shared_->open_loop()) != nullptr; });
      if (shared_->stopping) return;
      --loop->room;
      ++loop->helpers;
      lock.unlock();
      std::fesetenv(&loop->environment);
      loop->work();
      lock.lock();
      ++loop->room;
      if (--loop->helpers == 0) shared_->finished.notify_all();
    }
  }

  pid_t const owner_;
  // On the heap: a forked child must destroy neither threads nor what they wait for, which would not end.
  Shared* const shared_;
};

}  // namespace host
}  // namespace tilefoundry
