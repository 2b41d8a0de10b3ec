// Moving several contiguous elements at once, where static layouts prove that they are aligned.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>

#include <cute/pointer_swizzle.hpp>

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

/// The same into shared memory, of 16 bytes: gathered element by element, they would be stored in pieces.
template <int N, class T>
TILEFOUNDRY_DEVICE void store_shared_pack(T* p, Pack<T, N> const& pack) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(pack) == 16, "store_shared_pack: 16 bytes");
  uint4 words;
  memcpy(&words, &pack, sizeof words);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(target::shared_address(p)), "r"(words.x),
               "r"(words.y), "r"(words.z), "r"(words.w)
               : "memory");
#else
  store_pack<N>(p, pack);
#endif
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
void store_shared_pack(CheckedPointer<T> const& p, Pack<T, N> const& pack) {
  store_pack<N>(p, pack);
}
template <int N, class T>
void store_global_pack(CheckedPointer<T> const& p, Pack<T, N> const& pack) {
  store_pack<N>(p, pack);
}
#endif

/// A `Pointer` that is a multiple of `Bytes`. Moved, it is a plain `Pointer` again, of which nothing is
/// known.
template <class Pointer, int Bytes>
struct AlignedPointer : Pointer {
  using iterator = Pointer;  // what says where memory resides, and how its addresses are permuted

  TILEFOUNDRY_HOST_DEVICE constexpr AlignedPointer(Pointer p = {}) : Pointer(p) {}

  template <class Index>
  TILEFOUNDRY_HOST_DEVICE constexpr auto operator+(Index const& i) const {
    if constexpr (cute::is_constant<0, Index>::value) {
      return *this;
    } else {
      return static_cast<Pointer const&>(*this) + i;
    }
  }
};

/// Bytes at whose multiples a tensor starts.
template <class Pointer>
struct base_alignment {
  static constexpr int value = static_cast<int>(sizeof(cute::iter_value_t<Pointer>));
};
template <class Pointer, int Bytes>
struct base_alignment<AlignedPointer<Pointer, Bytes>> {
  static constexpr int value = Bytes;
};

/// A `Pointer` into global memory whose tensor has rows that start at multiples of `Bytes`: the base and
/// every stride but the innermost (which is 1). Moved, it is a plain `Pointer` again.
template <class Pointer, int Bytes>
struct AlignedRows : AlignedPointer<Pointer, Bytes> {
  using AlignedPointer<Pointer, Bytes>::AlignedPointer;
};
template <class Pointer, int Bytes>
struct base_alignment<AlignedRows<Pointer, Bytes>> {
  static constexpr int value = Bytes;
};

/// Bytes at whose multiples the rows of a global tensor start, as far as its pointer tells.
template <class Pointer>
struct row_alignment {
  static constexpr int value = 1;
};
template <class Pointer, int Bytes>
struct row_alignment<AlignedRows<Pointer, Bytes>> {
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

/// What a stride is known to be a multiple of: itself, or `unknown` where only the run knows it.
template <class Stride>
TILEFOUNDRY_HOST_DEVICE constexpr int stride_multiple(int unknown) {
  if constexpr (cute::is_static<Stride>::value) {
    return Stride::value < 0 ? -static_cast<int>(Stride::value) : static_cast<int>(Stride::value);
  } else {
    return unknown;
  }
}

template <class SL>
struct PackPlan;

/// How many elements of a row-major walk over an instance's part are neighbours in storage and start at a
/// multiple of that many from the first element of the tensor.
template <class Layout, class Attrs, class Mesh>
struct PackPlan<ShardLayout<Layout, Attrs, Mesh>> {
  using Traits = ShardTraits<ShardLayout<Layout, Attrs, Mesh>>;

  /// @param unknown of what strides that only the run knows are multiples
  /// @return a power of two
  TILEFOUNDRY_HOST_DEVICE static constexpr int elements(int unknown) {
    return elements(unknown, cute::make_seq<Traits::modes>{});
  }

 private:
  template <int k>
  using Stride = remove_cvref_t<decltype(cute::stride<k>(Layout{}))>;

  template <int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr int elements(int unknown, cute::seq<k...>) {
    int const extents[] = {Traits::template extent<k>..., 1};
    int const steps[] = {static_or<Stride<k>>(0)..., 0};  // 0 where only the run knows
    int const multiples[] = {stride_multiple<Stride<k>>(unknown)..., 0};
    // The innermost modes that an instance holds whole are one run as long as each steps over those behind
    // it.
    int run = 1, first = Traits::modes;
    for (int mode = Traits::modes - 1; mode >= 0; --mode) {
      if (extents[mode] == 1 || Traits::splits_of(mode) > 0) continue;
      if (extents[mode] == 0 || steps[mode] != run) break;
      run *= extents[mode];
      first = mode;
    }
    int n = run & -run;
    // Everything else steps by whole packs: the other modes, and those that the mesh splits.
    for (int mode = 0; mode < Traits::modes; ++mode) {
      bool const in_run = mode >= first && Traits::splits_of(mode) == 0;
      if (in_run || extents[mode] == 1) continue;
      while (n > 1 && multiples[mode] % n != 0) n /= 2;
    }
    return n;
  }
};

/// The power of two up to `bytes` / sizeof(T); 1 at least.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int elements_of(int bytes) {
  int n = 1;
  while (2 * n * static_cast<int>(sizeof(T)) <= bytes) n *= 2;
  return n;
}

/// Elements that one access may move, as far as the tensor's base and layout tell.
/// @param unknown of what strides that only the run knows are multiples, in elements
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int pack_size(int unknown = 1) {
  using Pointer = typename T::engine_type::iterator;
  using Swizzle = cute::get_swizzle_t<Pointer>;
  int n = elements_of<typename T::value_type>(base_alignment<Pointer>::value);
  if (Swizzle::num_bits != 0) {  // which leaves chunks of this many bytes as they are
    int const chunk = elements_of<typename T::value_type>(1 << Swizzle::num_base);
    n = n < chunk ? n : chunk;
  }
  int const run = PackPlan<typename T::shard_layout_type>::elements(unknown);
  return n < run ? n : run;
}

template <class T>
inline constexpr bool is_register_v =
    is_owning<typename T::engine_type>::value || cute::is_rmem<typename T::engine_type::iterator>::value;
template <class T>
inline constexpr bool is_shared_v = cute::is_smem<typename T::engine_type::iterator>::value;

/// Of what strides that only the run knows are multiples, in elements: those of a tensor whose rows start
/// aligned, spread as they are.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int unknown_strides() {
  if constexpr (is_shard_tensor<T>::value) {
    return 1;
  } else {
    return elements_of<typename T::value_type>(row_alignment<typename T::iterator>::value);
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
