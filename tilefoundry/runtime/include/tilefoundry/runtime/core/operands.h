// The operands of an op that moves elements, as views of the running instance's part.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/tensors.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// A tensor of the full logical shape under the distribution of `like`: each mode steps along its axis.
template <class Tensor, class Like, int... k>
TILEFOUNDRY_HOST_DEVICE auto spread(Tensor const& tensor, Like const& like, cute::seq<k...>) {
  using F = FragmentOf<Like>;
  static_assert(F::valid, "ops: the modes of the shard layout must factor the logical extents in order");
  static_assert(Tensor::rank == F::axes, "ops: a whole tensor has the axes of what it is copied to or from");
  constexpr ModeMap<F::modes> map = F::map();
  auto const layout = cute::make_layout(
      like.shard_layout.layout.shape(),
      cute::make_stride(cute::stride<map.axis[k]>(tensor.layout()) * cute::Int<map.weight[k]>{}...));
  using Attrs = decltype(like.shard_layout.attrs);
  using Mesh = decltype(like.shard_layout.mesh);
  return view(tensor, typename Like::global_layout_type{},
              ShardLayout<remove_cvref_t<decltype(layout)>, Attrs, Mesh>{layout, {}, {}});
}

template <class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr int static_size() {
  return static_or<remove_cvref_t<decltype(cute::size(typename Tensor::layout_type{}))>>(0);
}

/// The running instance's part of an operand whose peer is `other`: of a ShardTensor its own; a CuTe tensor
/// of the peer's full shape is spread as the peer is, and any other one is a part already.
template <class T, class Other>
TILEFOUNDRY_HOST_DEVICE decltype(auto) part_of(T& t, Other const& other) {
  using Tensor = remove_cvref_t<T>;
  if constexpr (is_shard_tensor<Tensor>::value) {
    return (t);
  } else if constexpr (!is_shard_tensor<Other>::value) {
    return as_shard(t);
  } else if constexpr (static_size<Tensor>() != 0 && static_size<Tensor>() == FragmentOf<Other>::count) {
    return as_shard(t);
  } else {
    static_assert(static_size<Tensor>() == 0 || static_size<Tensor>() == logical_size<Other>,
                  "ops: the plain tensor has neither the full tensor's size nor an instance's");
    return spread(t, other, cute::make_seq<FragmentOf<Other>::modes>{});
  }
}

/// Elements that one access may move: any number of registers, and in memory what types prove.
template <class T, class Part>
TILEFOUNDRY_HOST_DEVICE constexpr int part_pack() {
  if constexpr (is_register_v<Part>) {
    return elements_of<typename Part::value_type>(16);
  } else {
    return pack_size<Part>(unknown_strides<T>());
  }
}
template <class A, class PartA, class B, class PartB>
TILEFOUNDRY_HOST_DEVICE constexpr int common_pack() {
  int const a = part_pack<A, PartA>(), b = part_pack<B, PartB>();
  return a < b ? a : b;
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
