// Checking mode asks in every op: each is given an operand that nobody has written, and a finding names the
// op, the operand and its element.
#include <map>
#include <regex>

#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Slot = Shape<_4, Int<32>>;

auto window(char const* name, int at = 0) {
  auto const t = shared_tensor<float>(cta_shared() + at * kBytes, Logical{}, Logical{}, name);
  return make_window<Axes<0, 1>>(t, make_coord(0, 0), Slot{});
}
auto indices(int at) {
  auto const t = shared_tensor<int32_t>(cta_shared() + at * kBytes, Logical{}, Logical{}, "indices");
  return make_window<Axes<0, 1>>(t, make_coord(0, 0), Slot{});
}
auto workspace() {
  return shared_tensor<float>(cta_shared() + 2 * kBytes, RowMajor<1024>{}, RowMajor<1024>{}, "workspace");
}

/// Ops of which `r` is a fragment, or `t` a tile, that nobody has written.
std::map<std::string, std::function<void(Arguments&)>> const kOps = {
    {"unary",
     [](Arguments&) {
       auto r = fragment("r"), s = fragment("s");
       ops::unary(op::neg{}, r, s);
     }},
    {"cast",
     [](Arguments&) {
       auto r = fragment("r");
       auto s = register_tensor<cute::half_t>(Logical{}, InRegisters{}, "s");
       ops::cast(r, s);
     }},
    {"binary",
     [](Arguments&) {
       auto r = fragment("r"), s = fragment("s");
       ops::binary(op::add{}, 1.f, r, s);
     }},
    {"clamp",
     [](Arguments&) {
       auto r = fragment("r"), s = fragment("s");
       ops::clamp(r, 0.f, 1.f, s);
     }},
    {"where",
     [](Arguments&) {
       auto r = register_tensor<bool>(Logical{}, InRegisters{}, "r");
       auto s = fragment("s");
       ops::where(r, 1.f, 0.f, s);
     }},
    {"copy",
     [](Arguments&) {
       auto r = fragment("r"), s = fragment("s");
       copy(r, s);
     }},
    {"reduce",
     [](Arguments&) {
       using Row = ShardLayout<cute::Layout<Shape<_4, _1>, Stride<_0, _0>>,
                               cute::tuple<shard::S<0>, shard::B>, ThreadMesh>;
       auto r = fragment("r");
       auto s = register_tensor<float>(RowMajor<4, 1>{}, Row{}, "s");
       ops::reduce<op::sum, Axes<1>>(r, s);
     }},
    {"scan",
     [](Arguments&) {
       auto r = fragment("r"), s = fragment("s");
       ops::scan<op::sum>(r, s, _1{});
     }},
    {"transpose",
     [](Arguments&) {
       using Turned = ShardLayout<cute::Layout<Shape<Int<32>, _4>, Stride<_0, _0>>,
                                  cute::tuple<shard::S<1>, shard::S<0>>, ThreadMesh>;
       auto r = fragment("r");
       auto s = register_tensor<float>(RowMajor<32, 4>{}, Turned{}, "s");
       ops::transpose<Permutation<1, 0>>(r, s, workspace());
     }},
    {"tile_store",
     [](Arguments& a) {
       auto r = fragment("r");
       ops::tile_store(make_tile_map<Slot>(a.result()), make_coord(0, 0), r);
     }},
    {"scatter_add",
     [](Arguments& a) {
       auto r = fragment("r");
       auto at = register_tensor<int32_t>(Logical{}, InRegisters{}, "at");
       ops::fill(at, 0);
       ops::scatter_add(at, r, make_window<Axes<0, 1>>(a.in(), make_coord(0, 0), Slot{}), _0{});
     }},
    {"copy_n",
     [](Arguments& a) {
       auto r = fragment("r");
       ops::copy_n<1>(local(r), local(a.spread(a.result())));
     }},
    {"mma",
     [](Arguments&) {
       using Left = cute::Layout<Shape<Int<64>, Int<16>>, Stride<Int<16>, _1>>;
       using Right = cute::Layout<Shape<Int<16>, Int<16>>, Stride<Int<16>, _1>>;
       using Threads =
           Mesh<cute::Layout<Shape<_4, Int<8>, _4>, Stride<Int<32>, _4, _1>>, TopologyScope::thread>;
       using Sums = ShardLayout<cute::Layout<Shape<_4, cute::_2, Int<8>, cute::_2, _4, cute::_2>,
                                             Stride<_0, _4, _0, cute::_2, _0, _1>>,
                                cute::tuple<shard::S<0>, shard::S<2>, shard::S<4>>, Threads>;
       auto const right = shared_tensor<float>(cta_shared() + 4096, Right{}, Right{}, "right");
       ops::fill(view(right, RowMajor<16, 16>{},
                      ShardLayout<cute::Layout<Shape<Int<128>, cute::_2>, Stride<cute::_2, _1>>,
                                  cute::tuple<shard::S<0>>,
                                  Mesh<cute::Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>>{}),
                 0.f);
       auto const left = shared_tensor<float>(cta_shared(), Left{}, Left{}, "r");
       auto c = register_tensor<float>(RowMajor<64, 16>{}, Sums{}, "c");
       ops::fill(c, 0.f);
       ops::sync<SyncKind::cta>();
       ops::mma(left, right, c);
     }},
    {"gather",
     [](Arguments&) {
       auto at = register_tensor<int32_t>(Logical{}, InRegisters{}, "at");
       auto s = fragment("s");
       ops::fill(at, 0);
       ops::gather(window("r"), at, s, _0{});
     }},
    {"topk", [](Arguments&) { ops::topk<true>(window("r"), window("values", 1), indices(2), _1{}); }},
};

TEST(CheckingOps, EachAsksForItsOperandsAndIsNamed) {
  for (auto const& [name, op] : kOps) {
    std::regex const expected(
        "uninitialised read in " + name +
        R"(: instance \(cta 0, thread \d+\) reads 'r'\(\d+, \d+\), which nobody has written.*)");
    std::string const found = finding(1, 8192, op);
    EXPECT_TRUE(std::regex_match(found, expected)) << name << ": " << found;
  }
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
