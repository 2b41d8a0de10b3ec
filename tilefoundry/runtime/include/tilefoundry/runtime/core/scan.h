// ops::scan: running sums, products and extremes along one axis. What an instance holds is scanned in place,
// lanes of a warp exchange by shuffles and warps through a workspace; which steps exist follows from the
// layouts at compile time.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/reduce.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The modes that make a logical axis of a fragment, innermost last. A block of a mode is what it and the
/// modes after it enumerate.
template <int Axis, class GL, class SL>
struct ScanPlan {
  using F = Fragment<GL, SL>;
  using Traits = ShardTraits<SL>;
  using Mesh = typename Traits::mesh_type;
  using Elements = ReducePlan<Axes<Axis>, GL, SL>;  // kept(i) + reduced(j): an element of the axis

  template <int k>
  static constexpr bool in_axis = F::map().axis[k] == Axis && Traits::template extent<k> != 1;
  /// The mesh axis that splits a mode, -1 for one that each instance holds whole.
  template <int k>
  static constexpr int mesh_axis = [] {
    int found = -1;
    for (int m = 0; m < Traits::axes; ++m) {
      if (Traits::split(m) == k) found = m;
    }
    return found;
  }();
  template <int k>
  static constexpr int local = static_or<decltype(cute::size<k>(typename F::LocalShape{}))>(0);

  /// Local elements of the axis in a block of the modes behind k.
  template <int k>
  TILEFOUNDRY_HOST_DEVICE static constexpr int inner() {
    if constexpr (k + 1 >= F::modes) {
      return 1;
    } else {
      return inner<k + 1>() * (F::map().axis[k + 1] == Axis ? local<k + 1> : 1);
    }
  }

  template <int k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool split() {
    return in_axis<k> && mesh_axis<k> >= 0;
  }
  template <int k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool over_ctas() {
    if constexpr (split<k>()) {
      return Mesh::template scope<mesh_axis<k>>() == TopologyScope::cta;
    } else {
      return false;
    }
  }
  /// Whether lanes of one warp exchange: a power of two of them, at a power of two of distance.
  template <int k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool over_lanes() {
    if constexpr (split<k>()) {
      constexpr int extent = Mesh::template extent<mesh_axis<k>>, step = Mesh::template step<mesh_axis<k>>();
      return extent * step <= 32 && (extent & (extent - 1)) == 0 && (step & (step - 1)) == 0;
    } else {
      return false;
    }
  }
  template <int k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool over_warps() {
    return split<k>() && !over_lanes<k>();
  }
  /// Any mode for which a question holds.
  template <int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool any_over_ctas(cute::seq<k...>) {
    return (over_ctas<k>() || ... || false);
  }
  template <int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool any_over_warps(cute::seq<k...>) {
    return (over_warps<k>() || ... || false);
  }
  static constexpr bool crosses_ctas = any_over_ctas(cute::make_seq<F::modes>{});
  static constexpr bool crosses_warps = any_over_warps(cute::make_seq<F::modes>{});
};

/// The values before each of an instance's elements within its block, and the blocks' totals. Blocks grow
/// mode by mode, from the innermost one.
template <class Plan, class Reducer, class Acc>
struct ScanState {
  static constexpr int count = Plan::Elements::reduced;
  Acc before[count];
  Acc total[count];  ///< of the block of each element

