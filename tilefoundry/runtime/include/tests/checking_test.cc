// Checking mode: every planted fault is found and named, and what is right is not.
#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// Registers to shared memory, a barrier, and every row's mirror image from there to the output.
template <class Barrier>
void mirror(Arguments& a, Barrier const& barrier) {
  auto r = fragment("r");
  ops::iota(r, Int<1>{}, 0.f, 1.f);
  copy(r, view(tile(), Logical{}, InMemory{}));
  barrier();
  auto mirrored = fragment("mirrored");
  copy(mirror_image(tile()), mirrored);
  auto out = a.spread(a.result());
  copy(mirrored, out);
}

TEST(Checking, CleanKernelsReportNothing) {
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { mirror(a, [] { ops::sync<SyncKind::cta>(); }); }), "");
  // Lanes that meet in their own warp need no more.
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { mirror(a, [] { ops::sync<SyncKind::warp>(); }); }), "");
  EXPECT_EQ(
      finding(1, kBytes, [](Arguments& a) { mirror(a, [] { ops::sync<SyncKind::named, 0, 128, 0, 1>(); }); }),
      "");
  // Replicas: several CTAs, and several instances, write the same values.
  EXPECT_EQ(finding(3, kBytes, [](Arguments& a) { mirror(a, [] { ops::sync<SyncKind::cta>(); }); }), "");
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      for (int i = 0; i < 128; ++i) tile().data()[i] = static_cast<float>(i);
                      for (int i = 0; i < 128; ++i)
                        a.result().data()[i] = tile().data()[i] + a.in().data()[i];
                    }),
            "");
}

TEST(Checking, MissingBarrier) {
  std::string const found = finding(1, kBytes, [](Arguments& a) { mirror(a, [] {}); });
  EXPECT_EQ(
      found,
      "uninitialised read in copy: instance (cta 0, thread 0) reads 'tile'(0, 31), which nobody has written "
      "before it; without a barrier, others write later");
  // Deterministic.
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { mirror(a, [] {}); }), found);
}

TEST(Checking, MissingBarrierAfterThat) {
  // The tile is written again while slower instances may still read it.
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      mirror(a, [] { ops::sync<SyncKind::cta>(); });
                      ops::fill(view(tile(), Logical{}, InMemory{}), 7.f);
                    }),
            "race in copy: instance (cta 0, thread 16) reads 'tile'(0, 15), which instance (cta 0, thread "
            "15) writes, "
            "and no barrier lies between the two");
}

TEST(Checking, BarrierOfFewerInstances) {
  auto const across_warps = [](Arguments& a, auto const& barrier) {
    auto r = fragment("r");
    ops::iota(r, Int<1>{}, 0.f, 1.f);
    copy(r, view(tile(), Logical{}, InMemory{}));
    barrier();
    a.result().data()[thread()] = tile().data()[(thread() + 32) % 128];
  };
  EXPECT_EQ(finding(1, kBytes, [&](Arguments& a) { across_warps(a, [] { ops::sync<SyncKind::cta>(); }); }),
            "");
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      across_warps(a, [] {
                        ops::sync<SyncKind::warp>();
                        ops::sync<SyncKind::warp>();
                      });
                    }),
            "race in the kernel's body: instance (cta 0, thread 30) reads 'tile'(1, 30), which instance (cta "
            "0, thread "
            "62) writes, and no barrier lies between the two");
  // Two warps meet; the third, which they do not meet, has written in good time all the same.
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      if (thread() >= 64) tile().data()[thread()] = 1.f;
                      ops::sync<SyncKind::warp>();
                      ops::sync<SyncKind::named, 0, 64, 0, 1>();
                      if (thread() < 64) a.result().data()[thread()] = tile().data()[thread() + 64];
                    }),
            "race in the kernel's body: instance (cta 0, thread 62) reads 'tile'(3, 30), which instance (cta "
            "0, thread "
            "126) writes, and no barrier lies between the two");
  // What a warp learns of another by a barrier, it passes on by the next.
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      if (thread() < 32) tile().data()[thread()] = 1.f;
                      ops::sync<SyncKind::named, 0, 64, 0, 1>();
                      ops::sync<SyncKind::named, 32, 64, 0, 2>();
                      if (thread() >= 64 && thread() < 96)
                        a.result().data()[thread()] = tile().data()[thread() - 64];
                      a.result().data()[thread()] = 0.f;
                    }),
            "");
}

