// ops::mma: c += a @ b on shared tiles a (M, K), b (K, N) and a register fragment c (M, N).
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/mma.cuh>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Each instance computes its own elements of c, whatever its fragment, in f32 (f64 for f64, exact for
/// integers).
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_fma(A const& a, B const& b, C& c) {
  using F = FragmentOf<C>;
  using Acc = accumulator_t<typename C::value_type, typename C::value_type>;
  using Rows = FragmentAxis<C, 0>;
  using Columns = FragmentAxis<C, 1>;
  constexpr int depth = decltype(cute::size<1>(typename A::global_layout_type{}))::value;
  auto const coords = c.shard_layout.mesh.local_index();
  int const row = F::template origin<0>(coords), column = F::template origin<1>(coords);
  auto const* const a_base = a.data();
  auto const* const b_base = b.data();
  auto const a_layout = a.shard_layout.layout;
  auto const b_layout = b.shard_layout.layout;
  auto const part = local(c);

  Acc acc[Rows::count][Columns::count];
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < Rows::count; ++i) {
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < Columns::count; ++j)
      acc[i][j] = convert<Acc>(part.data()[Rows::offset(i) + Columns::offset(j)]);
  }
  for (int k = 0; k < depth; ++k) {
    Acc x[Rows::count], y[Columns::count];
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Rows::count; ++i) x[i] = convert<Acc>(a_base[a_layout(row + Rows::step(i), k)]);
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < Columns::count; ++j)
      y[j] = convert<Acc>(b_base[b_layout(k, column + Columns::step(j))]);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Rows::count; ++i) {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < Columns::count; ++j) acc[i][j] = op::add{}(acc[i][j], op::mul{}(x[i], y[j]));
    }
  }
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < Rows::count; ++i) {
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < Columns::count; ++j) {
      part.data()[Rows::offset(i) + Columns::offset(j)] = convert<typename C::value_type>(acc[i][j]);
    }
  }
}

}  // namespace detail

namespace ops {

/// c += a @ b.
/// @param a,b whole shared tiles of logical shape (M, K) and (K, N), any strides (transposed_view), visible
/// to all
///   instances
/// @param c register fragment of logical shape (M, N), any distribution
/// Tensor cores (mma.sync m16n8k16, f32 accumulation) serve f16 and bf16 when c is f32 in the m16n8
/// accumulator layout; otherwise each instance multiplies and adds for its own elements.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma(A const& a, B const& b, C&& c) {
  using Acc = detail::remove_cvref_t<C>;
  detail::check_mma<A, B, Acc>();
#if defined(TILEFOUNDRY_TARGET_CUDA)
  if constexpr (detail::tensor_core_available<typename A::value_type>() &&
                detail::is_m16n8_fragment<A, Acc>()) {
    detail::mma_sync(a, b, c);
    return;
  }
#endif
  detail::mma_fma(a, b, c);
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
