// How the lanes of a warp write updates in order: they read indices together, queue the rows that are theirs,
// and write those side by side where all differ.
#pragma once

#include <tilefoundry/runtime/core/gather.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

struct Replace {
  template <class T>
  TILEFOUNDRY_DEVICE static T apply(T, T update) {
    return update;
  }
};

/// The sum, rounded to the element type.
struct AddTo {
  template <class T>
  TILEFOUNDRY_DEVICE static T apply(T value, T update) {
    return convert<T>(op::add{}(widen(value), widen(update)));
  }
};

/// value = Op(value, by), element by element.
template <class Op, class T, int N>
TILEFOUNDRY_DEVICE void apply(Pack<T, N>& value, Pack<T, N> const& by) {
  TILEFOUNDRY_UNROLL
  for (int j = 0; j < N; ++j) value.value[j] = Op::apply(value.value[j], by.value[j]);
}

/// The pack of the row that an instance wrote last, which stays in registers while updates go to that row.
template <int N, int Axis, class Out>
struct HeldRow {
  Out const& out;
  int64_t row = -1;
  Pack<typename Out::value_type, N> pack{};

  template <class Apply, int Rank>
  TILEFOUNDRY_DEVICE void update(int64_t to, Pack<typename Out::value_type, N> const& by,
                                 int64_t (&at)[Rank]) {
    if (to != row) {
      put_back(at);
      at[Axis] = row = to;
      pack = out.template load<N>(at);
    }
    detail::apply<Apply>(pack, by);
  }
  template <int Rank>
  TILEFOUNDRY_DEVICE void put_back(int64_t (&at)[Rank]) {
    if (row < 0) return;
    at[Axis] = row;
    out.store(at, pack);
    row = -1;
  }
};

TILEFOUNDRY_DEVICE unsigned low_bits(int n) { return n >= 32 ? ~0u : (1u << n) - 1; }

/// The place of the n-th bit that is set, from 0 on.
TILEFOUNDRY_DEVICE int nth_bit(unsigned bits, int n) {
  int place = 0;
  TILEFOUNDRY_UNROLL
  for (int half = 16; half > 0; half /= 2) {
    int const below = target::count_bits(bits & low_bits(half));
    if (n >= below) {
      n -= below;
      bits >>= half;
      place += half;
    }
  }
  return place;
}

/// The updates of one part (see WindowUpdate), by a team of lanes of a warp. All lanes of the warp go through
/// it together.
template <class Update>
struct TeamUpdate {
  static constexpr int lanes = Update::lanes;
  static constexpr int axis = Update::axis;
  using Elements = typename Update::Elements;
  static constexpr int most = sizeof(Elements) < 16 ? 8 : 4;  // packs that a lane moves at once

  Update const& update;
  typename Update::Part& part;
  typename Update::Held held;
  int const base;  // the team's first lane
  int queued = 0;
  // Entry `lane` of the queue: the row and the number of its update.
  int64_t row = 0, number = 0;

  TILEFOUNDRY_DEVICE TeamUpdate(Update const& u, typename Update::Part& p)
      : update(u), part(p), held{u.out}, base(target::thread_id() % target::kWarpLanes / lanes * lanes) {}

