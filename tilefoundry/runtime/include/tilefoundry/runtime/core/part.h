// Parts of tensors: views of global tensors with other axes, single elements, and whole tensors moved by all
// instances together.
#pragma once

#include <tilefoundry/runtime/core/window.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Steps of the axes of a view, in elements along the tensor's axis.
template <int... N>
struct Steps {};

namespace detail {

template <int From, int Step, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr auto view_stride(Tensor const& tensor) {
  if constexpr (From < 0 || Step == 0) {
    return cute::Int<0>{};
  } else {
    return cute::stride<From>(tensor.layout()) * cute::Int<Step>{};
  }
}

/// Whether rows of the view start at multiples of what the tensor's rows do: its last axis is the tensor's,
/// or the last factor of that, from its first element on and forwards, and other factors step by whole
/// multiples.
template <class Tensor, class Starts, int... From, int... Step>
TILEFOUNDRY_HOST_DEVICE constexpr bool keeps_rows(Axes<From...>, Steps<Step...>) {
  constexpr int inner = Tensor::rank - 1;
  constexpr int bytes = row_alignment<typename Tensor::iterator>::value;
  constexpr int from[] = {From..., -1}, step[] = {Step..., 0}, last = sizeof...(From) - 1;
  if (last < 0 || from[last] != inner || step[last] != 1) return false;
  for (int k = 0; k < last; ++k) {
    if (from[k] == inner && step[k] * static_cast<int>(sizeof(typename Tensor::value_type)) % bytes != 0)
      return false;
  }
  return cute::is_constant<0, remove_cvref_t<decltype(cute::get<inner>(std::declval<Starts>()))>>::value;
}

template <class Tensor, class Starts, class Sizes, int... From, int... Step, int... T>
TILEFOUNDRY_DEVICE auto global_view(Tensor const& tensor, Starts const& starts, Sizes const& sizes,
                                    Axes<From...> axes, Steps<Step...> steps, cute::seq<T...>) {
  auto const layout = cute::make_layout(sizes, cute::make_stride(view_stride<From, Step>(tensor)...));
  auto const base =
      cute::raw_pointer_cast(tensor.data()) +
      ((static_cast<int64_t>(cute::get<T>(starts)) * static_cast<int64_t>(cute::stride<T>(tensor.layout()))) +
       ... + int64_t{0});
  constexpr int bytes = row_alignment<typename Tensor::iterator>::value;
  if constexpr (bytes > 1 && keeps_rows<Tensor, Starts>(axes, steps)) {
    return cute::make_tensor(aligned_rows<bytes>(cute::make_gmem_ptr(base)), layout);
  } else {
    return cute::make_tensor(cute::make_gmem_ptr(base), layout);
  }
}

template <class Tensor, class Coord, int... T>
TILEFOUNDRY_DEVICE auto element(Tensor const& tensor, Coord const& coord, cute::seq<T...>) {
  using Value = typename Tensor::value_type;
  bool const inside =
      ((static_cast<uint64_t>(cute::get<T>(coord)) < static_cast<uint64_t>(cute::size<T>(tensor.layout()))) &&
       ... && true);
  return inside ? tensor(coord) : Value(0);
}

/// All of a shared tile or of a global tensor, as a window.
template <class Tensor, class Extents, int... A>
TILEFOUNDRY_DEVICE auto all_of(Tensor const& tensor, Extents const& extents, cute::seq<A...>) {
  return tilefoundry::make_window<Axes<A...>>(tensor, cute::make_coord((A - A)...), extents);
}

/// Where a source is read for an element of the destination: backwards along some axes, and always at the
/// same place along those where a shared source has one element.
template <class Src, int Axis, int... Backwards>
TILEFOUNDRY_DEVICE int64_t source_index(int64_t at, int64_t extent, Axes<Backwards...>) {
  if constexpr (is_shard_tensor<Src>::value) {
    if constexpr (decltype(cute::size<Axis>(typename Src::global_layout_type{}))::value == 1) return 0;
  }
  return ((Axis == Backwards) || ... || false) ? extent - 1 - at : at;
}

template <int N, class Src, class Backwards, class In, class At, int... A>
TILEFOUNDRY_DEVICE auto load_source(In const& in, At const& at, cute::seq<A...>) {
  int64_t const there[] = {source_index<Src, A>(at[A], in.template extent<A>(), Backwards{})...};
  return in.template load<N>(there);
}

template <int Axis, int... Backwards>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_backwards(Axes<Backwards...>) {
  return ((Axis == Backwards) || ... || false);
}

}  // namespace detail

/// Elements of a global tensor as a tensor of its own.
/// @tparam From for each axis of the view the tensor's, which several split into factors, or -1 for one along
/// which the same elements repeat
/// @tparam Step for each axis of the view how many elements of the tensor's axis one step is; may be negative
/// @param starts one for each axis of the tensor; a static 0 on the innermost keeps what is known of
/// alignment
/// @param sizes one for each axis of the view
template <class From, class Step, class Tensor, class Starts, class Sizes>
TILEFOUNDRY_DEVICE auto global_view(Tensor const& tensor, Starts const& starts, Sizes const& sizes) {
  return detail::global_view(tensor, starts, sizes, From{}, Step{}, cute::make_seq<Tensor::rank>{});
}

