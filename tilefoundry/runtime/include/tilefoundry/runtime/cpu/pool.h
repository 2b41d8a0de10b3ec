// The threads that run CTAs. Process-level and free of units: one pool serves every kernel of a library.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
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
  /// `body` must not throw.
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
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (static_cast<int64_t>(threads_->size()) < width - 1) threads_->emplace_back([this] { serve(); });
      loops_.push_back(&loop);
    }
    posted_.notify_all();
    loop.work();
    std::unique_lock<std::mutex> lock(mutex_);
    loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
    finished_.wait(lock, [&] { return loop.helpers == 0; });
  }

  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;

  ~Pool() {
    if (getpid() != owner_) return;  // a forked child: the threads are the parent's
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    posted_.notify_all();
    for (std::thread& thread : *threads_) thread.join();
    delete threads_;
  }

 private:
  struct Loop {
    std::atomic<int64_t> next{0};
    int64_t count = 0;
    int64_t room = 0;     // threads that may still join; guarded by the pool's mutex
    int64_t helpers = 0;  // threads at work besides the caller; likewise
    void const* context = nullptr;
    void (*call)(void const*, int64_t) = nullptr;

    void work() {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) call(context, i);
    }
  };

  Pool() : owner_(getpid()), threads_(new std::vector<std::thread>) {}

  Loop* open_loop() {
    for (Loop* loop : loops_) {
      if (loop->room > 0 && loop->next.load(std::memory_order_relaxed) < loop->count) return loop;
    }
    return nullptr;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      Loop* loop = nullptr;
      posted_.wait(lock, [&] { return stopping_ || (loop = open_loop()) != nullptr; });
      if (stopping_) return;
      --loop->room;
      ++loop->helpers;
      lock.unlock();
      loop->work();
      lock.lock();
      ++loop->room;
      if (--loop->helpers == 0) finished_.notify_all();
    }
  }

  pid_t const owner_;
  std::vector<std::thread>* threads_;  // on the heap: a forked child must not destroy them
  std::mutex mutex_;
  std::condition_variable posted_, finished_;
  std::vector<Loop*> loops_;
  bool stopping_ = false;
};

}  // namespace host
}  // namespace tilefoundry
