// How a kernel body names its tensors: kernel arguments in global memory, shared tiles, register fragments.
#pragma once

#include <tilefoundry/runtime/core/vector.h>

#include <cute/pointer_swizzle.hpp>
#if defined(TILEFOUNDRY_CHECKED)
#include <tilefoundry/runtime/cpu/checked_tensors.h>
#endif

namespace tilefoundry {

/// A tensor argument as it crosses the launch: base pointer, extents and strides in elements. The same bytes
/// for every unit and for the host.
template <int Rank>
struct GlobalArg {
  void* data;
  int64_t shape[Rank];
  int64_t stride[Rank];
};

template <>
struct GlobalArg<0> {
  void* data;
};

inline namespace TILEFOUNDRY_UNIT {

namespace detail {

template <int Bytes, class Pointer>
TILEFOUNDRY_HOST_DEVICE constexpr auto aligned_rows(Pointer const& pointer) {
  return AlignedRows<Pointer, Bytes>(pointer);
}

template <bool Vector, int Rank, int Axis>
TILEFOUNDRY_HOST_DEVICE constexpr auto global_stride(GlobalArg<Rank> const& arg) {
  if constexpr (Vector && Axis == Rank - 1) {
    return cute::Int<1>{};
  } else {
    return arg.stride[Axis];
  }
}

/// The memory of an argument.
template <class T, int Rank>
TILEFOUNDRY_HOST_DEVICE constexpr auto global_pointer(GlobalArg<Rank> const& arg) {
#if defined(TILEFOUNDRY_CHECKED)
  return checked_argument<T>(arg);
#else
  return static_cast<T*>(arg.data);
#endif
}

template <class T, bool Vector, int Rank, class Shape, int... I>
TILEFOUNDRY_HOST_DEVICE constexpr auto global_tensor(GlobalArg<Rank> const& arg, Shape const& shape,
                                                     cute::seq<I...>) {
  auto const layout = cute::make_layout(shape, cute::make_stride(global_stride<Vector, Rank, I>(arg)...));
  auto const pointer = cute::make_gmem_ptr(global_pointer<T>(arg));
  if constexpr (Vector) {
    return cute::make_tensor(aligned_rows<16>(pointer), layout);
  } else {
    return cute::make_tensor(pointer, layout);
  }
}

/// The memory of a rank-0 argument.
template <class T>
TILEFOUNDRY_HOST_DEVICE auto global_scalar(GlobalArg<0> const& arg) {
  return global_pointer<T>(arg);
}

}  // namespace detail

/// A CuTe tensor in global memory over a kernel argument.
/// @tparam Vector the host has checked that the innermost stride is 1, and that the base and all other
/// strides are
///   multiples of 16 bytes; the innermost stride is then static. Otherwise all strides are run-time values.
/// @param shape one extent per axis; static where the program's type is
template <class T, bool Vector, int Rank, class Shape>
TILEFOUNDRY_HOST_DEVICE constexpr auto global_tensor(GlobalArg<Rank> const& arg, Shape const& shape) {
  static_assert(decltype(cute::rank(shape))::value == Rank,
                "global_tensor: one extent per axis of the argument");
  return detail::global_tensor<T, Vector>(arg, shape, cute::make_seq<Rank>{});
}

/// A global tensor from one of its elements on, for views of a part of it.
/// @tparam Multiple elements of which the distance from the start of its row is a multiple
/// @param start elements from the tensor's first one
template <int Multiple, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr auto tensor_from(Tensor const& tensor, int64_t start) {
  constexpr int known = (Multiple & -Multiple) * static_cast<int>(sizeof(typename Tensor::value_type));
  constexpr int rows = detail::row_alignment<typename Tensor::iterator>::value;
  constexpr int bytes = known < rows ? known : rows;
  auto const pointer = cute::make_gmem_ptr(cute::raw_pointer_cast(tensor.data()) + start);
  if constexpr (bytes > 1) {
    return cute::make_tensor(detail::aligned_rows<bytes>(pointer), tensor.layout());
  } else {
    return cute::make_tensor(pointer, tensor.layout());
  }
}

/// A tile in shared memory that every instance of the CTA sees whole.
/// @tparam Swizzle how the addresses of rows are permuted, so that a column meets different banks: as
///   cute::Swizzle<B, 4, 3>, which exchanges 16-byte chunks within rows of 16 * 2^B bytes by the row's
///   number, the form that TMA writes and wgmma reads; none by default
/// @tparam Bytes a power of two of which `base` is a multiple, for a window of a tile; 16 or more for a tile
/// @param base address within cta_shared(); 1024-byte aligned for a swizzled tile
/// @param storage layout of the same extents whose strides say where elements lie (rows may be padded)
/// @param name what checking mode calls the tile
template <class T, class Swizzle = cute::Swizzle<0, 4, 3>, int Bytes = 16, class Logical, class Storage>
TILEFOUNDRY_HOST_DEVICE constexpr auto shared_tensor(char* base, Logical logical, Storage storage,
                                                     [[maybe_unused]] char const* name = nullptr) {
  static_assert(cute::is_static<Logical>::value && cute::is_static<Storage>::value,
                "shared_tensor: shared tiles have static layouts");
  using SL = WholeLayout<Storage>;
  static_assert(detail::Fragment<Logical, SL>::valid,
                "shared_tensor: the storage extents must factor the logical extents in order");
#if defined(TILEFOUNDRY_CHECKED)
  constexpr int bytes = decltype(cute::cosize(Storage{}))::value * static_cast<int>(sizeof(T));
  auto const memory = detail::checked_tile<T, Logical, SL, Swizzle, bytes>(base, name);
#else
  auto const memory = reinterpret_cast<T*>(base);
#endif
  auto const pointer = cute::make_swizzle_ptr(cute::make_smem_ptr(memory), Swizzle{});
  using Pointer = detail::AlignedPointer<detail::remove_cvref_t<decltype(pointer)>, Bytes>;
  return make_shard_tensor(cute::make_tensor(Pointer(pointer), storage), logical, SL{storage, {}, {}});
}

namespace detail {

template <class SL, int... k>
TILEFOUNDRY_HOST_DEVICE constexpr bool registers_apart(cute::seq<k...>) {
  using Traits = ShardTraits<SL>;
  return ((Traits::splits_of(k) == 0 || Traits::template extent<k> == 1 || Traits::template stride<k> == 0) &&
          ... && true);
}

}  // namespace detail

/// An uninitialised register fragment that the instance owns.
/// @param shard_layout static; split modes have stride 0, because each instance has its own registers
/// @param name what checking mode calls the fragment
template <class T, class Logical, class SL>
TILEFOUNDRY_HOST_DEVICE constexpr auto register_tensor(Logical, SL shard_layout,
                                                       [[maybe_unused]] char const* name = nullptr) {
  using F = detail::Fragment<Logical, SL>;
  static_assert(cute::is_static<Logical>::value && cute::is_static<decltype(shard_layout.layout)>::value,
                "register_tensor: register fragments have static layouts");
  static_assert(F::valid,
                "register_tensor: the modes of the shard layout must factor the logical extents in order");
  static_assert(detail::registers_apart<SL>(cute::make_seq<F::modes>{}),
                "register_tensor: split modes have stride 0, because each instance has its own registers");
  constexpr int count = decltype(cute::cosize(
      cute::make_layout(shard_layout_local_shape(shard_layout), shard_layout.layout.stride())))::value;
  using Engine = cute::Tensor<detail::RegisterEngine<T, count>, cute::Layout<cute::Int<count>>>;
#if defined(TILEFOUNDRY_CHECKED)
  ShardTensor<Engine, Logical, SL> fragment{Engine(), shard_layout};
  fragment.engine.engine().memory.name = name;
  fragment.engine.engine().memory.description = detail::describe<T, Logical, SL>();
  return fragment;
#else
  return ShardTensor<Engine, Logical, SL>{Engine(), shard_layout};
#endif
}

/// Base of the CTA's shared memory, 128-byte aligned; its size is the launch's.
TILEFOUNDRY_DEVICE char* cta_shared() { return target::shared_base(); }

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
