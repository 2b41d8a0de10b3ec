// ops::reduce. An instance first reduces what it holds, then lanes of a warp exchange by shuffles, then warps
// through a workspace in shared memory; which steps exist follows from the layouts at compile time. Every
// instance that holds a replica of the result gets the same bits.
#pragma once

#include <tilefoundry/runtime/core/arg_reducers.h>
#include <tilefoundry/runtime/core/elementwise.h>
#include <tilefoundry/runtime/core/reduce_plan.h>
#include <tilefoundry/runtime/core/reducers.h>
#include <tilefoundry/runtime/core/slice.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Bytes and address of a workspace: a shared ShardTensor or CuTe tensor.
template <class Ws>
TILEFOUNDRY_HOST_DEVICE constexpr int workspace_bytes() {
  if constexpr (is_shard_tensor<Ws>::value) {
    return workspace_bytes<typename Ws::engine_type>();
  } else if constexpr (!cute::is_tensor<Ws>::value) {
    static_assert(cute::is_tensor<Ws>::value,
                  "ops::reduce: the workspace must be a shared_tensor or a CuTe tensor in shared memory");
    return 0;
  } else {
    static_assert(cute::is_smem<typename Ws::iterator>::value,
                  "ops::reduce: the workspace must be a shared_tensor or a CuTe tensor in shared memory");
    return decltype(cute::cosize(typename Ws::layout_type{}))::value *
           static_cast<int>(sizeof(typename Ws::value_type));
  }
}

template <class Ws>
TILEFOUNDRY_DEVICE auto workspace_pointer(Ws const& ws) {
  if constexpr (is_shard_tensor<Ws>::value) {
    return ws.data();
  } else {
    return cute::raw_pointer_cast(ws.data());
  }
}

/// A workspace as elements of T; a null pointer where none is wanted.
template <class T, bool Wanted = true, class Ws>
TILEFOUNDRY_DEVICE auto workspace_of(Ws const& ws) {
  if constexpr (Wanted) {
    using cute::recast_ptr;
    return recast_ptr<T>(workspace_pointer(ws));
  } else {
    return static_cast<T*>(nullptr);
  }
}

/// Reduces what an instance itself holds.
template <class Plan, class Reducer, class Src, class Acc, int N>
TILEFOUNDRY_DEVICE void reduce_own(Src const& src, Acc (&acc)[N]) {
  auto const part = local(src);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < N; ++i) {
    acc[i] = Reducer::template identity<Acc>();
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < Plan::reduced; ++j) {
      auto const x = part.data()[Plan::kept_offsets()(i) + Plan::reduced_offsets()(j)];
      acc[i] = Reducer::combine(acc[i], Reducer::load(convert<Acc>(x)));
    }
  }
}

/// Type of a partial result of reduce<Op>(src, dst).
template <class Op, class Src, class Dst>
using partial_t =
    typename Reducer<Op>::template accumulator<typename Src::value_type, typename Dst::value_type>;

}  // namespace detail

