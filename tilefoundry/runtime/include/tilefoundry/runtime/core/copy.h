// tilefoundry::copy between shard tensors and plain CuTe tensors.
#pragma once

#include <tilefoundry/runtime/core/elementwise.h>
#include <tilefoundry/runtime/core/vector.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Elements to move at once between two register or shared tensors of one element type. A view of registers
/// may start anywhere, but the compiler resolves registers.
template <class Src, class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr int copy_pack_size() {
  if constexpr (!std::is_same<typename Src::value_type, typename Dst::value_type>::value ||
                !cute::is_static<typename FragmentOf<Src>::Offsets>::value ||
                !cute::is_static<typename FragmentOf<Dst>::Offsets>::value) {
    return 1;
  } else {
    constexpr int src_run = contiguous_run<typename FragmentOf<Src>::Offsets>();
    constexpr int dst_run = contiguous_run<typename FragmentOf<Dst>::Offsets>();
    int const src = is_shared_v<Src> ? pack_size<Src>() : is_register_v<Src> ? src_run & -src_run : 1;
    int const dst = is_shared_v<Dst> ? pack_size<Dst>() : is_register_v<Dst> ? dst_run & -dst_run : 1;
    int n = src < dst ? src : dst;
    while (n * static_cast<int>(sizeof(typename Src::value_type)) > 16) n /= 2;
    return is_shared_v<Src> || is_shared_v<Dst> ? n : 1;
  }
}

template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr bool check_plain() {
  static_assert(cute::is_tensor<remove_cvref_t<T>>::value,
                "copy: a raw pointer has no extents and no residency; pass a CuTe tensor "
                "(make_tensor(make_gmem_ptr(p), layout))");
  return true;
}

template <class Src, class Dst>
TILEFOUNDRY_HOST_DEVICE void copy_local(Src const& src, Dst& dst) {
  TILEFOUNDRY_OP("copy");
  static_assert(check_written<Dst>());
  check_operand<Dst, Src>();
  constexpr int n = copy_pack_size<Src, Dst>();
  using T = typename Dst::value_type;
  auto const in = elements(src);
  auto const out = elements(dst);
  if constexpr (n == 1) {
    constexpr int count = decltype(cute::size(shard_layout_local_shape(dst.shard_layout)))::value;
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < count; ++i) out(i) = convert<T>(in(i));
  } else {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < FragmentOf<Dst>::count; i += n) {
      Pack<T, n> pack;
      if constexpr (is_shared_v<Src>) {
        pack = load_pack<n>(&in(i));
      } else {
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < n; ++j) pack.value[j] = in(i + j);
      }
      if constexpr (is_shared_v<Dst>) {
        store_pack<n>(&out(i), pack);
      } else {
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < n; ++j) out(i + j) = pack.value[j];
      }
    }
  }
}

/// Visits the instance's elements of `t` with their logical coordinates: f(i, coordinate tuple).
template <class T, class F, int... A>
TILEFOUNDRY_HOST_DEVICE void for_each_coordinate(T const& t, F const& f, cute::seq<A...>) {
  using Frag = FragmentOf<T>;
  static_assert(Frag::valid, "copy: the modes of the shard layout must factor the logical extents in order");
  auto const coords = t.shard_layout.mesh.local_index();
  auto const origin = cute::make_tuple(Frag::template origin<A>(coords)...);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < Frag::count; ++i) {
    f(i, cute::make_coord(
             (static_cast<int>(cute::get<A>(origin)) + decltype(Frag::template steps<A>()){}(i))...));
  }
}

template <class T>
inline constexpr int logical_size = decltype(cute::size(typename T::global_layout_type{}))::value;

}  // namespace detail

/// Shard to shard: the same distribution on both sides, each instance copies its part. Element types may
/// differ.
template <class E1, class GL1, class SL1, class E2, class GL2, class SL2>
TILEFOUNDRY_HOST_DEVICE void copy(ShardTensor<E1, GL1, SL1> const& src, ShardTensor<E2, GL2, SL2>& dst) {
  detail::copy_local(src, dst);
}
template <class E1, class GL1, class SL1, class E2, class GL2, class SL2>
TILEFOUNDRY_HOST_DEVICE void copy(ShardTensor<E1, GL1, SL1> const& src, ShardTensor<E2, GL2, SL2>&& dst) {
  detail::copy_local(src, dst);
}

/// Shard to plain: each instance writes its elements where they lie in `dst`, which has the full tensor's
/// shape. A `dst` of one instance's size receives that instance's elements in row-major order instead.
template <class T, class GL, class SL, class DT,
          class = std::enable_if_t<!is_shard_tensor<detail::remove_cvref_t<DT>>::value>>
TILEFOUNDRY_HOST_DEVICE void copy(ShardTensor<T, GL, SL> const& src, DT&& dst) {
  TILEFOUNDRY_OP("copy");
  static_assert(detail::check_plain<DT>() && detail::check_written<DT>());
  using Src = ShardTensor<T, GL, SL>;
  using Out = typename detail::remove_cvref_t<DT>::value_type;
  auto const in = detail::elements(src);
  if constexpr (is_shard_layout<typename detail::remove_cvref_t<DT>::layout_type>::value) {
    auto distributed = detail::as_shard(dst);
    detail::copy_local(src, distributed);
  } else if constexpr (cute::is_static<decltype(dst.shape())>::value &&
                       decltype(cute::size(dst.shape()))::value != detail::logical_size<Src>) {
    static_assert(decltype(cute::size(dst.shape()))::value == detail::FragmentOf<Src>::count,
                  "copy: the plain tensor has neither the full tensor's size nor an instance's");
    auto const out = detail::elements(dst);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < detail::FragmentOf<Src>::count; ++i) out(i) = convert<Out>(in(i));
  } else {
    detail::for_each_coordinate(
        src, [&](int i, auto const& coord) { dst(coord) = convert<Out>(in(i)); },
        cute::make_seq<detail::FragmentOf<Src>::axes>{});
  }
}

/// Plain to shard: the reverse of the above.
template <class ST, class T, class GL, class SL, class = std::enable_if_t<!is_shard_tensor<ST>::value>>
TILEFOUNDRY_HOST_DEVICE void copy(ST const& src, ShardTensor<T, GL, SL>& dst) {
  TILEFOUNDRY_OP("copy");
  static_assert(detail::check_plain<ST>());
  using Dst = ShardTensor<T, GL, SL>;
  using Out = typename Dst::value_type;
  auto const out = detail::elements(dst);
  if constexpr (is_shard_layout<typename ST::layout_type>::value) {
    detail::copy_local(detail::as_shard(src), dst);
  } else if constexpr (cute::is_static<decltype(src.shape())>::value &&
                       decltype(cute::size(src.shape()))::value != detail::logical_size<Dst>) {
    static_assert(decltype(cute::size(src.shape()))::value == detail::FragmentOf<Dst>::count,
                  "copy: the plain tensor has neither the full tensor's size nor an instance's");
    auto const in = detail::elements(src);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < detail::FragmentOf<Dst>::count; ++i) out(i) = convert<Out>(in(i));
  } else {
    detail::for_each_coordinate(
        dst, [&](int i, auto const& coord) { out(i) = convert<Out>(src(coord)); },
        cute::make_seq<detail::FragmentOf<Dst>::axes>{});
  }
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
