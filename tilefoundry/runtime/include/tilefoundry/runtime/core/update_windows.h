// The updates behind ops::index_add and ops::index_copy on windows: a copy of one, with elements of another
// written at run-time positions along an axis, in order. Who does what; update_team.h has how a warp does it.
#pragma once

#include <tilefoundry/runtime/core/update_team.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// How many neighbouring instances share a column: the lanes of a warp, or, where each column has indices of
/// its own that lie beside those of others, as many as still read whole sectors; 1 where the CTA does not
/// consist of whole warps, or the target has none that work in step.
template <bool Own, class Dependent>
TILEFOUNDRY_HOST_DEVICE constexpr int team_lanes() {
  constexpr int threads = static_program_dim<kThreadLevel<Dependent>>();
  if (target::kWarpLanes == 1 || threads == 0 || threads % target::kWarpLanes != 0) return 1;
  return Own ? 8 : target::kWarpLanes;
}

/// out = dst, with elements of src written at the indices, by teams of neighbouring instances.
///
/// A team has the rows of one class to itself, in `width` columns of N elements, so that updates of an
/// element meet in one team, in order, and teams exchange nothing. Each team reads all the indices of its
/// columns.
template <int N, class Apply, int Axis, class Dst, class Index, class Src, class Out>
struct WindowUpdate {
  static constexpr int rank = Out::rank;
  static constexpr bool rows = Index::rank == 1;
  static constexpr bool along_rows = Axis == rank - 1;  // rows are neighbours in memory, columns are not
  static constexpr int lanes = team_lanes<!rows && !along_rows, Out>();
  static constexpr int axis = Axis, pack = N, index_tensor_rank = Index::tensor_rank;
  using Op = Apply;
  using Elements = Pack<typename Out::value_type, N>;
  using Held = HeldRow<N, Axis, Out>;

  Dst const& dst;
  Index const& index;
  Src const& src;
  Out const& out;
  int64_t along, updates;
  int64_t extents[rank];  // of the columns
  int64_t columns, chunks, classes;
  int width, strip_bits;

  template <int... A>
  TILEFOUNDRY_DEVICE WindowUpdate(Dst const& d, Index const& i, Src const& s, Out const& o, int64_t teams,
                                  cute::seq<A...>)
      : dst(d),
        index(i),
        src(s),
        out(o),
        along(o.template extent<Axis>()),
        updates(i.template extent<rows ? 0 : Axis>()),
        extents{(A == Axis ? int64_t(1) : o.template extent<A>() / (A == rank - 1 ? N : 1))...},
        columns((extents[A] * ... * 1)),
        width(1),
        strip_bits(0) {
    if constexpr (rows && !along_rows) {
      while (width < lanes && width < columns) width *= 2;
    }
    while (width << strip_bits < lanes) ++strip_bits;
    chunks = (columns + width - 1) / width;
    classes = row_classes(teams);
  }

  /// A power of two: for all teams, as long as reading the indices so many times costs no more than moving
  /// the elements does, or to fill the machine.
  TILEFOUNDRY_DEVICE int64_t row_classes(int64_t teams) const {
    int64_t const strips = (along + (1 << strip_bits) - 1) >> strip_bits;
    int64_t const moved = (2 * along + 3 * updates) * width * static_cast<int64_t>(sizeof(Elements));
    int64_t const read = updates * static_cast<int64_t>(sizeof(typename Index::value_type));
    constexpr int64_t few = target::kBusyWarps * (target::kWarpLanes / lanes);
    int64_t count = 1;
    while (count < strips && 2 * count * chunks <= teams && (count * chunks < few || count * read < moved)) {
      count *= 2;
    }
    return count;
  }

  /// What a team does at a time: the instance's column, and the rows of a class.
  struct Part {
    int64_t own;
    int lane;      ///< of the team
    bool active;   ///< the instance has a column
    bool indexed;  ///< its column has indices
    int64_t at[rank];
  };

