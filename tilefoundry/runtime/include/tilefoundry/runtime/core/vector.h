// Moving several contiguous elements at once, where static layouts prove that they are aligned.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T value[N];
};

template <int N, class T>
TILEFOUNDRY_HOST_DEVICE Pack<T, N> load_pack(T const* p) {
  return *reinterpret_cast<Pack<T, N> const*>(p);
}
template <int N, class T>
TILEFOUNDRY_HOST_DEVICE void store_pack(T* p, Pack<T, N> const& pack) {
  *reinterpret_cast<Pack<T, N>*>(p) = pack;
}

/// The same into global memory, as one instruction: beside a branch that stores single elements, of a masked
/// tail, the compiler splits a plain store to merge it with those.
template <int N, class T>
TILEFOUNDRY_DEVICE void store_global_pack(T* p, Pack<T, N> const& pack) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(pack) == 4 || sizeof(pack) == 8 || sizeof(pack) == 16) {
    using Few = std::conditional_t<sizeof(pack) == 4, unsigned, uint2>;
    using Words = std::conditional_t<sizeof(pack) == 16, uint4, Few>;
    Words words;
    memcpy(&words, &pack, sizeof words);
    __stwb(reinterpret_cast<Words*>(p), words);
    return;
  }
#endif
  store_pack<N>(p, pack);
}

template <int Bytes, class T>
TILEFOUNDRY_HOST_DEVICE bool is_aligned(T const* p) {
  return reinterpret_cast<uintptr_t>(p) % Bytes == 0;
}

#if defined(TILEFOUNDRY_CHECKED)
template <int Bytes, class T>
bool is_aligned(CheckedPointer<T> const& p) {
  return is_aligned<Bytes>(p.unchecked());
}
template <int N, class T>
Pack<std::remove_const_t<T>, N> load_pack(CheckedPointer<T> const& p) {
  Pack<std::remove_const_t<T>, N> pack;
  for (int j = 0; j < N; ++j) pack.value[j] = p[j];
  return pack;
}
template <int N, class T>
void store_pack(CheckedPointer<T> const& p, Pack<T, N> const& pack) {
  for (int j = 0; j < N; ++j) p[j] = pack.value[j];
}
template <int N, class T>
void store_global_pack(CheckedPointer<T> const& p, Pack<T, N> const& pack) {
  store_pack<N>(p, pack);
}
#endif

/// A pointer into shared memory of which less is known than that it is 16-byte aligned: of a window of a
/// tile.
template <class T, int Bytes>
struct AlignedElements : cute::iter_adaptor<T*, AlignedElements<T, Bytes>> {
  using cute::iter_adaptor<T*, AlignedElements<T, Bytes>>::iter_adaptor;
};

/// Bytes at whose multiples a tensor starts.
template <class Pointer>
struct base_alignment {
  static constexpr int value = 16;
};
template <class T, int Bytes>
struct base_alignment<cute::smem_ptr<AlignedElements<T, Bytes>>> {
  static constexpr int value = Bytes;
};

/// Length of the run of consecutive storage at the head of a row-major walk, 1 when unknown.
template <class Offsets>
TILEFOUNDRY_HOST_DEVICE constexpr int contiguous_run() {
  if constexpr (!cute::is_static<Offsets>::value) {
    return 1;
  } else {
    using First = decltype(cute::get<0>(cute::flatten(cute::make_tuple(Offsets{}.stride()))));
    using Extent = decltype(cute::get<0>(cute::flatten(cute::make_tuple(Offsets{}.shape()))));
    return First::value == 1 ? Extent::value : 1;
  }
}

/// Largest power of two that divides `run` and every stride in SL other than 1, so that packs of it start
/// aligned.
template <class SL, int... k>
TILEFOUNDRY_HOST_DEVICE constexpr int aligned_run(int run, cute::seq<k...>) {
  using Traits = ShardTraits<SL>;
  int n = run & -run;
  int const strides[] = {Traits::template stride<k>..., 1};
  int const extents[] = {Traits::template extent<k>..., 1};
  for (int i = 0; i < Traits::modes; ++i) {
    if (strides[i] == 1 || extents[i] == 1) continue;
    if (strides[i] < 0) return 1;
    while (n > 1 && strides[i] % n != 0) n /= 2;
  }
  // A split mode of stride 1 starts instances one element apart.
  for (int axis = 0; axis < Traits::axes; ++axis) {
    int const mode = Traits::split(axis);
    if (mode >= 0 && extents[mode] != 1 && strides[mode] % n != 0) return 1;
  }
  return n;
}

/// Elements that one access may move, as far as the tensor's base and layout tell.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int pack_size() {
  using SL = typename T::shard_layout_type;
  using Value = typename T::value_type;
  constexpr int bytes = base_alignment<typename T::engine_type::iterator>::value;
  constexpr int limit =
      bytes / static_cast<int>(sizeof(Value)) > 1 ? bytes / static_cast<int>(sizeof(Value)) : 1;
  constexpr int run = contiguous_run<typename FragmentOf<T>::Offsets>();
  int const n = aligned_run<SL>(run, cute::make_seq<ShardTraits<SL>::modes>{});
  return n < limit ? n : limit;
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
