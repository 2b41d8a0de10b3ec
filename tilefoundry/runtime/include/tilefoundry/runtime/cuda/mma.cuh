// The tensor core tier of ops::mma: mma.sync m16n8 over 32 bytes of the reduced axis, with operands from
// shared memory through ldmatrix.
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Warpgroup instructions exist on sm_90a alone.
TILEFOUNDRY_HOST_DEVICE constexpr bool wgmma_available() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  return true;
#else
  return false;
#endif
}

/// Whether mma.sync multiplies elements of T here: fp8 from sm_89 on.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr bool tensor_core_available() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr bool fp8 =
      std::is_same<T, cute::float_e4m3_t>::value || std::is_same<T, cute::float_e5m2_t>::value;
  return !std::is_void<typename MmaAccumulator<T>::type>::value && (!fp8 || __CUDA_ARCH__ >= 890);
#else
  return false;
#endif
}

#define TILEFOUNDRY_MMA(shape, types, as)         \
  asm("mma.sync.aligned." shape ".row.col." types \
      " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "  \
      "{%0,%1,%2,%3};"                            \
      : as(d0), as(d1), as(d2), as(d3)            \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

/// d += a * b for one 16 x 8 atom over 32 bytes of the reduced axis; each lane passes its share.
template <class T, class D>
TILEFOUNDRY_DEVICE void mma_m16n8(D& d0, D& d1, D& d2, D& d3, uint32_t const (&a)[4], uint32_t b0,
                                  uint32_t b1) {
  if constexpr (std::is_same<T, cute::half_t>::value) {
    TILEFOUNDRY_MMA("m16n8k16", "f32.f16.f16.f32", "+f");
  } else if constexpr (std::is_same<T, cute::bfloat16_t>::value) {
    TILEFOUNDRY_MMA("m16n8k16", "f32.bf16.bf16.f32", "+f");
  } else if constexpr (std::is_same<T, cute::tfloat32_t>::value) {
    TILEFOUNDRY_MMA("m16n8k8", "f32.tf32.tf32.f32", "+f");
  } else if constexpr (std::is_same<T, cute::float_e4m3_t>::value) {
    TILEFOUNDRY_MMA("m16n8k32", "f32.e4m3.e4m3.f32", "+f");
  } else if constexpr (std::is_same<T, cute::float_e5m2_t>::value) {
    TILEFOUNDRY_MMA("m16n8k32", "f32.e5m2.e5m2.f32", "+f");
  } else {
    static_assert(std::is_same<T, int8_t>::value, "no tensor core instruction for this element type");
    TILEFOUNDRY_MMA("m16n8k32", "s32.s8.s8.s32", "+r");
  }
}
#undef TILEFOUNDRY_MMA

/// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
template <bool Transposed>
TILEFOUNDRY_DEVICE void ldmatrix_x4(uint32_t (&r)[4], void const* row) {
  uint32_t const address = target::shared_address(row);
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
  }
}

/// How ldmatrix reads a matrix: along axis 1 (plain), along axis 0 (transposed), or not at all because no 16
/// bytes lie together at a multiple of 16 bytes.
enum class MatrixOrder { kRows, kColumns, kScattered };

/// @tparam Reduced the axis along which an instruction reads words; only 16-bit elements can be exchanged on
///   the way
template <class M, class T, int Reduced>
TILEFOUNDRY_HOST_DEVICE constexpr MatrixOrder matrix_order() {
  constexpr int chunk = 16 / static_cast<int>(sizeof(T));
  if ((Reduced == 1 || sizeof(T) == 2) && M::Columns::contiguous(chunk) && M::Rows::aligned(1, chunk)) {
    return MatrixOrder::kRows;
  }
  if ((Reduced == 0 || sizeof(T) == 2) && M::Rows::contiguous(chunk) && M::Columns::aligned(1, chunk)) {
    return MatrixOrder::kColumns;
  }
  return MatrixOrder::kScattered;
}

/// The word of elements (i, j), (i + di, j + dj), ...
template <class M, class T>
TILEFOUNDRY_DEVICE uint32_t gather_word(T const* base, int i, int j, int di, int dj) {
  uint32_t word = 0;
  TILEFOUNDRY_UNROLL
  for (int e = 0; e < kMmaWord<T>; ++e) {
    using Bits =
        std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>;
    uint32_t const bits = bit_cast<Bits>(base[M::offset(i + e * di, j + e * dj)]);
    word |= bits << 8 * static_cast<int>(sizeof(T)) * e;
  }
  return word;
}

