// What the runtime's tests share: a unit of TEST_THREADS instances per CTA, and a launch of a lambda.
#pragma once

#include <gtest/gtest.h>
#include <tilefoundry/runtime.h>

#include <vector>

#ifndef TEST_THREADS
#define TEST_THREADS 128
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <>
constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<TEST_THREADS>>{};
}

constexpr int kThreads = TEST_THREADS;

/// Runs `body` as every instance of `grid` CTAs with barriers and exchanges.
template <class Body>
void launch(int64_t grid, int shared_bytes, Body const& body) {
  cpu::launch<true>(grid, kThreads, shared_bytes, body);
}

template <int... N>
using Dims = cute::Shape<cute::Int<N>...>;

/// The C-order layout of a static shape.
template <int... N>
using RowMajor = decltype(cute::make_layout(Dims<N...>{}, cute::LayoutRight{}));

/// A deterministic value in [-1, 1) for an index.
inline float noise(int64_t i) {
  uint32_t x = static_cast<uint32_t>(i) * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return static_cast<float>(x >> 8) / static_cast<float>(1 << 23) - 1.f;
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