/// The element of a global tensor at a coordinate; outside, zero.
template <class Tensor, class Coord>
TILEFOUNDRY_DEVICE auto global_element(Tensor const& tensor, Coord const& coord) {
  return detail::element(tensor, coord, cute::make_seq<Tensor::rank>{});
}

/// The element of a whole shared tile at a coordinate inside it.
template <class Tile, class Coord>
TILEFOUNDRY_DEVICE auto shared_element(Tile const& tile, Coord const& coord) {
  static_assert(detail::is_whole<Tile>::value && detail::SwizzleOf<Tile>::num_bits == 0,
                "shared_element: the tile must be a whole one whose rows lie in order");
  typename Tile::value_type const value = local(tile)(coord);
  return value;
}

/// The only element of a fragment that every instance holds whole.
template <class E, class GL, class SL>
TILEFOUNDRY_DEVICE typename E::value_type only_element(ShardTensor<E, GL, SL> const& fragment) {
  static_assert(detail::FragmentOf<ShardTensor<E, GL, SL>>::count == 1, "only_element: there are several");
  return detail::elements(fragment)(0);
}

/// `start`, of a window that must lie inside an axis; where it does not, the launch is stopped.
TILEFOUNDRY_DEVICE int64_t checked_start(int64_t start, int64_t size, int axis, int64_t extent) {
  return detail::check_range(start, size, axis, extent) ? start : 0;
}

/// Registers from a constant offset on.
template <int Offset, class E, class GL, class SL>
TILEFOUNDRY_HOST_DEVICE constexpr auto registers_from(ShardTensor<E, GL, SL>& fragment) {
  return cute::make_tensor(fragment.engine.data() + cute::Int<Offset>{}, fragment.engine.layout());
}

namespace ops {

/// All elements of a shared tile or a global tensor to another of the same extents, by the instances that
/// share it. Along an axis of extent 1 of a shared source its elements repeat.
/// @tparam Backwards axes along which the source is read from its last element on
template <class Backwards, class Src, class Dst, class Extents>
TILEFOUNDRY_DEVICE void whole_copy(Src const& src, Dst const& dst, Extents const& extents, Share share) {
  constexpr int rank = decltype(cute::rank(extents))::value;
  auto const axes = cute::make_seq<rank>{};
  auto const in = detail::all_of(src, extents, axes);
  auto const out = detail::all_of(dst, extents, axes);
  if constexpr (detail::is_backwards<rank - 1>(Backwards{})) {
    detail::for_each_pack_of<1>(
        out, share,
        [&](auto const& at) { out.store(at, detail::load_source<1, Src, Backwards>(in, at, axes)); }, axes);
  } else {
    detail::for_each_wide_pack(
        out, share,
        [&](auto n, auto const& at) {
          out.store(at, detail::load_source<decltype(n)::value, Src, Backwards>(in, at, axes));
        },
        in);
  }
}

/// A scalar to all elements of a shared tile or a global tensor, by the instances that share it.
template <class Value, class Dst, class Extents>
TILEFOUNDRY_DEVICE void whole_fill(Value const& value, Dst const& dst, Extents const& extents, Share share) {
  TILEFOUNDRY_OP("whole_fill");
  using Out = typename Dst::value_type;
  auto const out = detail::all_of(dst, extents, cute::make_seq<decltype(cute::rank(extents))::value>{});
  detail::for_each_wide_pack(out, share, [&](auto n, auto const& at) {
    detail::Pack<Out, decltype(n)::value> pack;
    TILEFOUNDRY_UNROLL
    for (auto& element : pack.value) element = convert<Out>(value);
    out.store(at, pack);
  });
}

/// start + step * (coordinate along `Axis`) to all elements of a tensor of integers, likewise.
template <int Axis, class Value, class Dst, class Extents>
TILEFOUNDRY_DEVICE void whole_iota(cute::C<Axis>, Value start, Value step, Dst const& dst,
                                   Extents const& extents, Share share) {
  TILEFOUNDRY_OP("whole_iota");
  using Out = typename Dst::value_type;
  constexpr int rank = decltype(cute::rank(extents))::value;
  auto const out = detail::all_of(dst, extents, cute::make_seq<rank>{});
  detail::for_each_wide_pack(out, share, [&](auto n, auto const& at) {
    detail::Pack<Out, decltype(n)::value> pack;
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < n; ++i) {
      Value const coordinate = convert<Value>(at[Axis] + (Axis == rank - 1 ? i : 0));
      pack.value[i] = convert<Out>(op::add{}(start, op::mul{}(step, coordinate)));
    }
    out.store(at, pack);
  });
}

/// A rank-0 output, written by one instance of each CTA.
template <class Out, class Value>
TILEFOUNDRY_DEVICE void store_element(GlobalArg<0> const& out, Value const& value) {
  TILEFOUNDRY_OP("store_element");
  if (program_id<TopologyScope::thread>() == 0) *detail::global_scalar<Out>(out) = convert<Out>(value);
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
