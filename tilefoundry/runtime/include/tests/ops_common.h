// What the parts of the ops' tests share. A part is a header with `body<Vector>`, which runs ops on both
// targets and records what every instance holds after each. ops_kernel.cc and ops_kernel.cu make kernels of
// it.
//
// Either all values are exact, or rounded coarsely, so that both targets must record the same bits. Or a part
// is golden: it records each value beside the one that plain arithmetic on ids gives.
#pragma once

#include <tilefoundry/runtime.h>

#ifndef TEST_THREADS
#define TEST_THREADS 128
#endif

// Loops of a test that are no part of an op stay loops: unrolled, they would be most of what is compiled.
#if defined(__CUDA_ARCH__)
#define TEST_ROLLED _Pragma("unroll 1")
#else
#define TEST_ROLLED
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<TEST_THREADS>>{};
}
namespace opcheck {
using namespace cute;
using shard::B;
using shard::S;
constexpr auto kCta = TopologyScope::cta;
constexpr auto kThread = TopologyScope::thread;

struct Args {
  GlobalArg<2> in;       // bf16, any extents
  GlobalArg<2> out;      // bf16, extents of `in`: written through a box
  GlobalArg<1> log;      // f32
  GlobalArg<1> scratch;  // 64 KiB of zeros
  int64_t repetitions;   // of what is repeated to find races
};

constexpr int kThreads = TEST_THREADS;
constexpr int kSharedBytes = 49152;

using Linear = Mesh<Layout<Shape<Int<kThreads>>, Stride<_1>>, kThread>;
#if TEST_THREADS == 128
using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
template <int N>
using Accumulator =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<S<0>, S<2>, S<4>>, Threads>;
#endif

template <int R, int C>
using Matrix = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C>, _1>>;

/// The instance among those of all CTAs.
TILEFOUNDRY_DEVICE int instance() {
  return static_cast<int>(program_id<kCta>()) * kThreads + static_cast<int>(program_id<kThread>());
}

/// Appends to the log; all instances call together.
struct Recorder {
  float* log;
  float* end;

  /// Each instance's elements.
  template <class T>
  TILEFOUNDRY_DEVICE void operator()(T const& fragment) {
    auto part = local(fragment);
    constexpr int count = decltype(size(part))::value;
    float* const mine = take(count);
    for (int i = 0; i < count; ++i) mine[i] = convert<float>(part.data()[i]);
  }

  /// In a golden part: a value, and what it must be.
  TILEFOUNDRY_DEVICE void check(float got, float wanted) {
    float* const mine = take(2);
    mine[0] = got;
    mine[1] = wanted;
  }

 private:
  /// The instance's part of the log's next entry, of `count` elements for each.
  TILEFOUNDRY_DEVICE float* take(int count) {
    float* const mine = log + instance() * count;
    log += static_cast<int>(program_dim<kCta>()) * kThreads * count;
    if (log > end) target::abort_launch("the log is too short");
    return mine;
  }
};

/// A small integer for a matrix element.
template <class T>
TILEFOUNDRY_DEVICE T small(int i, int j) {
  return convert<T>((i * 7 + j * 13 + i * j) % 9 - 4);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
