// The tensor core tier of ops::mma: mma.sync m16n8k16 with operands from shared memory through ldmatrix.
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

template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr bool tensor_core_available() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return std::is_same<T, cute::half_t>::value || std::is_same<T, cute::bfloat16_t>::value;
#else
  return false;
#endif
}

/// d += a * b for one 16x8x16 atom; each lane passes its share of the fragments.
template <class T>
TILEFOUNDRY_DEVICE void mma_m16n8k16(float& d0, float& d1, float& d2, float& d3, uint32_t const (&a)[4],
                                     uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same<T, cute::half_t>::value) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

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

/// How ldmatrix reads a 16-bit matrix: along axis 1 (plain), along axis 0 (transposed), or not at all because
/// no eight neighbours lie together at a multiple of 16 bytes.
enum class MatrixOrder { kRows, kColumns, kScattered };

template <class M>
TILEFOUNDRY_HOST_DEVICE constexpr MatrixOrder matrix_order() {
  if (M::Columns::contiguous(8) && M::Rows::aligned(1, 8)) return MatrixOrder::kRows;
  if (M::Rows::contiguous(8) && M::Columns::aligned(1, 8)) return MatrixOrder::kColumns;
  return MatrixOrder::kScattered;
}

template <class M, class T>
TILEFOUNDRY_DEVICE uint32_t gather_pair(T const* base, int i, int j, int di, int dj) {
  uint32_t const low = base[M::offset(i, j)].storage, high = base[M::offset(i + di, j + dj)].storage;
  return low | high << 16;
}

/// The A fragment of the 16x16 block at (row, k).
template <class M, class T>
TILEFOUNDRY_DEVICE void load_a(uint32_t (&a)[4], T const* base, int row, int k, int lane) {
  constexpr MatrixOrder order = matrix_order<M>();
  if constexpr (order == MatrixOrder::kRows) {
    ldmatrix_x4<false>(a, base + M::offset(row + lane % 16, k + lane / 16 * 8));
  } else if constexpr (order == MatrixOrder::kColumns) {
    ldmatrix_x4<true>(a, base + M::offset(row + lane / 8 % 2 * 8, k + lane / 16 * 8 + lane % 8));
  } else {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      a[i] = gather_pair<M>(base, row + lane / 4 + i % 2 * 8, k + lane % 4 * 2 + i / 2 * 8, 0, 1);
    }
  }
}

/// The B fragments of the 16x8 blocks at (k, first) and (k, second): b[0..1] and b[2..3].
template <class M, class T>
TILEFOUNDRY_DEVICE void load_b(uint32_t (&b)[4], T const* base, int k, int first, int second, int lane) {
  constexpr MatrixOrder order = matrix_order<M>();
  int const column = lane < 16 ? first : second;
  if constexpr (order == MatrixOrder::kColumns) {
    ldmatrix_x4<false>(b, base + M::offset(k + lane / 8 % 2 * 8, column + lane % 8));
  } else if constexpr (order == MatrixOrder::kRows) {
    ldmatrix_x4<true>(b, base + M::offset(k + lane % 16, column));
  } else {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      b[i] = gather_pair<M>(base, k + lane % 4 * 2 + i % 2 * 8, (i < 2 ? first : second) + lane / 4, 1, 0);
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
  for (int k = 0; k < depth; k += 16) {
    uint32_t fa[Rows::count / 2][4];
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Rows::count; i += 2) {
      if constexpr (is_whole<A>::value) {
        load_a<Matrix<A>>(fa[i / 2], a.data(), row + Rows::step(i), k, lane);
      } else {
        pack_a(fa[i / 2], a, i / 2, k / 16);
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
            mma_m16n8k16<T>(
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