TEST(Checking, ViewsThatLeaveTheirTensor) {
  auto const shifted = [](auto tensor, int by) {
    return view(cute::make_tensor(tensor.data() + by, tensor.layout()), Logical{}, InMemory{});
  };
  EXPECT_EQ(finding(1, 0,
                    [&](Arguments& a) {
                      auto r = fragment("r");
                      copy(shifted(a.in(), 1), r);
                    }),
            "out of bounds in copy: instance (cta 0, thread 127) reads 'x'(4, 0), which is outside of the "
            "shape (4, 32)");
  EXPECT_EQ(finding(1, 0, [&](Arguments& a) { ops::fill(shifted(a.result(), -1), 0.f); }),
            "out of bounds in fill: instance (cta 0, thread 0) writes 'out'(-1, 31), which is outside of the "
            "shape (4, "
            "32)");
  EXPECT_EQ(finding(1, kBytes, [&](Arguments&) { ops::fill(shifted(tile().engine, 1), 0.f); }),
            "out of bounds in fill: instance (cta 0, thread 127) writes 'tile' at element 128, which is "
            "outside of the "
            "shape (4, 32)");
  EXPECT_EQ(finding(1, kBytes - 1, [&](Arguments&) { tile(); }),
            "out of bounds: 'tile' takes bytes 0 to 512 of the 511 bytes of shared memory that the CTA was "
            "launched "
            "with");
}

TEST(Checking, GapsBetweenRowsAreOutside) {
  float data[4 * 40] = {};
  launch(1, 0, [&] {
    GlobalArg<2> const arg{data, {4, 32}, {40, 1}};
    auto const tensor = global_tensor<float, false>(arg, make_shape(Int<4>{}, Int<32>{}));
    EXPECT_EQ(static_cast<float>(tensor(3, 31)), 0.f);
    EXPECT_THROW(static_cast<void>(static_cast<float>(tensor(0, 32))), Finding);
  });
}

TEST(Checking, GapsOfTilesAreOutside) {
  using Padded = cute::Layout<Shape<_4, Int<32>>, Stride<Int<33>, _1>>;
  auto const rows = [](Arguments& a, int by) {
    auto const t = shared_tensor<float>(cta_shared(), Logical{}, Padded{}, "padded");
    auto const padded = view(cute::make_tensor(t.engine.data() + by, t.engine.layout()), Logical{},
                             Spread<Stride<Int<33>, _1>>{});
    ops::fill(padded, 1.f);
    copy(padded, a.spread(a.result()));
  };
  EXPECT_EQ(finding(1, 1024, [&](Arguments& a) { rows(a, 0); }), "");
  EXPECT_EQ(finding(1, 1024, [&](Arguments& a) { rows(a, 1); }),
            "out of bounds in fill: instance (cta 0, thread 31) writes 'padded' at element 32, which is "
            "outside of the shape (4, 32)");
}

