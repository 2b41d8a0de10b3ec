// The instructions wgmma.mma_async m64nN over 32 bytes of the reduced axis: B from shared memory, A from
// shared memory or, for 16-bit elements, registers; f32 accumulation, i32 for i8. Written out here, because
// CuTe's header of all shapes costs seconds of every compile.
#pragma once

#include <tilefoundry/runtime/core/functors.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// d[At::at(i)] += A B for i < N / 2: register i is element (16 w + g + 8 (i / 2 % 2), 8 (i / 4) + 2 t + i %
/// 2) of the block, for warp w of the warpgroup, quad row g and quad column t (PTX ISA, wgmma fragment
/// layouts).
template <int N>
struct Wgmma;

#define TILEFOUNDRY_D4(as, i) \
  as(d[At::at(i)]), as(d[At::at(i + 1)]), as(d[At::at(i + 2)]), as(d[At::at(i + 3)])
#define TILEFOUNDRY_D8(as, i) TILEFOUNDRY_D4(as, i), TILEFOUNDRY_D4(as, i + 4)
#define TILEFOUNDRY_D16(as, i) TILEFOUNDRY_D8(as, i), TILEFOUNDRY_D8(as, i + 8)
#define TILEFOUNDRY_D32(as, i) TILEFOUNDRY_D16(as, i), TILEFOUNDRY_D16(as, i + 16)
#define TILEFOUNDRY_D48(as, i) TILEFOUNDRY_D32(as, i), TILEFOUNDRY_D16(as, i + 32)
#define TILEFOUNDRY_D56(as, i) TILEFOUNDRY_D48(as, i), TILEFOUNDRY_D8(as, i + 48)
#define TILEFOUNDRY_D64(as, i) TILEFOUNDRY_D32(as, i), TILEFOUNDRY_D32(as, i + 32)
#define TILEFOUNDRY_D72(as, i) TILEFOUNDRY_D64(as, i), TILEFOUNDRY_D8(as, i + 64)
#define TILEFOUNDRY_D80(as, i) TILEFOUNDRY_D64(as, i), TILEFOUNDRY_D16(as, i + 64)
#define TILEFOUNDRY_D88(as, i) TILEFOUNDRY_D80(as, i), TILEFOUNDRY_D8(as, i + 80)
#define TILEFOUNDRY_D96(as, i) TILEFOUNDRY_D64(as, i), TILEFOUNDRY_D32(as, i + 64)
#define TILEFOUNDRY_D128(as, i) TILEFOUNDRY_D64(as, i), TILEFOUNDRY_D64(as, i + 64)

#define TILEFOUNDRY_R4 "%0,%1,%2,%3"
#define TILEFOUNDRY_R8 TILEFOUNDRY_R4 ",%4,%5,%6,%7"
#define TILEFOUNDRY_R16 TILEFOUNDRY_R8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define TILEFOUNDRY_R32 TILEFOUNDRY_R16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define TILEFOUNDRY_R48 TILEFOUNDRY_R32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define TILEFOUNDRY_R56 TILEFOUNDRY_R48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define TILEFOUNDRY_R64 TILEFOUNDRY_R56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define TILEFOUNDRY_R72 TILEFOUNDRY_R64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define TILEFOUNDRY_R80 TILEFOUNDRY_R72 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define TILEFOUNDRY_R88 TILEFOUNDRY_R80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define TILEFOUNDRY_R96 TILEFOUNDRY_R88 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define TILEFOUNDRY_R112 \
  TILEFOUNDRY_R96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define TILEFOUNDRY_R128 \
  TILEFOUNDRY_R112 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// Whether to add to d is a run-time predicate; the signs of floating point A and B are kept (1, 1).
#define TILEFOUNDRY_WGMMA_ASM(N, C, as, k, types, tail, ...)                                     \
  asm volatile(                                                                                  \
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                                                 \
      "wgmma.mma_async.sync.aligned.m64n" #N k "." types " {" TILEFOUNDRY_R##C "}, " tail ";\n}" \
      : TILEFOUNDRY_D##C(as, 0)                                                                  \
      : __VA_ARGS__)

// Operands in shared memory of 16-bit elements, which may be transposed, and of others, which may not; A in
// registers.
#define TILEFOUNDRY_WGMMA_16(N, C, type, p0, p1, p2, p3)                                              \
  TILEFOUNDRY_WGMMA_ASM(N, C, "+f", "k16", "f32." type "." type, p0 ", " p1 ", p, 1, 1, " p2 ", " p3, \
                        "l"(a), "l"(b), "n"(TransposeA), "n"(TransposeB))
#define TILEFOUNDRY_WGMMA_OTHER(N, C, as, k, types, signs, p0, p1) \
  TILEFOUNDRY_WGMMA_ASM(N, C, as, k, types, p0 ", " p1 ", p" signs, "l"(a), "l"(b))
#define TILEFOUNDRY_WGMMA_REGISTERS(N, C, type, p0, p1, p2, p3, p4, p5)                                 \
  TILEFOUNDRY_WGMMA_ASM(N, C, "+f", "k16", "f32." type "." type,                                        \
                        "{" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", p, 1, 1, " p5, "r"(a[0]), "r"(a[1]), \
                        "r"(a[2]), "r"(a[3]), "l"(b), "n"(TransposeB))