  TILEFOUNDRY_DEVICE void run() {
    constexpr int depth = 4;    // indices that a lane asks for at once, one round ahead
    target::warp_barrier(~0u);  // the rows were copied by other lanes
    constexpr int index_axis = Update::rows ? 0 : axis, index_rank = Update::rows ? 1 : Update::rank;
    int64_t at[index_rank] = {};
    TILEFOUNDRY_UNROLL
    for (int a = 0; a < index_rank; ++a) at[a] = a == index_axis ? 0 : part.at[a];
    auto const indices =
        update.index.template line<index_axis>(at, cute::make_seq<Update::index_tensor_rank>{});
    int64_t ahead[depth];
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < depth; ++j) ahead[j] = read(indices, j * lanes + part.lane);
    for (int64_t first = 0; first < update.updates; first += depth * lanes) {
      int64_t found[depth];
      bool any = false;
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < depth; ++j) {
        found[j] = update.row_in_class(part, first + j * lanes + part.lane, ahead[j]);
        any = any || found[j] >= 0;
      }
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < depth; ++j) ahead[j] = read(indices, first + (depth + j) * lanes + part.lane);
      if (!target::warp_any(any)) continue;
      TILEFOUNDRY_NO_UNROLL
      for (int j = 0; j < depth; ++j) {
        push(found[0], first + j * lanes);
        TILEFOUNDRY_UNROLL
        for (int i = 1; i < depth; ++i) found[i - 1] = found[i];
      }
    }
    drain();
    if (part.lane < update.width) held.put_back(part.at);
  }

 private:
  template <class Line>
  TILEFOUNDRY_DEVICE int64_t read(Line const& indices, int64_t k) const {
    return part.indexed ? static_cast<int64_t>(indices.load(k)) : 0;
  }

  TILEFOUNDRY_DEVICE unsigned team_bits(unsigned bits) const { return bits >> base & low_bits(lanes); }
  /// What a lane of the team passed.
  template <class T>
  TILEFOUNDRY_DEVICE T team_read(T value, int lane) const {
    return target::warp_read(value, base + lane);
  }

  /// Appends the rows that lanes found (not -1), in order; `first` is the number of lane 0's update.
  TILEFOUNDRY_DEVICE void push(int64_t found, int64_t first) {
    unsigned left = team_bits(target::warp_ballot(found >= 0));
    while (target::warp_any(left != 0)) {
      int const count = target::count_bits(left), room = lanes - queued;
      int const taken = count < room ? count : room, wanted = part.lane - queued;
      bool const gets = wanted >= 0 && wanted < taken;
      int const from = gets ? nth_bit(left, wanted) : 0;
      int64_t const passed = team_read(found, from);
      if (gets) {
        row = passed;
        number = first + from;
      }
      queued += taken;
      left = taken == count ? 0 : left & ~0u << nth_bit(left, taken);
      if (target::warp_any(queued == lanes)) drain();
    }
  }

  /// Writes what is queued. Lanes that share a column take entries in turn.
  TILEFOUNDRY_DEVICE void drain() {
    int const groups = lanes / update.width, group = part.lane / update.width;
    int const batch = update.width < most ? update.width : most, step = groups * batch;
    unsigned const same = team_bits(target::warp_match(row)) & low_bits(queued);
    for (int first = 0; target::warp_any(first < queued); first += step) {
      int64_t to[most];
      Elements by[most];
      TILEFOUNDRY_UNROLL
      for (int b = 0; b < most; ++b) {
        int const entry = first + b * groups + group;
        bool const exists = b < batch && entry < queued;
        to[b] = team_read(row, entry % lanes);
        part.at[axis] = team_read(number, entry % lanes);
        if (!exists || !part.active) {
          to[b] = -1;
        } else {
          by[b] = update.src.template load<Update::pack>(part.at);
        }
      }
      unsigned const window = low_bits(step) << first;
      bool const mine = part.lane < queued && (window >> part.lane & 1u);
      if (target::warp_any(mine && target::count_bits(same & window) > 1)) {
        in_turn(by, first, groups, batch);
      } else {
        side_by_side(to, by);
      }
    }
    queued = 0;
  }

  /// Rows that all differ.
  TILEFOUNDRY_DEVICE void side_by_side(int64_t const (&to)[most], Elements const (&by)[most]) {
    if (part.lane < update.width) held.put_back(part.at);
    target::warp_barrier(~0u);
    Elements value[most];
    TILEFOUNDRY_UNROLL
    for (int b = 0; b < most; ++b) {
      part.at[axis] = to[b];
      if (to[b] >= 0) value[b] = update.out.template load<Update::pack>(part.at);
    }
    TILEFOUNDRY_UNROLL
    for (int b = 0; b < most; ++b) {
      if (to[b] < 0) continue;
      part.at[axis] = to[b];
      detail::apply<typename Update::Op>(value[b], by[b]);
      update.out.store(part.at, value[b]);
    }
    target::warp_barrier(~0u);
  }

  /// Rows of which some are the same: one entry after the other, by the first lane of each column.
  TILEFOUNDRY_DEVICE void in_turn(Elements const (&by)[most], int first, int groups, int batch) {
    int const column = part.lane % update.width;
    TILEFOUNDRY_UNROLL
    for (int b = 0; b < most; ++b) {
      if (b >= batch) break;
      for (int group = 0; group < groups; ++group) {
        int const entry = first + b * groups + group;
        int64_t const to = team_read(row, entry % lanes);
        Elements const passed = team_read(by[b], group * update.width + column);
        if (entry < queued && part.active && part.lane < update.width) {
          held.template update<typename Update::Op>(to, passed, part.at);
        }
      }
    }
  }
};

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
