// Where the elements of a whole tile lie, axis by axis.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>

#include <cute/pointer_swizzle.hpp>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Offsets along one logical axis of a whole tile. The modes of the canonical layout that make the axis may
/// lie apart, as in tiles whose columns come in blocks (see Matrix).
template <class T, int Axis>
struct TileAxis {
  using Offsets = decltype(FragmentOf<T>::template axis_offsets<Axis>());
  static constexpr int extent = FragmentOf<T>::template axis_extent<Axis>;

  TILEFOUNDRY_HOST_DEVICE static constexpr int offset(int i) {
    if constexpr (cute::is_integral<decltype(Offsets{}.stride())>::value) {
      return i * static_cast<int>(Offsets{}.stride());
    } else {
      // Unsigned, so that blocks of a power of two cost a shift.
      return static_cast<int>(Offsets{}(static_cast<unsigned>(i)));
    }
  }

  /// Whether elements come in runs of `n` that start at multiples of n: i and i + j lie j * stride apart.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool steps_by(int stride, int n) {
    if (extent % n != 0) return false;
    for (int i = 0; i < extent; ++i) {
      if (offset(i) != offset(i / n * n) + i % n * stride) return false;
    }
    return true;
  }

  /// Whether runs of `n` elements are contiguous and start at multiples of n.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool contiguous(int n) { return steps_by(1, n) && aligned(n, n); }

  /// Whether every `step`-th element lies at a multiple of n.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool aligned(int step, int n) {
    for (int i = 0; i < extent; i += step) {
      if (offset(i) % n != 0) return false;
    }
    return true;
  }

  /// The distance of elements that are `step` apart, where it is everywhere the same; -1 otherwise. 0 for a
  /// single one.
  TILEFOUNDRY_HOST_DEVICE static constexpr int distance(int step) {
    if (extent <= step) return 0;
    int const first = offset(step) - offset(0);
    for (int i = step; i + step < extent; i += step) {
      if (offset(i + step) - offset(i) != first) return -1;
    }
    return first;
  }
};

/// How the addresses of a tensor are permuted: a cute::Swizzle of byte addresses.
template <class T>
using SwizzleOf = cute::get_swizzle_t<typename T::engine_type::iterator>;

/// Where an element lies whose unpermuted offset is given, for a base that is a multiple of the permutation's
/// period.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int swizzled(int offset) {
  using Swizzle = SwizzleOf<T>;
  constexpr int bytes = static_cast<int>(sizeof(typename T::value_type));
  if constexpr (Swizzle::num_bits == 0) {
    return offset;
  } else {
    static_assert(bytes <= 1 << Swizzle::num_base, "a swizzle moves whole elements");
    return static_cast<int>(Swizzle::apply(static_cast<unsigned>(offset * bytes))) / bytes;
  }
}

/// A whole tile of two axes. Its storage is any static layout: rows with padding, transposed, or blocks of
/// rows of 32, 64 or 128 bytes with a swizzle, the form that wgmma reads.
template <class T>
struct Matrix {
  using Rows = TileAxis<T, 0>;
  using Columns = TileAxis<T, 1>;
  /// Offset of an element before the swizzle, and after it.
  TILEFOUNDRY_HOST_DEVICE static constexpr int linear(int i, int j) {
    return Rows::offset(i) + Columns::offset(j);
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr int offset(int i, int j) { return swizzled<T>(linear(i, j)); }
};

template <class Offsets>
TILEFOUNDRY_HOST_DEVICE constexpr auto outermost_first(Offsets const& offsets) {
  return cute::make_layout(cute::reverse(cute::flatten(cute::make_tuple(offsets.shape()))),
                           cute::reverse(cute::flatten(cute::make_tuple(offsets.stride()))));
}

}  // namespace detail

/// A whole (CTA-level) matrix with its two axes exchanged, over the same storage.
template <class E, class GL, class Layout>
TILEFOUNDRY_HOST_DEVICE constexpr auto transposed_view(ShardTensor<E, GL, WholeLayout<Layout>> const& t) {
  static_assert(decltype(cute::rank(GL{}))::value == 2, "transposed_view: the tensor must be a matrix");
  using M = detail::Matrix<ShardTensor<E, GL, WholeLayout<Layout>>>;
  auto logical =
      cute::make_ordered_layout(cute::select<1, 0>(cute::shape(GL{})), cute::Step<cute::_1, cute::_0>{});
  auto storage = cute::flatten(cute::make_layout(detail::outermost_first(typename M::Columns::Offsets{}),
                                                 detail::outermost_first(typename M::Rows::Offsets{})));
  return view(t, logical, WholeLayout<decltype(storage)>{storage, {}, {}});
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