  /// Blocks of a mode that the instance holds whole, one after the other.
  template <int k>
  TILEFOUNDRY_DEVICE void join_local() {
    constexpr int inner = Plan::template inner<k>(), extent = Plan::template local<k>;
    TILEFOUNDRY_UNROLL
    for (int first = 0; first < count; first += inner * extent) {
      Acc sum = total[first];
      TILEFOUNDRY_UNROLL
      for (int i = 1; i < extent; ++i) {
        Acc const next = Reducer::combine(sum, total[first + i * inner]);
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < inner; ++j) {
          Acc& b = before[first + i * inner + j];
          b = Reducer::combine(sum, b);
        }
        sum = next;
      }
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < inner * extent; ++j) total[first + j] = sum;
    }
  }

  /// Blocks of a mode that is spread over lanes: after each exchange twice as many of them are one.
  template <int k, class Dependent>
  TILEFOUNDRY_DEVICE void join_lanes(int coordinate) {
    constexpr int inner = Plan::template inner<k>(), m = Plan::template mesh_axis<k>;
    constexpr int extent = Plan::Mesh::template extent<m>, step = Plan::Mesh::template step<m>();
    TILEFOUNDRY_UNROLL
    for (int distance = 1; distance < extent; distance *= 2) {
      bool const later = (coordinate & distance) != 0;
      TILEFOUNDRY_UNROLL
      for (int first = 0; first < count; first += inner) {
        Acc const other = target::shuffle_xor(total[first], step * distance, warp_members<Dependent>());
        Acc const sum = later ? Reducer::combine(other, total[first]) : Reducer::combine(total[first], other);
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < inner; ++j) {
          if (later) before[first + j] = Reducer::combine(other, before[first + j]);
          total[first + j] = sum;
        }
      }
    }
  }

  /// Blocks of a mode that is spread over warps, in shared memory: a place for each block of each instance.
  template <int k, class Pointer>
  TILEFOUNDRY_DEVICE void join_warps(int coordinate, int thread, int threads, Pointer shared) {
    constexpr int inner = Plan::template inner<k>(), m = Plan::template mesh_axis<k>;
    constexpr int extent = Plan::Mesh::template extent<m>, step = Plan::Mesh::template step<m>();
    TILEFOUNDRY_UNROLL
    for (int first = 0; first < count; first += inner) shared[first * threads + thread] = total[first];
    target::barrier();
    TILEFOUNDRY_UNROLL
    for (int first = 0; first < count; first += inner) {
      auto const blocks = shared + first * threads + thread - coordinate * step;
      Acc earlier = Reducer::template identity<Acc>(), sum = blocks[0];
      for (int i = 0; i < extent; ++i) {
        Acc const block = blocks[i * step];
        if (i < coordinate) earlier = Reducer::combine(earlier, block);
        if (i > 0) sum = Reducer::combine(sum, block);
      }
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < inner; ++j) {
        before[first + j] = Reducer::combine(earlier, before[first + j]);
        total[first + j] = sum;
      }
    }
    target::barrier();
  }

  template <int k, class Coords, class Pointer>
  TILEFOUNDRY_DEVICE void join_from(Coords const& coords, Pointer shared) {
    if constexpr (k >= 0) {
      if constexpr (Plan::template in_axis<k>) {
        constexpr int m = Plan::template mesh_axis<k>;
        if constexpr (m < 0) {
          join_local<k>();
        } else if constexpr (Plan::template over_lanes<k>()) {
          join_lanes<k, Plan>(static_cast<int>(cute::get<m>(coords)));
        } else {
          constexpr auto level = kThreadLevel<Plan>;
          join_warps<k>(static_cast<int>(cute::get<m>(coords)), program_id<level>(),
                        static_cast<int>(program_dim<level>()), shared);
        }
      }
      join_from<k - 1>(coords, shared);
    }
  }
};

}  // namespace detail