  TILEFOUNDRY_DEVICE void run(Share const& share) const {
    int64_t const team = share.first / lanes, teams = share.step / lanes;
    // The teams of a warp go on together.
    for (int64_t first = 0; first < chunks * classes; first += teams) {
      int64_t const n = first + team;
      Part part;
      part.own = n / chunks;
      part.lane = static_cast<int>(share.first % lanes);
      int64_t rest = n % chunks * width + part.lane % width;
      part.active = n < chunks * classes && rest < columns;
      TILEFOUNDRY_UNROLL
      for (int a = rank - 1; a >= 0; --a) {
        part.at[a] = rest % extents[a] * (a == rank - 1 ? N : 1);
        rest /= extents[a];
      }
      part.indexed = n < chunks * classes && (rows || indexed(part.at, cute::make_seq<rank>{}));
      copy(part);
      if constexpr (lanes == 1) {
        update_alone(part);
      } else {
        TeamUpdate<WindowUpdate> team_update(*this, part);
        team_update.run();
      }
    }
  }

  /// Whether the column has indices: with one for each element, they may cover a part of the columns.
  template <int... A>
  TILEFOUNDRY_DEVICE bool indexed(int64_t const (&at)[rank], cute::seq<A...>) const {
    return ((A == Axis || at[A] < index.template extent<rows ? 0 : A>()) && ...);
  }

  /// Of the k-th index, which was read before: where the row is of the class, and else -1.
  TILEFOUNDRY_DEVICE int64_t row_in_class(Part const& part, int64_t k, int64_t row) const {
    bool const exists = part.indexed && k < updates && check_index(row, Axis, along);
    bool const own = (static_cast<uint32_t>(row) >> strip_bits & static_cast<uint32_t>(classes - 1)) ==
                     static_cast<uint32_t>(part.own);
    return exists && own ? row : -1;
  }

 private:
  TILEFOUNDRY_DEVICE void copy(Part& part) const {
    constexpr int depth = sizeof(Elements) < 16 ? 8 : 4;  // packs in flight
    if (!part.active) return;
    int64_t const step = classes << strip_bits;
    for (int64_t row = (part.own << strip_bits) + part.lane / width; row < along; row += depth * step) {
      Elements packs[depth];
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < depth; ++j) {
        part.at[Axis] = row + j * step;
        if (part.at[Axis] < along) packs[j] = dst.template load<N>(part.at);
      }
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < depth; ++j) {
        part.at[Axis] = row + j * step;
        if (part.at[Axis] < along) out.store(part.at, packs[j]);
      }
    }
  }

  /// By an instance of its own.
  TILEFOUNDRY_DEVICE void update_alone(Part& part) const {
    Held held{out};
    if (!part.indexed) return;
    for (int64_t k = 0; k < updates; ++k) {
      part.at[Axis] = k;
      int64_t const row = row_in_class(part, k, index_at<Axis>(index, part.at));
      if (row < 0) continue;
      Elements const update = src.template load<N>(part.at);
      held.template update<Apply>(row, update, part.at);
    }
    held.put_back(part.at);
  }
};

template <int N, class Apply, int Axis, class Dst, class Index, class Src, class Out>
TILEFOUNDRY_DEVICE void update_columns(Dst const& dst, Index const& index, Src const& src, Out const& out,
                                       Share const& share) {
  using Update = WindowUpdate<N, Apply, Axis, Dst, Index, Src, Out>;
  Update(dst, index, src, out, share.step / Update::lanes, cute::make_seq<Out::rank>{}).run(share);
}

template <class Apply, int Axis, class Dst, class Index, class Src, class Out>
TILEFOUNDRY_DEVICE void update_windows(Dst const& dst, Index const& index, Src const& src, Out const& out,
                                       Share const& share) {
  static_assert(
      is_window<Dst>::value && is_window<Index>::value && is_window<Src>::value && is_window<Out>::value,
      "ops::index_add, index_copy: operands are windows (make_window)");
  static_assert(Dst::rank == Out::rank && Src::rank == Out::rank && Axis < Out::rank,
                "ops::index_add, index_copy: dst, src and out have one rank");
  if constexpr (Index::rank == 1 && Axis != Out::rank - 1) {
    constexpr int n = smaller(Out::pack(), smaller(Dst::pack(), Src::pack()));
    if constexpr (n > 1) {
      if (out.template extent<Out::rank - 1>() % n == 0 && out.aligned(n) && dst.aligned(n) &&
          src.aligned(n)) {
        update_columns<n, Apply, Axis>(dst, index, src, out, share);
        return;
      }
    }
  }
  update_columns<1, Apply, Axis>(dst, index, src, out, share);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