/// The A fragment of the 16 rows of 32 bytes at (row, k).
template <class M, class T>
TILEFOUNDRY_DEVICE void load_a(uint32_t (&a)[4], T const* base, int row, int k, int lane) {
  constexpr MatrixOrder order = matrix_order<M, T, 1>();
  constexpr int half = kMmaDepth<T> / 2;
  if constexpr (order == MatrixOrder::kRows) {
    ldmatrix_x4<false>(a, base + M::offset(row + lane % 16, k + lane / 16 * half));
  } else if constexpr (order == MatrixOrder::kColumns) {
    ldmatrix_x4<true>(a, base + M::offset(row + lane / 8 % 2 * 8, k + lane / 16 * 8 + lane % 8));
  } else {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      a[i] =
          gather_word<M>(base, row + lane / 4 + i % 2 * 8, k + lane % 4 * kMmaWord<T> + i / 2 * half, 0, 1);
    }
  }
}

/// The B fragments of the 8 columns of 32 bytes at (k, first) and (k, second): b[0..1] and b[2..3].
template <class M, class T>
TILEFOUNDRY_DEVICE void load_b(uint32_t (&b)[4], T const* base, int k, int first, int second, int lane) {
  constexpr MatrixOrder order = matrix_order<M, T, 0>();
  constexpr int half = kMmaDepth<T> / 2;
  int const column = lane < 16 ? first : second;
  if constexpr (order == MatrixOrder::kColumns) {
    ldmatrix_x4<false>(b, base + M::offset(k + lane / 8 % 2 * half, column + lane % 8));
  } else if constexpr (order == MatrixOrder::kRows) {
    ldmatrix_x4<true>(b, base + M::offset(k + lane % 16, column));
  } else {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      b[i] = gather_word<M>(base, k + lane % 4 * kMmaWord<T> + i % 2 * half,
                            (i < 2 ? first : second) + lane / 4, 1, 0);
    }
  }
}

template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_sync(A const& a, B const& b, C& c) {
  using T = typename A::value_type;
  using F = FragmentOf<C>;
  using Rows = FragmentAxis<C, 0>;
  using Columns = FragmentAxis<C, 1>;
  constexpr int depth = decltype(cute::size<1>(typename A::global_layout_type{}))::value;
  auto const coords = c.shard_layout.mesh.local_index();
  int const lane = target::thread_id() % 32;
  int const row = F::template origin<0>(coords) - lane / 4;
  int const column = F::template origin<1>(coords) - lane % 4 * 2;
  auto const part = local(c);
  auto* const d = cute::raw_pointer_cast(part.data());
  TILEFOUNDRY_UNROLL
  for (int k = 0; k < depth; k += kMmaDepth<T>) {
    uint32_t fa[Rows::count / 2][4];
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Rows::count; i += 2) {
      if constexpr (is_whole<A>::value) {
        load_a<Matrix<A>>(fa[i / 2], a.data(), row + Rows::step(i), k, lane);
      } else {
        pack_a(fa[i / 2], a, i / 2, k / kMmaDepth<T>);
      }
    }
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < Columns::count; j += 4) {
      // The last block of an odd number is loaded twice rather than by another instruction.
      bool const paired = j + 2 < Columns::count;
      uint32_t fb[4];
      load_b<Matrix<B>>(fb, b.data(), k, column + Columns::step(j),
                        column + Columns::step(paired ? j + 2 : j), lane);
      TILEFOUNDRY_UNROLL
      for (int i = 0; i < Rows::count; i += 2) {
        TILEFOUNDRY_UNROLL
        for (int h = 0; h < 2; ++h) {
          if (h == 0 || paired) {
            int const at = j + 2 * h;
            mma_m16n8<T>(
                d[Rows::offset(i) + Columns::offset(at)], d[Rows::offset(i) + Columns::offset(at + 1)],
                d[Rows::offset(i + 1) + Columns::offset(at)],
                d[Rows::offset(i + 1) + Columns::offset(at + 1)], fa[i / 2], fb[2 * h], fb[2 * h + 1]);
          }
        }
      }
    }
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
