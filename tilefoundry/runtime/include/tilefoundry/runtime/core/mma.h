// ops::mma: c += a @ b for a (M, K) in shared memory or registers, b (K, N) in shared memory, c (M, N) in
// registers; or for all three in registers, as one instruction takes them.
#pragma once

#include <tilefoundry/runtime/core/mma_fragments.h>
#include <tilefoundry/runtime/core/wgmma_layout.h>
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/mma.cuh>
#include <tilefoundry/runtime/cuda/wgmma.cuh>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Products are accumulated in f32 (f64 for f64, exactly for integers): those of M rows and N columns that
/// the instance holds, from its `first_row`-th and `first_column`-th on.
template <class C, int M = FragmentAxis<C, 0>::count, int N = FragmentAxis<C, 1>::count>
struct Accumulators {
  using T = typename C::value_type;
  using Acc = accumulator_t<T, T>;
  using Rows = FragmentAxis<C, 0>;
  using Columns = FragmentAxis<C, 1>;
  int first_row, first_column;
  Acc value[M][N];

  TILEFOUNDRY_DEVICE explicit Accumulators(C const& c, int row = 0, int column = 0)
      : first_row(row), first_column(column) {
    auto const part = local(c);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < M; ++i) {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < N; ++j) value[i][j] = convert<Acc>(part.data()[offset(i, j)]);
    }
  }

  TILEFOUNDRY_DEVICE int offset(int i, int j) const {
    return Rows::offset(first_row + i) + Columns::offset(first_column + j);
  }

  TILEFOUNDRY_DEVICE void add_product(int i, int j, Acc x, Acc y) {
    value[i][j] = op::add{}(value[i][j], op::mul{}(x, y));
  }

  TILEFOUNDRY_DEVICE void store(C& c) const {
    auto const part = local(c);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < M; ++i) {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < N; ++j) part.data()[offset(i, j)] = convert<T>(value[i][j]);
    }
  }
};

/// The instance's M rows and N columns of c from its i-th and j-th on.
template <int M, int N, class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_fma_block(A const& a, B const& b, C& c, int first_i, int first_j) {
  using F = FragmentOf<C>;
  using Sums = Accumulators<C, M, N>;
  using Acc = typename Sums::Acc;
  using Rows = FragmentAxis<C, 0>;
  using Columns = FragmentAxis<C, 1>;
  constexpr int depth = decltype(cute::size<1>(typename A::global_layout_type{}))::value;
  auto const coords = c.shard_layout.mesh.local_index();
  int const row = F::template origin<0>(coords), column = F::template origin<1>(coords);
  auto const a_base = a.data();
  auto const b_base = b.data();

  Sums sums(c, first_i, first_j);
  for (int k = 0; k < depth; ++k) {
    Acc x[M], y[N];
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < M; ++i)
      x[i] = convert<Acc>(a_base[Matrix<A>::offset(row + Rows::step(first_i + i), k)]);
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < N; ++j)
      y[j] = convert<Acc>(b_base[Matrix<B>::offset(k, column + Columns::step(first_j + j))]);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < M; ++i) {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < N; ++j) sums.add_product(i, j, x[i], y[j]);
    }
  }
  sums.store(c);
}

#if defined(TILEFOUNDRY_TARGET_CPU)
/// N columns from the j-th on, in blocks of rows: as many sums as vector registers hold beside a row of b.
template <int N, class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_fma_columns(A const& a, B const& b, C& c, int j) {
  constexpr int rows = FragmentAxis<C, 0>::count, m = 4;
  if constexpr (rows >= m) {
    for (int i = 0; i + m <= rows; i += m) mma_fma_block<m, N>(a, b, c, i, j);
  }
  if constexpr (rows % m != 0) mma_fma_block<rows % m, N>(a, b, c, rows - rows % m, j);
}
#endif

/// Each instance computes its own elements of c, whatever these are, from shared a and b.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_fma(A const& a, B const& b, C& c) {
  constexpr int columns = FragmentAxis<C, 1>::count;
#if defined(TILEFOUNDRY_TARGET_CPU)
  constexpr int n = 64 / static_cast<int>(sizeof(typename Accumulators<C>::Acc));  // two vectors of AVX
  if constexpr (columns >= n) {
    for (int j = 0; j + n <= columns; j += n) mma_fma_columns<n>(a, b, c, j);
  }
  if constexpr (columns % n != 0) mma_fma_columns<columns % n>(a, b, c, columns - columns % n);
#else
  mma_fma_block<FragmentAxis<C, 0>::count, columns>(a, b, c, 0, 0);
#endif
}

