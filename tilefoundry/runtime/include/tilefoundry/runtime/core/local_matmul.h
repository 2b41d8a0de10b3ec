// ops::local_matmul: the product of what each instance holds of two fragments, for operands that no shared
// memory holds. Instances that split the reduced axis get a term of the sum each.
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Storage offset of the n-th matrix, row-major over the leading axes.
template <class T, int... A>
TILEFOUNDRY_HOST_DEVICE constexpr int offset_of_matrix([[maybe_unused]] int n, cute::seq<A...>) {
  constexpr int axes = sizeof...(A);
  int offset = 0;
  ((offset += FragmentAxis<T, axes - 1 - A>::offset(n % FragmentAxis<T, axes - 1 - A>::count),
    n /= FragmentAxis<T, axes - 1 - A>::count),
   ...);
  return offset;
}

template <class T, int... A>
TILEFOUNDRY_HOST_DEVICE constexpr int count_of_matrices(cute::seq<A...>) {
  return (FragmentAxis<T, A>::count * ... * 1);
}

}  // namespace detail

namespace ops {

/// c += a @ b, of the parts that each instance holds.
/// @param a, b, c register fragments of logical shapes (..., M, K), (..., K, N) and (..., M, N); an instance
///   holds the same rows, columns and matrices of c as of a and b, and the same part of K of both
/// Products are added in f32 (f64 for f64, exactly for integers).
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void local_matmul(A const& a, B const& b, C&& c) {
  TILEFOUNDRY_OP("local_matmul");
  using Sum = detail::remove_cvref_t<C>;
  using T = typename Sum::value_type;
  using Acc = detail::accumulator_t<T, T>;
  constexpr int axes = decltype(cute::rank(typename Sum::global_layout_type{}))::value;
  static_assert(axes >= 2, "ops::local_matmul: operands are matrices");
  using Leading = cute::make_seq<axes - 2>;
  using Rows = detail::FragmentAxis<Sum, axes - 2>;
  using Columns = detail::FragmentAxis<Sum, axes - 1>;
  using RowsA = detail::FragmentAxis<A, axes - 2>;
  using Depth = detail::FragmentAxis<A, axes - 1>;
  using DepthB = detail::FragmentAxis<B, axes - 2>;
  using ColumnsB = detail::FragmentAxis<B, axes - 1>;
  constexpr int matrices = detail::count_of_matrices<Sum>(Leading{});
  static_assert(Rows::count == RowsA::count && Columns::count == ColumnsB::count &&
                    Depth::count == DepthB::count && matrices == detail::count_of_matrices<A>(Leading{}) &&
                    matrices == detail::count_of_matrices<B>(Leading{}),
                "ops::local_matmul: an instance holds (..., M, K), (..., K, N) and (..., M, N)");
  auto const a_part = local(a).data();
  auto const b_part = local(b).data();
  auto const c_part = local(c).data();
  TILEFOUNDRY_UNROLL
  for (int n = 0; n < matrices; ++n) {
    int const a_base = detail::offset_of_matrix<A>(n, Leading{});
    int const b_base = detail::offset_of_matrix<B>(n, Leading{});
    int const c_base = detail::offset_of_matrix<Sum>(n, Leading{});
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Rows::count; ++i) {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < Columns::count; ++j) {
        int const at = c_base + Rows::offset(i) + Columns::offset(j);
        Acc sum = convert<Acc>(c_part[at]);
        TILEFOUNDRY_UNROLL
        for (int k = 0; k < Depth::count; ++k) {
          Acc const x = convert<Acc>(a_part[a_base + RowsA::offset(i) + Depth::offset(k)]);
          Acc const y = convert<Acc>(b_part[b_base + DepthB::offset(k) + ColumnsB::offset(j)]);
          sum = op::add{}(sum, op::mul{}(x, y));
        }
        c_part[at] = convert<T>(sum);
      }
    }
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
