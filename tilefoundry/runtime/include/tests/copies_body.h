// A kernel that copies views of every kind by ops::copy_async and ops::copy_n on both targets, and records
// the shared memory byte for byte.
#include <tilefoundry/runtime.h>

#include "copies_cases.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::cta>() noexcept {
  return cute::Shape<cute::Int<copycheck_sizes::kCtas>>{};
}
namespace copycheck {
using namespace cute;
using namespace copycheck_sizes;
using shard::B;
using shard::S;

struct Args {
  GlobalArg<1> in;   // bytes, at a 16-byte boundary
  GlobalArg<1> log;  // bytes, kLogBytes for each CTA
  int64_t part;      // of kPartNames
};

constexpr bool kCollective = true;
constexpr int kThreads = 128;

using Line = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>;
using Square = Mesh<Layout<Shape<_16, _8>, Stride<_8, _1>>, TopologyScope::thread>;
using Turned = Mesh<Layout<Shape<_16, _8>, Stride<_1, _16>>, TopologyScope::thread>;
using Tall = Mesh<Layout<Shape<_32, _4>, Stride<_4, _1>>, TopologyScope::thread>;
using Cube =
    Mesh<Layout<Shape<_2, _16, _8>, Stride<Int<128>, _8, _1>>, TopologyScope::cta, TopologyScope::thread>;

template <int R, int C>
using Matrix = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C>, _1>>;

/// How instances share an R x C matrix whose rows lie P apart.
template <class Mesh>
struct BlocksOf {  // of R / 16 rows and C / 8 columns
  template <int R, int C, int P>
  using In = ShardLayout<
      Layout<Shape<_16, Int<R / 16>, _8, Int<C / 8>>, Stride<Int<R / 16 * P>, Int<P>, Int<C / 8>, _1>>,
      cute::tuple<S<0>, S<2>>, Mesh>;
  template <int R, int C, int P>
  using InTile = In<R, C, P>;
};
using Blocks = BlocksOf<Square>;
using Permuted = BlocksOf<Turned>;
struct Rows {  // a row each
  template <int R, int C, int P>
  using In = ShardLayout<Layout<Shape<Int<R>, Int<C>>, Stride<Int<P>, _1>>, cute::tuple<S<0>>, Line>;
  template <int R, int C, int P>
  using InTile = In<R, C, P>;
};
struct Runs {  // C / 128 columns each
  template <int R, int C, int P>
  using In = ShardLayout<Layout<Shape<Int<R>, Int<128>, Int<C / 128>>, Stride<Int<P>, Int<C / 128>, _1>>,
                         cute::tuple<S<1>>, Line>;
  template <int R, int C, int P>
  using InTile = In<R, C, P>;
};
struct Replicas {  // four instances copy the same rows
  template <int R, int C, int P>
  using In = ShardLayout<Layout<Shape<_32, Int<R / 32>, Int<C>>, Stride<Int<R / 32 * P>, Int<P>, _1>>,
                         cute::tuple<S<0>, B>, Tall>;
  template <int R, int C, int P>
  using InTile = In<R, C, P>;
};
struct Cyclic {  // every eighth column
  template <int R, int C, int P>
  using In =
      ShardLayout<Layout<Shape<_16, Int<R / 16>, Int<C / 8>, _8>, Stride<Int<R / 16 * P>, Int<P>, _8, _1>>,
                  cute::tuple<S<0>, S<3>>, Square>;
  template <int R, int C, int P>
  using InTile = In<R, C, P>;
};
struct OverCtas {  // half of the rows in each CTA's tile
  template <int R, int C, int P, int Half>
  using Spread = ShardLayout<Layout<Shape<_2, _16, Int<R / 32>, _8, Int<C / 8>>,
                                    Stride<Int<Half>, Int<R / 32 * P>, Int<P>, Int<C / 8>, _1>>,
                             cute::tuple<S<0>, S<1>, S<3>>, Cube>;
  template <int R, int C, int P>
  using In = Spread<R, C, P, R / 2 * P>;
  template <int R, int C, int P>
  using InTile = Spread<R, C, P, 0>;
};

/// A block of (16, 64) in registers.
using Held =
    ShardLayout<Layout<Shape<_16, _1, _8, _8>, Stride<_0, _0, _0, _1>>, cute::tuple<S<0>, S<2>>, Square>;

/// Appends bytes of shared memory to the CTA's log.
struct Recorder {
  unsigned char* log;

