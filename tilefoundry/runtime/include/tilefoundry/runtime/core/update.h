// Copies of a tensor with elements of another one at run-time positions along an axis, written in order:
// ops::index_add, ops::index_copy, ops::cache_update.
#pragma once

#include <tilefoundry/runtime/core/update_windows.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Updates of registers, where rows are compared one by one: registers have no run-time index.
template <class Apply, int Axis, class Index, class Src, class Dst>
TILEFOUNDRY_DEVICE void update_fragment(Index const& index, Src const& src, Dst& dst) {
  using D = ReducePlan<Axes<Axis>, typename Dst::global_layout_type, typename Dst::shard_layout_type>;
  using S = ReducePlan<Axes<Axis>, typename Src::global_layout_type, typename Src::shard_layout_type>;
  static_assert(D::reduced == D::total && S::reduced == S::total,
                "ops::index_add, index_copy: an instance holds whole columns along the axis of the index");
  static_assert(D::kept == S::kept, "ops::index_add, index_copy: src lies as dst along the other axes");
  constexpr int indices = FragmentOf<Index>::count;
  static_assert(
      indices == S::reduced || indices == S::reduced * S::kept,
      "ops::index_add, index_copy: the index has one entry for each row of src, or for each element");
  auto const from = local(src);
  auto const to = local(dst);
  auto const at = local(index);
  TILEFOUNDRY_UNROLL
  for (int k = 0; k < S::reduced; ++k) {
    TILEFOUNDRY_UNROLL
    for (int c = 0; c < S::kept; ++c) {
      int64_t row;
      if constexpr (indices == S::reduced) {
        row = static_cast<int64_t>(elements(index)(k));
      } else {
        using I =
            ReducePlan<Axes<Axis>, typename Index::global_layout_type, typename Index::shard_layout_type>;
        static_assert(I::kept == S::kept, "ops::index_add, index_copy: the index lies as src");
        row = static_cast<int64_t>(at.data()[I::kept_offsets()(c) + I::reduced_offsets()(k)]);
      }
      if (!check_index(row, Axis, D::reduced)) continue;
      auto const update = from.data()[S::kept_offsets()(c) + S::reduced_offsets()(k)];
      TILEFOUNDRY_UNROLL
      for (int r = 0; r < D::reduced; ++r) {
        auto&& element = to.data()[D::kept_offsets()(c) + D::reduced_offsets()(r)];
        if (row == r) element = Apply::template apply<typename Dst::value_type>(element, update);
      }
    }
  }
}

}  // namespace detail