namespace ops {

/// No workspace: the reduction stays within a warp.
struct no_workspace {};

/// Bytes of shared memory that reduce<Op, Axes>(src, dst, ws) needs; 0 when it stays within a warp.
template <class Op, class Axes, class Src, class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr int reduce_workspace_bytes() {
  using Plan = detail::ReducePlan<Axes, typename Src::global_layout_type, typename Src::shard_layout_type>;
  using Acc = detail::partial_t<Op, Src, Dst>;
  return Plan::crosses_warps() ? Plan::kept * Plan::slots() * static_cast<int>(sizeof(Acc)) : 0;
}

/// Reduces src along the logical axes `Axes` into dst, whose reduced axes have extent 1 or are absent.
///
/// f16, bf16 and fp8 accumulate in f32, integers exactly (wrapping at 32 bits, or 64 when src or dst has 64);
/// NaN propagates. Replicas (Broadcast axes of src) are counted once. dst is replicated over the reduced mesh
/// axes.
///
/// argmax and argmin search one axis: dst holds, as i32 or i64, the logical coordinate of the first of the
/// greatest or least elements. NaN is both, as in torch.
/// @param ws shared memory of reduce_workspace_bytes(), for reductions that leave their warp; all instances
/// of the CTA
///   then call together, and the workspace may be used again at once
template <class Op, class Axes, class Src, class Dst, class Ws = no_workspace>
TILEFOUNDRY_DEVICE void reduce(Src const& src_tensor, Dst&& dst_tensor, Ws&& ws = {}) {
  TILEFOUNDRY_OP("reduce");
  decltype(auto) src = detail::as_shard(src_tensor);
  decltype(auto) dst = detail::as_shard(dst_tensor);
  using S = detail::remove_cvref_t<decltype(src)>;
  using D = detail::remove_cvref_t<decltype(dst)>;
  using Plan = detail::ReducePlan<Axes, typename S::global_layout_type, typename S::shard_layout_type>;
  using Acc = detail::partial_t<Op, S, D>;
  using Reducer = detail::Reducer<Op>;
  constexpr bool has_workspace = !std::is_same<detail::remove_cvref_t<Ws>, no_workspace>::value;
  static_assert(!std::is_same<Op, op::mean>::value || !std::is_integral<Acc>::value,
                "ops::reduce: the mean of integers is no integer; cast src to f32 or f64 first");
  static_assert(!Plan::crosses_ctas(),
                "ops::reduce: a reduced axis is split over CTAs; reduce it in another kernel");
  static_assert(!Plan::crosses_warps() || has_workspace,
                "ops::reduce: the reduction leaves its warp and needs a shared-memory workspace");
  static_assert(
      !Plan::crosses_warps() || !detail::is_mesh_slice<decltype(src.shard_layout.mesh)>::value,
      "ops::reduce: warps meet at the barrier of the CTA; within a slice a reduction stays in its warp");
  static_assert(Plan::lanes_regular(),
                "ops::reduce: a reduced mesh axis within a warp must have a power-of-two extent and step");
  static_assert(detail::FragmentOf<D>::count == Plan::kept,
                "ops::reduce: dst must hold exactly the kept elements of src's distribution");
  static_assert(
      Plan::template matches<typename D::shard_layout_type>(),
      "ops::reduce: dst must be split over the mesh axes of src's kept axes, and replicated over the others");

  Acc acc[Plan::kept];
  detail::reduce_own<Plan, Reducer>(src, acc);
  detail::reduce_lanes<Plan, Reducer>(acc, cute::make_seq<Plan::mesh_axes>{});

  if constexpr (Plan::crosses_warps()) {
    static_assert(!has_workspace || detail::workspace_bytes<detail::remove_cvref_t<Ws>>() >=
                                        Plan::kept * Plan::slots() * static_cast<int>(sizeof(Acc)),
                  "ops::reduce: the workspace is smaller than reduce_workspace_bytes()");
    auto const shared = detail::workspace_of<Acc>(ws);
    auto const coords = src.shard_layout.mesh.local_index();
    int const mine = Plan::slot(coords);
    if (Plan::leads(coords)) {
      TILEFOUNDRY_UNROLL
      for (int i = 0; i < Plan::kept; ++i) shared[i * Plan::slots() + mine] = acc[i];
    }
    target::barrier();
    int const first = Plan::first_slot(coords);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < Plan::kept; ++i) {
      Acc total = shared[i * Plan::slots() + first];
      for (int other = 1; other < Plan::warps_reduced(); ++other) {
        Acc const part = shared[i * Plan::slots() + first + Plan::slot_of_reduced(other)];
        total = Reducer::combine(total, part);
      }
      acc[i] = total;
    }
    target::barrier();
  }

  auto const out = detail::elements(dst);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < Plan::kept; ++i) {
    out(i) = convert<typename D::value_type>(Reducer::finish(acc[i], Plan::total));
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
