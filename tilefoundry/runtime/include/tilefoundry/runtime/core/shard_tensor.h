// ShardTensor, and local(): the part of it that the running instance owns.
#pragma once

#include <tilefoundry/runtime/core/shard.h>

#include <cute/tensor_impl.hpp>
#if defined(TILEFOUNDRY_CHECKED)
#include <tilefoundry/runtime/cpu/checked_registers.h>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// A CuTe tensor or view paired with its shard layout. `GlobalLayout_` has the logical shape.
template <class Engine_, class GlobalLayout_, class ShardLayout_>
struct ShardTensor {
  static_assert(!cute::is_pointer<Engine_>::value,
                "make_shard_tensor: a raw pointer has no residency; pass a CuTe tensor "
                "(make_tensor(make_gmem_ptr(p), layout))");
  using engine_type = Engine_;
  using global_layout_type = GlobalLayout_;
  using shard_layout_type = ShardLayout_;
  using value_type = typename Engine_::value_type;

  Engine_ engine;
  ShardLayout_ shard_layout;

  /// Underlying pointer; it drops the residency tag, so residency-aware code uses local().
  TILEFOUNDRY_HOST_DEVICE auto data() { return cute::raw_pointer_cast(engine.data()); }
  TILEFOUNDRY_HOST_DEVICE auto data() const { return cute::raw_pointer_cast(engine.data()); }
};

template <class T>
struct is_shard_tensor : cute::false_type {};
template <class E, class GL, class SL>
struct is_shard_tensor<ShardTensor<E, GL, SL>> : cute::true_type {};

namespace detail {

template <class T>
using remove_cvref_t = cute::remove_cvref_t<T>;

#if !defined(TILEFOUNDRY_CHECKED)
/// Registers of one instance. Unlike cute::ArrayEngine it holds bool as whole bytes, so that references are
/// plain.
template <class T, int N>
struct RegisterEngine {
  using iterator = T*;
  using reference = T&;
  using element_type = T;
  using value_type = T;
  alignas(16) T storage[N];

  TILEFOUNDRY_HOST_DEVICE constexpr T* begin() { return storage; }
  TILEFOUNDRY_HOST_DEVICE constexpr T const* begin() const { return storage; }
};
#endif

template <class Tensor>
struct is_owning : cute::false_type {};
template <class T, int N, class Layout>
struct is_owning<cute::Tensor<RegisterEngine<T, N>, Layout>> : cute::true_type {};

/// A tensor that every instance of a CTA sees whole.
template <class T>
struct is_whole : cute::false_type {};
template <class E, class GL, class Layout>
struct is_whole<ShardTensor<E, GL, WholeLayout<Layout>>> : cute::true_type {};

/// offset = sum over split mesh axes of coordinate * stride of the split mode
template <class SL, class Coords, int... A>
TILEFOUNDRY_HOST_DEVICE constexpr auto shard_offset(SL const& sl, Coords const& coords, cute::seq<A...>) {
  using Traits = ShardTraits<SL>;
  [[maybe_unused]] auto term = [&](auto axis) {
    constexpr int a = decltype(axis)::value;
    constexpr int k = Traits::split(a);
    if constexpr (k < 0) {
      return cute::Int<0>{};
    } else {
      return cute::get<a>(coords) * cute::stride<k>(sl.layout);
    }
  };
  return (term(cute::Int<A>{}) + ... + cute::Int<0>{});
}

template <class SL, int... k>
TILEFOUNDRY_HOST_DEVICE constexpr void check_local(cute::seq<k...>) {
  using Traits = ShardTraits<SL>;
  static_assert(!Traits::dynamic, "local(): a Dynamic shard attribute must be resolved before local()");
  static_assert(
      (Traits::template factored<k>() && ... && true),
      "local(): factor mode k: each Split(k) needs exactly one mesh axis on mode k, whose extent is G[k]");
}

template <class Engine, class SL>
TILEFOUNDRY_HOST_DEVICE auto local_view(Engine& engine, SL const& sl) {
  using Traits = ShardTraits<SL>;
  check_local<SL>(cute::make_seq<Traits::modes>{});
  auto const layout = cute::make_layout(shard_layout_local_shape(sl), sl.layout.stride());
  return cute::make_tensor(
      engine.data() + shard_offset(sl, sl.mesh.local_index(), cute::make_seq<Traits::axes>{}), layout);
}

}  // namespace detail

/// Binds a logical layout and a shard layout onto a CuTe tensor or view. Raw pointers are refused: they carry
/// no residency.
template <class T, class GL, class SL>
TILEFOUNDRY_HOST_DEVICE constexpr auto make_shard_tensor(T const& tensor, GL, SL shard_layout)
    -> ShardTensor<T, GL, SL> {
  static_assert(cute::is_tensor<T>::value,
                "make_shard_tensor: the first argument must be a CuTe tensor or view");
  return {tensor, shard_layout};
}

/// The CuTe view that the running instance owns: base + sum of coord[m] * stride[k] over Split(k), with the
/// local shape and the layout's own strides. Static when shape and strides are.
template <class E, class GL, class SL>
TILEFOUNDRY_HOST_DEVICE auto local(ShardTensor<E, GL, SL> const& t) noexcept {
  return detail::local_view(t.engine, t.shard_layout);
}

template <class E, class GL, class SL>
TILEFOUNDRY_HOST_DEVICE auto local(ShardTensor<E, GL, SL>& t) noexcept {
  return detail::local_view(t.engine, t.shard_layout);
}

/// local() of a CuTe tensor that carries its distribution: the plain CuTe view that the running instance
/// owns.
/// @param tensor its layout() is a ShardLayout
template <class Tensor>
TILEFOUNDRY_HOST_DEVICE auto shard_partition(Tensor const& tensor) {
  static_assert(is_shard_layout<detail::remove_cvref_t<decltype(tensor.layout())>>::value,
                "shard_partition: the tensor's layout must be a ShardLayout, which says what is whose");
  return detail::local_view(tensor, tensor.layout());
}

/// Another logical shape and shard layout over the same storage: broadcast (stride 0), transposition, or the
/// fragment layout of a shared tile. The storage must outlive the view.
template <class T, class GL, class SL>
TILEFOUNDRY_HOST_DEVICE constexpr auto view(T&& t, GL, SL shard_layout) {
  using Source = detail::remove_cvref_t<T>;
  if constexpr (is_shard_tensor<Source>::value) {
    static_assert(
        cute::is_lvalue_reference<T>::value || !detail::is_owning<typename Source::engine_type>::value,
        "view: the register tensor is a temporary; give it a name first");
    auto engine = cute::make_tensor(t.engine.data(), t.engine.layout());
    return ShardTensor<decltype(engine), GL, SL>{engine, shard_layout};
  } else {
    static_assert(cute::is_tensor<Source>::value,
                  "view: the first argument must be a ShardTensor or a CuTe tensor");
    auto engine = cute::make_tensor(t.data(), t.layout());
    return ShardTensor<decltype(engine), GL, SL>{engine, shard_layout};
  }
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