namespace ops {

/// out = dst, and then out[index[k]] += src[k] along `Axis` for k = 0, 1, ...: each addition rounds to the
/// element type, and those to one element come in the order of k, so the result is the same bits in every
/// run.
///
/// An index outside of [0, extent along Axis) stops the launch with an error that names it; nothing is
/// written with it.
/// @param index a window of rank 1 (rows of src), or of src's rank with at most its extents (elements of src)
/// @param out a window that overlaps none of the others; the instances of `share` divide its elements
template <int Axis, class Dst, class Index, class Src, class Out>
TILEFOUNDRY_DEVICE void index_add(Dst const& dst, Index const& index, Src const& src, Out const& out,
                                  cute::C<Axis>, Share const& share = share_of_cta<Out>()) {
  TILEFOUNDRY_OP("index_add");
  detail::update_windows<detail::AddTo, Axis>(dst, index, src, out, share);
}

/// As index_add, with elements of src in place of those of dst; of several updates of an element the last
/// stays.
template <int Axis, class Dst, class Index, class Src, class Out>
TILEFOUNDRY_DEVICE void index_copy(Dst const& dst, Index const& index, Src const& src, Out const& out,
                                   cute::C<Axis>, Share const& share = share_of_cta<Out>()) {
  TILEFOUNDRY_OP("index_copy");
  detail::update_windows<detail::Replace, Axis>(dst, index, src, out, share);
}

/// dst[index[k]] += src[k] on register fragments of which each instance holds whole columns along `Axis`. The
/// index is one of src's shape, or a replica of one entry per row. Costs rows(src) * rows(dst) comparisons.
template <int Axis, class Index, class Src, class Dst>
TILEFOUNDRY_DEVICE void index_add(Index const& index, Src const& src, Dst&& dst, cute::C<Axis>) {
  TILEFOUNDRY_OP("index_add");
  detail::update_fragment<detail::AddTo, Axis>(index, src, dst);
}

/// As above, with elements of src in place of those of dst.
template <int Axis, class Index, class Src, class Dst>
TILEFOUNDRY_DEVICE void index_copy(Index const& index, Src const& src, Dst&& dst, cute::C<Axis>) {
  TILEFOUNDRY_OP("index_copy");
  detail::update_fragment<detail::Replace, Axis>(index, src, dst);
}

/// out = cache, with the first `count` positions of `fresh` in place of those from `position` on, along
/// axis 1.
///
/// count <= extent of fresh and position + count <= extent of cache, else the launch is stopped and nothing
/// is written.
template <class Cache, class Fresh, class Out>
TILEFOUNDRY_DEVICE void cache_update(Cache const& cache, int64_t position, int64_t count, Fresh const& fresh,
                                     Out const& out, Share const& share = share_of_cta<Out>()) {
  TILEFOUNDRY_OP("cache_update");
  static_assert(Cache::rank == Out::rank && Fresh::rank == Out::rank && Out::rank > 2,
                "ops::cache_update: cache, fresh and out have one rank, with axes beyond the positions");
  if (!detail::check_range(0, count, 1, fresh.template extent<1>()) ||
      !detail::check_range(position, count, 1, cache.template extent<1>())) {
    return;
  }
  detail::for_each_wide_pack(
      out, share,
      [&](auto n, auto const& where) {
        int64_t at[Out::rank];
        TILEFOUNDRY_UNROLL
        for (int a = 0; a < Out::rank; ++a) at[a] = where[a];
        at[1] -= position;
        bool const written = at[1] >= 0 && at[1] < count;
        constexpr int N = decltype(n)::value;
        out.store(where, written ? fresh.template load<N>(at) : cache.template load<N>(where));
      },
      cache, fresh);
}

/// The same in place, on register fragments of which each instance holds whole columns along axis 1. Costs
/// positions(fresh) * positions(dst) comparisons.
template <class Fresh, class Dst>
TILEFOUNDRY_DEVICE void cache_update(int64_t position, int64_t count, Fresh const& fresh, Dst&& dst) {
  TILEFOUNDRY_OP("cache_update");
  using Tensor = detail::remove_cvref_t<Dst>;
  using D =
      detail::ReducePlan<Axes<1>, typename Tensor::global_layout_type, typename Tensor::shard_layout_type>;
  using F =
      detail::ReducePlan<Axes<1>, typename Fresh::global_layout_type, typename Fresh::shard_layout_type>;
  static_assert(D::reduced == D::total && F::reduced == F::total && D::kept == F::kept,
                "ops::cache_update: an instance holds the same whole columns along axis 1 of both");
  if (!detail::check_range(0, count, 1, F::reduced) || !detail::check_range(position, count, 1, D::reduced))
    return;
  auto const from = local(fresh);
  auto const to = local(dst);
  TILEFOUNDRY_UNROLL
  for (int k = 0; k < F::reduced; ++k) {
    TILEFOUNDRY_UNROLL
    for (int r = 0; r < D::reduced; ++r) {
      if (k >= count || r != position + k) continue;
      TILEFOUNDRY_UNROLL
      for (int c = 0; c < D::kept; ++c) {
        to.data()[D::kept_offsets()(c) + D::reduced_offsets()(r)] =
            from.data()[F::kept_offsets()(c) + F::reduced_offsets()(k)];
      }
    }
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