// C accumulators of an instance; the numbers after it are the operands that follow them.
#define TILEFOUNDRY_WGMMA(N, C, p0, p1, p2, p3, p4, p5)                                      \
  template <>                                                                                \
  struct Wgmma<N> {                                                                          \
    template <class T, bool TransposeA, bool TransposeB, class At, class D>                  \
    TILEFOUNDRY_DEVICE static void shared(D* d, uint64_t a, uint64_t b) {                    \
      if constexpr (std::is_same<T, cute::half_t>::value) {                                  \
        TILEFOUNDRY_WGMMA_16(N, C, "f16", p0, p1, p2, p3);                                   \
      } else if constexpr (std::is_same<T, cute::bfloat16_t>::value) {                       \
        TILEFOUNDRY_WGMMA_16(N, C, "bf16", p0, p1, p2, p3);                                  \
      } else if constexpr (std::is_same<T, cute::tfloat32_t>::value) {                       \
        TILEFOUNDRY_WGMMA_OTHER(N, C, "+f", "k8", "f32.tf32.tf32", ", 1, 1", p0, p1);        \
      } else if constexpr (std::is_same<T, cute::float_e4m3_t>::value) {                     \
        TILEFOUNDRY_WGMMA_OTHER(N, C, "+f", "k32", "f32.e4m3.e4m3", ", 1, 1", p0, p1);       \
      } else if constexpr (std::is_same<T, cute::float_e5m2_t>::value) {                     \
        TILEFOUNDRY_WGMMA_OTHER(N, C, "+f", "k32", "f32.e5m2.e5m2", ", 1, 1", p0, p1);       \
      } else {                                                                               \
        TILEFOUNDRY_WGMMA_OTHER(N, C, "+r", "k32", "s32.s8.s8", "", p0, p1);                 \
      }                                                                                      \
    }                                                                                        \
    template <class T, bool TransposeB, class At>                                            \
    TILEFOUNDRY_DEVICE static void registers(float* d, uint32_t const (&a)[4], uint64_t b) { \
      if constexpr (std::is_same<T, cute::half_t>::value) {                                  \
        TILEFOUNDRY_WGMMA_REGISTERS(N, C, "f16", p0, p1, p2, p3, p4, p5);                    \
      } else {                                                                               \
        TILEFOUNDRY_WGMMA_REGISTERS(N, C, "bf16", p0, p1, p2, p3, p4, p5);                   \
      }                                                                                      \
    }                                                                                        \
  };

TILEFOUNDRY_WGMMA(8, 4, "%4", "%5", "%6", "%7", "%8", "%9")
TILEFOUNDRY_WGMMA(16, 8, "%8", "%9", "%10", "%11", "%12", "%13")
TILEFOUNDRY_WGMMA(32, 16, "%16", "%17", "%18", "%19", "%20", "%21")
TILEFOUNDRY_WGMMA(64, 32, "%32", "%33", "%34", "%35", "%36", "%37")
TILEFOUNDRY_WGMMA(96, 48, "%48", "%49", "%50", "%51", "%52", "%53")
TILEFOUNDRY_WGMMA(112, 56, "%56", "%57", "%58", "%59", "%60", "%61")
TILEFOUNDRY_WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")
TILEFOUNDRY_WGMMA(144, 72, "%72", "%73", "%74", "%75", "%76", "%77")
TILEFOUNDRY_WGMMA(160, 80, "%80", "%81", "%82", "%83", "%84", "%85")
TILEFOUNDRY_WGMMA(176, 88, "%88", "%89", "%90", "%91", "%92", "%93")
TILEFOUNDRY_WGMMA(192, 96, "%96", "%97", "%98", "%99", "%100", "%101")
TILEFOUNDRY_WGMMA(256, 128, "%128", "%129", "%130", "%131", "%132", "%133")

#undef TILEFOUNDRY_WGMMA
#undef TILEFOUNDRY_WGMMA_16
#undef TILEFOUNDRY_WGMMA_OTHER
#undef TILEFOUNDRY_WGMMA_REGISTERS
#undef TILEFOUNDRY_WGMMA_ASM
// clang-format off
#undef TILEFOUNDRY_D4
#undef TILEFOUNDRY_D8
#undef TILEFOUNDRY_D16
#undef TILEFOUNDRY_D32
#undef TILEFOUNDRY_D48
#undef TILEFOUNDRY_D56
#undef TILEFOUNDRY_D64
#undef TILEFOUNDRY_D72
#undef TILEFOUNDRY_D80
#undef TILEFOUNDRY_D88
#undef TILEFOUNDRY_D96
#undef TILEFOUNDRY_D128
#undef TILEFOUNDRY_R4
#undef TILEFOUNDRY_R8
#undef TILEFOUNDRY_R16
#undef TILEFOUNDRY_R32
#undef TILEFOUNDRY_R48
#undef TILEFOUNDRY_R56
#undef TILEFOUNDRY_R64
#undef TILEFOUNDRY_R72
#undef TILEFOUNDRY_R80
#undef TILEFOUNDRY_R88
#undef TILEFOUNDRY_R96
#undef TILEFOUNDRY_R112
#undef TILEFOUNDRY_R128
// clang-format on

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