  TILEFOUNDRY_DEVICE void operator()(int bytes) {
    auto const* const shared = reinterpret_cast<unsigned char const*>(cta_shared());
    ops::sync<SyncKind::cta>();
    for (int i = program_id<TopologyScope::thread>(); i < bytes; i += kThreads) log[i] = shared[i];
    ops::sync<SyncKind::cta>();
    log += bytes;
  }
};

TILEFOUNDRY_DEVICE void poison(int bytes) {
  auto* const shared = reinterpret_cast<unsigned char*>(cta_shared());
  for (int i = program_id<TopologyScope::thread>(); i < bytes; i += kThreads) shared[i] = kPoison;
  ops::sync<SyncKind::cta>();
}

/// R rows of the bytes as a tensor, P elements from row to row.
template <class T, bool Vector, int R, int P>
TILEFOUNDRY_DEVICE auto matrix(Args const& args) {
  GlobalArg<2> const rows{args.in.data, {R, P}, {P, 1}};
  return global_tensor<T, Vector>(rows, make_shape(Int<R>{}, Int<P>{}));
}

TILEFOUNDRY_DEVICE void wait_for_all() {
  ops::cp_async_commit();
  ops::cp_async_wait<0>();
}

/// Of what the distance of a view from the start of a row is a multiple.
TILEFOUNDRY_HOST_DEVICE constexpr int multiple(int offset) { return offset == 0 ? 16 : offset & -offset; }

template <class T, class Plan, int R, int C, int P, int Q, int Offset, bool Vector>
TILEFOUNDRY_DEVICE void check_view(Args const& args, Recorder& record) {
  constexpr int bytes = R * Q * static_cast<int>(sizeof(T)) + kGuard;
  poison(bytes);
  using Box = Matrix<R, C>;
  auto const from = tensor_from<multiple(Offset)>(matrix<T, Vector, R + 1, P>(args), Offset);
  auto const source = view(from, Box{}, typename Plan::template In<R, C, P>{});
  auto tile = shared_tensor<T>(cta_shared(), Box{}, Layout<Shape<Int<R>, Int<C>>, Stride<Int<Q>, _1>>{});
  ops::copy_async(source, view(tile, Box{}, typename Plan::template InTile<R, C, Q>{}));
  wait_for_all();
  record(bytes);
}

/// All of a tensor whose strides the run knows.
template <class T, bool Vector>
TILEFOUNDRY_DEVICE void check_whole(Args const& args, Recorder& record) {
  constexpr int bytes = 16 * 72 * static_cast<int>(sizeof(T)) + kGuard;
  poison(bytes);
  using Box = Matrix<16, 64>;
  GlobalArg<2> const rows{args.in.data, {16, 64}, {Vector ? 80 : 77, 1}};
  auto const source = global_tensor<T, Vector>(rows, make_shape(rows.shape[0], rows.shape[1]));
  auto tile = shared_tensor<T>(cta_shared(), Box{}, Layout<Shape<_16, _64>, Stride<Int<72>, _1>>{});
  auto mine = view(tile, Box{}, Blocks::InTile<16, 64, 72>{});
  ops::copy_async(source, mine);
  wait_for_all();
  record(bytes);
}

template <class T, class Order>
TILEFOUNDRY_DEVICE void check_swizzled(Args const& args, Recorder& record) {
  constexpr int bytes = 16 * 64 * static_cast<int>(sizeof(T)) + kGuard;
  poison(bytes);
  using Box = Matrix<16, 64>;
  auto tile = shared_tensor<T, Order>(cta_shared(), Box{}, Box{});
  auto const source = view(matrix<T, true, 16, 64>(args), Box{}, Blocks::In<16, 64, 64>{});
  ops::copy_async(source, view(tile, Box{}, Blocks::InTile<16, 64, 64>{}));
  wait_for_all();
  record(bytes);
}

/// The sum of kStages boxes, of which one is in flight while another one is added.
TILEFOUNDRY_DEVICE void check_stages(Args const& args, Recorder& record) {
  using Box = Matrix<16, 64>;
  auto const stage = [](int n) {
    auto tile = shared_tensor<int32_t>(cta_shared() + n % 2 * 4096, Box{}, Box{});
    return view(tile, Box{}, Blocks::InTile<16, 64, 64>{});
  };
  auto const load = [&](int n) {
    auto const from = tensor_from<16>(matrix<int32_t, true, 16 * kStages, 64>(args), n * 16 * 64);
    ops::copy_async(view(from, Box{}, Blocks::In<16, 64, 64>{}), stage(n));
  };
  auto sum = register_tensor<int32_t>(Box{}, Held{});
  auto next = register_tensor<int32_t>(Box{}, Held{});
  ops::fill(sum, 0);
  load(0);
  ops::cp_async_commit();
  for (int n = 0; n < kStages; ++n) {
    if (n + 1 < kStages) load(n + 1);
    ops::cp_async_commit();
    ops::cp_async_wait<1>();
    ops::copy_async(stage(n), next);  // at once: from shared memory
    ops::binary(op::add{}, sum, next, sum);
  }
  ops::cp_async_wait<100000>();
  ops::copy_async(sum, stage(0));  // at once: to shared memory
  record(4096);
}

template <class T, int N, bool Vector>
TILEFOUNDRY_DEVICE void check_first(Args const& args, Recorder& record) {
  constexpr int bytes = 16 * 64 * static_cast<int>(sizeof(T)) + kGuard;
  using Box = Matrix<16, 64>;
  auto const source = view(matrix<T, Vector, 16, 64>(args), Box{}, Blocks::In<16, 64, 64>{});
  auto tile = shared_tensor<T>(cta_shared(), Box{}, Box{});
  auto mine = view(tile, Box{}, Blocks::InTile<16, 64, 64>{});
  auto held = register_tensor<T>(Box{}, Held{});
  poison(bytes);
  ops::copy_n<N>(source, mine);
  record(bytes);
  poison(bytes);
  ops::copy_n<N>(source, held);
  ops::copy_n<N>(held, mine);
  record(bytes);
}

TILEFOUNDRY_DEVICE void body(Args const& args) {
  auto* const log = static_cast<unsigned char*>(args.log.data);
  Recorder record{log + program_id<TopologyScope::cta>() * kLogBytes};
#define CHECK_VIEW(T, PLAN, R, C, P, Q, OFFSET, VECTOR) \
  check_view<T, PLAN, R, C, P, Q, OFFSET, VECTOR>(args, record);
#define CHECK_SWIZZLED(T, BITS, BASE, SHIFT) check_swizzled<T, Swizzle<BITS, BASE, SHIFT>>(args, record);
#define CHECK_FIRST(T, N, VECTOR) check_first<T, N, VECTOR>(args, record);
  if (args.part == 0) {
    COPY_CASES(CHECK_VIEW)
  } else if (args.part == 1) {
    check_whole<half_t, true>(args, record);
    check_whole<half_t, false>(args, record);
    check_whole<float, false>(args, record);
    SWIZZLED_CASES(CHECK_SWIZZLED)
    check_stages(args, record);
  } else {
    FIRST_CASES(CHECK_FIRST)
  }
#undef CHECK_VIEW
#undef CHECK_SWIZZLED
#undef CHECK_FIRST
}

}  // namespace copycheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