TEST(Checking, WindowsOfASignalOverlap) {
  float x[16] = {}, out[12];
  for (int64_t stride : {1, 2, 3, 5}) {  // of 4 windows of 3 elements
    int64_t const shape[] = {4, 3},
                  strides[] = {stride, stride == 5   ? 0
                                       : stride == 3 ? 2
                                                     : 1},
                  rows[] = {3, 1};
    Call call;
    call.add("x", x, sizeof(float), 2, shape, strides, Role::input);
    call.add("out", out, sizeof(float), 2, shape, rows, Role::output);
    call.begin();
    launch(1, 0, [&] {
      auto const in = global_tensor<float, false>(GlobalArg<2>{x, {4, 3}, {stride, strides[1]}},
                                                  make_shape(Int<4>{}, Int<3>{}));
      auto const result =
          global_tensor<float, false>(GlobalArg<2>{out, {4, 3}, {3, 1}}, make_shape(Int<4>{}, Int<3>{}));
      if (thread() < 12)
        result(thread() / 3, thread() % 3) = static_cast<float>(in(thread() / 3, thread() % 3));
    });
    EXPECT_NO_THROW(call.finish()) << stride;
  }
}

TEST(Checking, WhatItCannotFollowIsRefused) {
  float x[4] = {};
  int64_t const shape[] = {2, 2}, reversed[] = {2, -1}, ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  auto const refusal = [&](int rank, int64_t const* extents, int64_t const* strides) -> std::string {
    Call call;
    try {
      call.add("x", x + 1, sizeof(float), rank, extents, strides, Role::input);
    } catch (std::invalid_argument const& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(
      refusal(2, shape, reversed),
      "checked::Call: 'x': expected a rank up to 8 and strides that are not negative, got strides (2, -1); "
      "describe the memory that it is a view of");
  EXPECT_NE(refusal(9, ones, ones), "");
  EXPECT_EQ(refusal(8, ones, ones), "");
}

// Kernels that are given parts of what the call describes, or its elements in another shape.
TEST(Checking, ViewsOfArgumentsShareTheirMemory) {
  auto const part = [](float* data, int64_t count) {
    return global_tensor<float, false>(GlobalArg<1>{data, {count}, {1}}, make_shape(count));
  };
  auto const halves = [&](int first) {
    return finding_of([&](Arguments& a) {
      for (int half = first; half < 2; ++half) {
        launch(1, 0, [&] {
          if (thread() < 64) part(a.out + 64 * half, 64)(thread()) = 1.f;
        });
      }
    });
  };
  EXPECT_EQ(halves(0), "");
  EXPECT_EQ(halves(1),
            "unwritten output: 64 of 128 elements of 'out' were never written, the first is 'out'(0, 0)");
  EXPECT_EQ(finding(1, 0, [&](Arguments& a) { part(a.out, 64)(1) = part(a.out + 64, 64)(thread() / 2); }),
            "uninitialised read in the kernel's body: instance (cta 0, thread 0) reads 'out'(2, 0), which "
            "nobody has written");
  EXPECT_EQ(finding(1, 0, [&](Arguments& a) { part(a.out, 64)(thread()) = 1.f; }),
            "out of bounds in the kernel's body: instance (cta 0, thread 64) writes 'out'(2, 0), which is "
            "outside of the shape (64,) of a view of it");
  float undescribed[129] = {};
  auto const shift = [&] {
    launch(1, 0, [&] {
      float const x = part(undescribed, 128)(thread());
      part(undescribed + 1, 128)(thread()) = x + 1;
    });
  };
  EXPECT_THROW(shift(), Finding);
}

TEST(Checking, UninitialisedReads) {
  EXPECT_EQ(
      finding(1, 0,
              [](Arguments& a) {
                auto r = fragment("r"), sum = fragment("sum");
                ops::binary(op::add{}, r, 1.f, sum);
                copy(sum, view(a.result(), Logical{}, InMemory{}));
              }),
      "uninitialised read in binary: instance (cta 0, thread 0) reads 'r'(0, 0), which nobody has written");
  EXPECT_EQ(
      finding(1, 0,
              [](Arguments& a) {
                auto r = fragment("r");
                copy(a.spread(a.result()), r);
              }),
      "uninitialised read in copy: instance (cta 0, thread 0) reads 'out'(0, 0), which nobody has written");
}

TEST(Checking, UnwrittenOutput) {
  EXPECT_EQ(finding(1, 0,
                    [](Arguments& a) {
                      if (thread() >= 96) return;
                      a.result().data()[thread()] = 1.f;
                    }),
            "unwritten output: 32 of 128 elements of 'out' were never written, the first is 'out'(3, 0)");
}

TEST(Checking, WritesOfDifferentValues) {
  EXPECT_EQ(
      finding(2, 0,
              [](Arguments& a) { ops::fill(a.spread(a.result()), program_id<TopologyScope::cta>() + 1.f); }),
      "conflicting writes in fill: instance (cta 1, thread 0) writes 'out'(0, 0), to which instance (cta 0, "
      "thread 0) wrote another value, and no barrier lies between the two");
  EXPECT_EQ(
      finding(1, 0, [](Arguments& a) { a.result().data()[thread() / 2] = static_cast<float>(thread()); }),
      "conflicting writes in the kernel's body: instance (cta 0, thread 1) writes 'out'(0, 0), to which "
      "instance "
      "(cta 0, thread 0) wrote another value, and no barrier lies between the two");
}

TEST(Checking, CtasDoNotWaitForEachOther) {
  EXPECT_EQ(finding(2, 0,
                    [](Arguments& a) {
                      auto r = fragment("r");
                      if (program_id<TopologyScope::cta>() == 0) {
                        ops::fill(a.spread(a.result()), 1.f);
                      } else {
                        copy(a.spread(a.result()), r);
                      }
                    }),
            "race in copy: instance (cta 1, thread 0) reads 'out'(0, 0), which instance (cta 0, thread 0) "
            "writes, and no "
            "barrier lies between the two");
  EXPECT_EQ(finding(2, 0,
                    [](Arguments& a) {
                      auto r = fragment("r");
                      copy(a.spread(a.in()), r);
                      if (program_id<TopologyScope::cta>() == 1) ops::fill(a.spread(a.in()), 1.f);
                    }),
            "race in fill: instance (cta 1, thread 0) writes 'x'(0, 0), which instance (cta 0, thread 0) "
            "reads, and no "
            "barrier lies between the two");
}

TEST(Checking, LaunchesAreOrdered) {
  Arguments a;
  Call call;
  call.add("x", a.x, sizeof(float), 2, a.shape, a.strides, Role::input);
  call.add("out", a.out, sizeof(float), 2, a.shape, a.strides, Role::output);
  call.begin();
  launch(2, 0, [&] { ops::fill(a.spread(a.result()), 1.f); });
  launch(1, 0, [&] { ops::binary(op::add{}, a.spread(a.result()), a.spread(a.in()), a.spread(a.result())); });
  call.finish();
  EXPECT_EQ(a.out[5], 1.f);
}

TEST(Checking, SwizzledTilesAreNamedByTheirCoordinates) {
  using Wide = RowMajor<8, 32>;
  EXPECT_EQ(finding(1, 1024,
                    [](Arguments&) {
                      auto const t =
                          shared_tensor<float, cute::Swizzle<3, 4, 3>>(cta_shared(), Wide{}, Wide{}, "t");
                      auto const at = t.data() + detail::swizzled<decltype(t)>(3 * 32 + 7);
                      at[0] = static_cast<float>(thread());
                    }),
            "conflicting writes in the kernel's body: instance (cta 0, thread 1) writes 't'(3, 7), to which "
            "instance "
            "(cta 0, thread 0) wrote another value, and no barrier lies between the two");
}

TEST(Checking, OtherFailuresStayWhatTheyAre) {
  EXPECT_THROW(finding(1, 0,
                       [](Arguments&) {
                         auto r = register_tensor<int>(Logical{}, InRegisters{});
                         ops::fill(r, 0);
                         ops::binary(op::floor_div{}, r, r, r);
                       }),
               std::runtime_error);
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