/// The same for `a` in registers: the lanes of a quad pass each other their columns of `a`.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_exchange(A const& a, B const& b, C& c) {
  using F = FragmentOf<C>;
  using Sums = Accumulators<C>;
  using Acc = typename Sums::Acc;
  using Columns = FragmentAxis<C, 1>;
  using RowsA = FragmentAxis<A, 0>;
  using K = FragmentAxis<A, 1>;
  int const column = F::template origin<1>(c.shard_layout.mesh.local_index());
  int const lane = target::thread_id() % 4;
  auto const part = local(a);
  auto const b_base = b.data();

  Sums sums(c);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < RowsA::count; ++i) {
    TILEFOUNDRY_UNROLL
    for (int step = 0; step < K::count; ++step) {
      Acc const mine = convert<Acc>(part.data()[RowsA::offset(i) + K::offset(step)]);
      TILEFOUNDRY_UNROLL
      for (int distance = 0; distance < 4; ++distance) {
        Acc const x = distance == 0 ? mine : target::shuffle_xor(mine, distance, warp_members<C>());
        int const k = K::step(step) + 2 * (lane ^ distance);
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < Columns::count; ++j) {
          sums.add_product(i, j, x, convert<Acc>(b_base[Matrix<B>::offset(k, column + Columns::step(j))]));
        }
      }
    }
  }
  sums.store(c);
}

/// Of a product that was complete when it was issued.
struct MmaComplete {};

/// The tier for a and b in shared memory, or a in registers.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_of_tiles(A const& a, B const& b, C& c) {
#if defined(TILEFOUNDRY_TARGET_CUDA)
  if constexpr (wgmma_available() && is_wgmma<A, B, C>()) {
    wgmma(a, b, c);
    return;
  } else if constexpr (tensor_core_available<typename A::value_type>() && is_m16n8_fragment<A, C>()) {
    mma_sync(a, b, c);
    return;
  }
#endif
  if constexpr (is_whole<A>::value) {
    mma_fma(a, b, c);
  } else {
    mma_exchange(a, b, c);
  }
}

}  // namespace detail

namespace ops {

/// c += a @ b.
/// @param a whole shared tile of logical shape (M, K), in any layout (transposed_view), visible to all
/// instances; or a
///   register fragment with the rows of c, whose columns lie on the four lanes of a quad, two neighbours of
///   every eight, as those of an accumulator do
/// @param b whole shared tile of logical shape (K, N); or, with `a` and c, the fragment of m16n8k16
/// @param c register fragment of logical shape (M, N), any distribution
/// f16, bf16, tf32, fp8 (into f32) and i8 (into i32) run on tensor cores when c is distributed as their
/// accumulator: wgmma m64nN on sm_90a for warpgroups with 64 rows each over operands in core matrices,
/// mma.sync m16n8 from sm_80 on (fp8 from sm_89 on). `a` in registers and operands along M or N are for
/// 16-bit elements; others run along the reduced axis. Otherwise each instance multiplies and adds for its
/// own elements. f32 is never shortened to tf32.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma(A const& a, B const& b, C&& c) {
  TILEFOUNDRY_OP("mma");
  detail::check_mma<A, B, detail::remove_cvref_t<C>>();
  if constexpr (detail::is_whole<B>::value) {
    detail::mma_of_tiles(a, b, c);
  } else {
    detail::mma_fragments(a, b, c);
  }
}

/// Starts c += a @ b: until an mma_wait has ended it, the instance touches neither c nor the tiles, except
/// for more products of the same c. Where products are not asynchronous it is complete on return.
/// @return what keeps the registers of a fragment `a`: passed to mma_wait with c. Of no use for a shared `a`
template <class A, class B, class C>
TILEFOUNDRY_DEVICE auto mma_issue(A const& a, B const& b, C& c) {
#if defined(TILEFOUNDRY_TARGET_CUDA)
  detail::check_mma<A, B, C>();
  if constexpr (detail::wgmma_available() && detail::is_wgmma<A, B, C>()) {
    return detail::wgmma_issue(a, b, c, cute::make_seq<detail::FragmentAxis<C, 0>::count / 2>{});
  } else {
    mma(a, b, c);
    return detail::MmaComplete{};
  }
#else
  mma(a, b, c);
  return detail::MmaComplete{};
#endif
}

/// Waits until at most `Pending` of the products that the instance has started are running, the last ones.
/// @param ended the fragments c of those that have ended, and what mma_issue returned for them
template <int Pending = 0, class... Ended>
TILEFOUNDRY_DEVICE void mma_wait([[maybe_unused]] Ended&... ended) {
  static_assert(Pending >= 0, "ops::mma_wait: the number of products that still run must not be negative");
#if defined(TILEFOUNDRY_TARGET_CUDA)
  if constexpr (detail::wgmma_available()) {
    detail::wgmma_wait<Pending>();
    (detail::wgmma_ended(ended), ...);
  }
#endif
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
