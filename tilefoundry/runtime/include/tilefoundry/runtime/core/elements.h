// The operands of an elementwise op: the elements that an instance reads and writes, and what is refused.
#pragma once

#include <tilefoundry/runtime/core/functors.h>
#include <tilefoundry/runtime/core/vector.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <class T>
inline constexpr bool is_tensor_like_v = is_shard_tensor<T>::value || cute::is_tensor<T>::value;

/// The element type of an operand: a tensor's, or a scalar's own.
template <class T, bool Tensor = is_tensor_like_v<T>>
struct ElementOf {
  using type = T;
};
template <class T>
struct ElementOf<T, true> {
  using type = std::remove_const_t<typename T::value_type>;
};
template <class T>
using element_t = typename ElementOf<remove_cvref_t<T>>::type;

/// What the elementwise loop reads: element i of an instance's part in row-major order, or the same scalar.
template <class Pointer, class Offsets>
struct LocalElements {
  using value_type = cute::iter_value_t<Pointer>;
  Pointer base;
  TILEFOUNDRY_HOST_DEVICE decltype(auto) operator()(int i) const { return base[Offsets{}(i)]; }
};

template <class Pointer, class Offsets>
struct LocalElementsRuntime {
  using value_type = cute::iter_value_t<Pointer>;
  Pointer base;
  Offsets offsets;
  TILEFOUNDRY_HOST_DEVICE decltype(auto) operator()(int i) const { return base[offsets(i)]; }
};

template <class T>
struct ScalarElement {
  using value_type = T;
  T value;
  TILEFOUNDRY_HOST_DEVICE T operator()(int) const { return value; }
};

/// start + step * (an element's logical coordinate along `Axis`), for the elements of a fragment F in
/// row-major order.
template <class F, int Axis, class T>
struct Progression {
  using value_type = T;
  T start, step;
  int origin;
  TILEFOUNDRY_DEVICE T operator()(int i) const {
    int const coordinate = origin + decltype(F::template steps<Axis>()){}(i);
    return op::add{}(start, op::mul{}(step, convert<T>(coordinate)));
  }
};
template <class F, int Axis, class T>
TILEFOUNDRY_DEVICE auto elements(Progression<F, Axis, T> const& t) {
  return t;
}

template <class T>
TILEFOUNDRY_HOST_DEVICE auto elements(T& t) {
  using Tensor = remove_cvref_t<T>;
  if constexpr (is_tensor_like_v<Tensor>) {
    decltype(auto) shard = as_shard(t);
    auto part = local(shard);
    auto offsets = row_major_walk(part.shape(), part.stride());
    using Pointer = remove_cvref_t<decltype(part.data())>;
    using Offsets = decltype(offsets);
    if constexpr (cute::is_static<Offsets>::value) {
      return LocalElements<Pointer, Offsets>{part.data()};
    } else {
      return LocalElementsRuntime<Pointer, Offsets>{part.data(), offsets};
    }
  } else {
    return ScalarElement<Tensor>{t};
  }
}

/// Extents other than 1, in order: broadcasting views may place those of 1 differently.
struct DropOnes {
  template <class Extent>
  TILEFOUNDRY_HOST_DEVICE constexpr auto operator()(Extent extent) const {
    if constexpr (cute::is_constant<1, Extent>::value) {
      return cute::tuple<>{};
    } else {
      return cute::make_tuple(extent);
    }
  }
};

template <class T>
struct LocalShapeOf {
  using Shard = remove_cvref_t<decltype(as_shard(std::declval<T&>()))>;
  using type = decltype(cute::filter_tuple(
      cute::flatten(shard_layout_local_shape(std::declval<typename Shard::shard_layout_type const&>())),
      DropOnes{}));
};

template <class Dst, class Src>
TILEFOUNDRY_HOST_DEVICE constexpr void check_operand() {
  using Source = remove_cvref_t<Src>;
  static_assert(!std::is_pointer<Source>::value,
                "ops: a raw pointer has no extents and no residency; pass a tensor "
                "(make_tensor(make_gmem_ptr(p), layout)) or a scalar");
  if constexpr (is_tensor_like_v<Source>) {
    static_assert(std::is_same<typename LocalShapeOf<remove_cvref_t<Dst>>::type,
                               typename LocalShapeOf<Source>::type>::value,
                  "ops: operands of an elementwise op must have equal local shapes; broadcast with a view");
  }
}

/// Refuses what no op writes. Within a static_assert, so that no other error comes first.
template <class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr bool check_written() {
  using Tensor = remove_cvref_t<Dst>;
  if constexpr (is_tensor_like_v<Tensor>) {
    using Engine = typename remove_cvref_t<decltype(as_shard(std::declval<Tensor&>()))>::engine_type;
    static_assert(!std::is_const<typename Engine::element_type>::value,
                  "ops: the elements of the destination are const; make its pointer one to elements that may "
                  "be written");
    static_assert(
        cute::is_static<typename LocalShapeOf<Tensor>::type>::value,
        "ops: an instance's part of the destination has a static shape; move a tensor whose extents only the "
        "run knows in boxes (make_tile_map), or as a window");
  }
  return true;
}

/// A whole tile in memory that several instances would write at once.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr bool has_no_owner() {
  using Shard = remove_cvref_t<decltype(as_shard(std::declval<T&>()))>;
  return is_whole<Shard>::value && !cute::is_rmem<typename Shard::engine_type::iterator>::value &&
         static_program_dim<kThreadLevel<T>>() != 1;
}

/// The type in which an op on these operands is computed: that of its tensors, which agree; scalars follow.
template <class... Src>
struct Common {
  using type = void;
};
template <class First, class... Rest>
struct Common<First, Rest...> {
  using rest = typename Common<Rest...>::type;
  template <class T, bool Tensor = is_tensor_like_v<T>>
  struct Own {
    using type = void;
  };
  template <class T>
  struct Own<T, true> {
    using type = typename T::value_type;
  };
  using own = typename Own<First>::type;
  static_assert(std::is_void<own>::value || std::is_void<rest>::value || std::is_same<own, rest>::value,
                "ops: tensor operands must have one element type; cast first");
  using type = std::conditional_t<std::is_void<own>::value, rest, own>;
};
template <class... Src>
using common_t = typename Common<remove_cvref_t<Src>...>::type;

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
