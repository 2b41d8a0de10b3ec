// How operands and accumulators must lie for the instructions of a warpgroup.
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// How wgmma sees an operand of `Bytes` per element in shared memory: as atoms of 8 rows of 16 * 2^B bytes,
/// each contiguous and swizzled by cute::Swizzle<B, 4, 3>, whose rows run along the reduced axis (K) or, for
/// 16-bit elements, along the rows or columns of the product (Mn). (PTX ISA, asynchronous warpgroup matrices:
/// canonical layouts and the matrix descriptor.)
template <int Bytes, class Mn, class K, class Swizzle>
struct WgmmaOperand {
  static constexpr int bits = Swizzle::num_bits;
  static constexpr int chunk = 16 / Bytes;
  static constexpr int width = chunk << bits;  ///< elements of a row of an atom
  static constexpr bool along_k = K::contiguous(width) && Mn::steps_by(width, 8);
  static constexpr bool along_mn = Bytes == 2 && Mn::contiguous(width) && K::steps_by(width, 8);
  /// Distances of atoms, of which wgmma takes one each; the rows of an instruction along K lie in one atom.
  static constexpr int mn_atoms = Mn::distance(along_k ? 8 : width);
  static constexpr int k_atoms = along_k && bits != 0 ? 0 : K::distance(along_k ? chunk : 8);
  static constexpr bool valid = Swizzle::num_base == 4 && Swizzle::num_shft == 3 && (along_k || along_mn) &&
                                K::extent % (32 / Bytes) == 0 && Mn::extent % 8 == 0 && mn_atoms >= 0 &&
                                k_atoms >= 0 && Bytes * mn_atoms < (1 << 18) && Bytes * k_atoms < (1 << 18);
  /// Columns of the product at which an instruction may begin.
  static constexpr int mn_step = along_k ? 8 : width;

  /// The descriptor without its address.
  TILEFOUNDRY_HOST_DEVICE static constexpr uint64_t descriptor() {
    uint64_t const mn = static_cast<uint64_t>(Bytes * mn_atoms >> 4);
    uint64_t const k = static_cast<uint64_t>(Bytes * k_atoms >> 4);
    uint64_t const code[] = {0, 3, 2, 1};  // none, 32, 64, 128 bytes
    // Without a swizzle the leading distance is that along K; with one it is that of atoms along Mn, or
    // unused.
    uint64_t const leading = bits == 0 ? k : along_mn ? mn : 1, stride = bits == 0 ? mn : along_mn ? k : mn;
    return leading << 16 | stride << 32 | code[bits] << 62;
  }
};

template <class A>
using WgmmaLeftOperand = WgmmaOperand<static_cast<int>(sizeof(typename A::value_type)),
                                      typename Matrix<A>::Rows, typename Matrix<A>::Columns, SwizzleOf<A>>;
template <class B>
using WgmmaRightOperand = WgmmaOperand<static_cast<int>(sizeof(typename B::value_type)),
                                       typename Matrix<B>::Columns, typename Matrix<B>::Rows, SwizzleOf<B>>;

/// Columns that one instruction multiplies, from the widest.
inline constexpr int kWgmmaColumns[] = {256, 192, 176, 160, 144, 128, 112, 96, 64, 32, 16, 8};

/// The widest instruction for `columns` neighbours.
TILEFOUNDRY_HOST_DEVICE constexpr int wgmma_columns(int columns) {
  for (int n : kWgmmaColumns) {
    if (n <= columns) return n;
  }
  return 0;
}

/// Whether each instruction for the columns of c begins where atoms of b do.
template <class B, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool wgmma_columns_begin_atoms() {
  using Columns = FragmentAxis<C, 1>;
  for (int j = 0; j < Columns::count;) {
    if (Columns::step(j) % WgmmaRightOperand<B>::mn_step != 0) return false;
    j += wgmma_columns(8 * Columns::blocks_together(j)) / 4;
  }
  return true;
}

/// The first thread of a mesh.
template <class Mesh>
struct MeshFirst {
  static constexpr int value = 0;
};
template <int First, int Count, class Layout>
struct MeshFirst<MeshSlice<ThreadSlice<First, Count>, Layout>> {
  static constexpr int value = First;
};

/// Whether warpgroup instructions multiply these operands as they lie.
template <class A, class B, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_wgmma() {
  using T = typename B::value_type;
  constexpr int threads = static_program_dim<kThreadLevel<C>>();
  if constexpr (std::is_void<typename MmaAccumulator<T>::type>::value) {
    return false;
  } else if constexpr (threads == 0 || threads % 128 != 0 ||
                       MeshFirst<typename FragmentOf<C>::Traits::mesh_type>::value % 128 != 0 ||
                       !is_accumulator<C, T, 7>()) {
    return false;
  } else if constexpr (!WgmmaRightOperand<B>::valid || !wgmma_columns_begin_atoms<B, C>()) {
    return false;
  } else if constexpr (is_whole<A>::value) {
    return WgmmaLeftOperand<A>::valid;
  } else {
    return sizeof(T) == 2 && is_left_operand<A, C>();
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