namespace ops {

/// Bytes of shared memory that scan<Op, Axis>(src, dst, .., ws) needs; 0 when it stays within a warp.
template <int Axis, class Src, class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr int scan_workspace_bytes() {
  using Plan = detail::ScanPlan<Axis, typename Src::global_layout_type, typename Src::shard_layout_type>;
  using Acc = detail::accumulator_t<typename Src::value_type, typename Dst::value_type>;
  constexpr int threads = detail::static_program_dim<detail::kThreadLevel<Src>>();
  static_assert(!Plan::crosses_warps || threads > 0,
                "ops::scan: a scan that leaves its warp needs a static thread level (program_shape)");
  return Plan::crosses_warps ? Plan::Elements::reduced * threads * static_cast<int>(sizeof(Acc)) : 0;
}

/// dst at a place along `Axis` = Op (sum, prod, max or min) over src's elements up to it, its own one
/// included or, for an exclusive scan, left out; what nothing precedes is then Op's identity.
///
/// f16, bf16 and fp8 accumulate in f32 and round once, integers wrap at 32 bits, or 64 when src or dst has
/// 64; NaN propagates. Where instances hold whole axes, elements are combined one after the other; else in an
/// order that the layout alone fixes, so that every run gives the same bits.
/// @param src a register fragment; dst one of the same layout, which may be src itself
/// @param ws shared memory of scan_workspace_bytes(), for scans that leave their warp; all instances of the
/// CTA then
///   call together, and the workspace may be used again at once
template <class Op, int Axis, bool Exclusive = false, class Src, class Dst, class Ws = no_workspace>
TILEFOUNDRY_DEVICE void scan(Src const& src, Dst&& dst, cute::C<Axis>, [[maybe_unused]] Ws&& ws = {}) {
  TILEFOUNDRY_OP("scan");
  using D = detail::remove_cvref_t<Dst>;
  static_assert(is_shard_tensor<Src>::value && is_shard_tensor<D>::value,
                "ops::scan: src and dst are register fragments");
  using Plan = detail::ScanPlan<Axis, typename Src::global_layout_type, typename Src::shard_layout_type>;
  using Out = detail::ReducePlan<Axes<Axis>, typename D::global_layout_type, typename D::shard_layout_type>;
  using Acc = detail::accumulator_t<typename Src::value_type, typename D::value_type>;
  using Reducer = detail::Reducer<Op>;
  constexpr bool has_workspace = !std::is_same<detail::remove_cvref_t<Ws>, no_workspace>::value;
  static_assert(detail::is_register_v<Src> && detail::is_register_v<D>,
                "ops::scan: src and dst are register fragments");
  static_assert(std::is_same<Op, op::sum>::value || std::is_same<Op, op::prod>::value ||
                    std::is_same<Op, op::max>::value || std::is_same<Op, op::min>::value,
                "ops::scan: the op is sum, prod, max or min");
  static_assert(!Plan::crosses_ctas, "ops::scan: the axis is split over CTAs; scan it in another kernel");
  static_assert(!Plan::crosses_warps || !detail::is_mesh_slice<typename Plan::Mesh>::value,
                "ops::scan: within a slice a scan stays in its warp");
  static_assert(!Plan::crosses_warps || has_workspace,
                "ops::scan: the scan leaves its warp and needs a shared-memory workspace");
  static_assert(Out::kept == Plan::Elements::kept && Out::reduced == Plan::Elements::reduced,
                "ops::scan: dst must have src's layout");
  detail::check_operand<D, Src>();
  if constexpr (Plan::crosses_warps) {
    static_assert(!has_workspace || detail::workspace_bytes<detail::remove_cvref_t<Ws>>() >=
                                        scan_workspace_bytes<Axis, Src, D>(),
                  "ops::scan: the workspace is smaller than scan_workspace_bytes()");
  }
  auto const shared = detail::workspace_of<Acc, Plan::crosses_warps>(ws);
  using E = typename Plan::Elements;
  auto const coords = src.shard_layout.mesh.local_index();
  auto const from = local(src);
  auto const to = local(dst);
  TILEFOUNDRY_UNROLL
  for (int c = 0; c < E::kept; ++c) {
    detail::ScanState<Plan, Reducer, Acc> state;
    Acc own[E::reduced];
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < E::reduced; ++i) {
      own[i] = convert<Acc>(from.data()[E::kept_offsets()(c) + E::reduced_offsets()(i)]);
      state.before[i] = Reducer::template identity<Acc>();
      state.total[i] = own[i];
    }
    state.template join_from<Plan::F::modes - 1>(coords, shared);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < E::reduced; ++i) {
      Acc const value = Exclusive ? state.before[i] : Reducer::combine(state.before[i], own[i]);
      to.data()[Out::kept_offsets()(c) + Out::reduced_offsets()(i)] = convert<typename D::value_type>(value);
    }
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
