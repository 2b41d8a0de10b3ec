// The instructions wgmma.mma_async m64nNk16 with f32 accumulation, f16 or bf16 operands: B from shared
// memory, A from shared memory or registers. Written out here, because CuTe's header of all shapes costs
// seconds of every compile.
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

#define TILEFOUNDRY_D4(i) \
  "+f"(d[At::at(i)]), "+f"(d[At::at(i + 1)]), "+f"(d[At::at(i + 2)]), "+f"(d[At::at(i + 3)])
#define TILEFOUNDRY_D8(i) TILEFOUNDRY_D4(i), TILEFOUNDRY_D4(i + 4)
#define TILEFOUNDRY_D16(i) TILEFOUNDRY_D8(i), TILEFOUNDRY_D8(i + 8)
#define TILEFOUNDRY_D32(i) TILEFOUNDRY_D16(i), TILEFOUNDRY_D16(i + 16)
#define TILEFOUNDRY_D48(i) TILEFOUNDRY_D32(i), TILEFOUNDRY_D16(i + 32)
#define TILEFOUNDRY_D64(i) TILEFOUNDRY_D32(i), TILEFOUNDRY_D32(i + 32)
#define TILEFOUNDRY_D96(i) TILEFOUNDRY_D64(i), TILEFOUNDRY_D32(i + 64)
#define TILEFOUNDRY_D128(i) TILEFOUNDRY_D64(i), TILEFOUNDRY_D64(i + 64)

#define TILEFOUNDRY_R4 "%0,%1,%2,%3"
#define TILEFOUNDRY_R8 TILEFOUNDRY_R4 ",%4,%5,%6,%7"
#define TILEFOUNDRY_R16 TILEFOUNDRY_R8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define TILEFOUNDRY_R32 TILEFOUNDRY_R16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define TILEFOUNDRY_R48 TILEFOUNDRY_R32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define TILEFOUNDRY_R64 TILEFOUNDRY_R48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TILEFOUNDRY_R80 TILEFOUNDRY_R64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define TILEFOUNDRY_R96 TILEFOUNDRY_R80 ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define TILEFOUNDRY_R112 \
  TILEFOUNDRY_R96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define TILEFOUNDRY_R128 \
  TILEFOUNDRY_R112 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// Whether to add to d is a run-time predicate; the signs of A and B are kept. f16 and bf16 differ in the type
// alone.
#define TILEFOUNDRY_WGMMA_ASM(N, C, type, tail, ...)                                                   \
  asm volatile(                                                                                        \
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                                                       \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type " {" TILEFOUNDRY_R##C "}, " tail \
                                                                                            ";\n}"     \
      : TILEFOUNDRY_D##C(0)                                                                            \
      : __VA_ARGS__)

// C accumulators of an instance; the numbers after it are the operands that follow them.
#define TILEFOUNDRY_WGMMA(N, C, p0, p1, p2, p3, p4, p5)                                               \
  template <>                                                                                         \
  struct Wgmma<N> {                                                                                   \
    template <class T, bool TransposeA, bool TransposeB, class At>                                    \
    TILEFOUNDRY_DEVICE static void shared(float* d, uint64_t a, uint64_t b) {                         \
      if constexpr (std::is_same<T, cute::half_t>::value) {                                           \
        TILEFOUNDRY_WGMMA_ASM(N, C, "f16", p0 ", " p1 ", p, 1, 1, " p2 ", " p3, "l"(a), "l"(b),       \
                              "n"(TransposeA), "n"(TransposeB));                                      \
      } else {                                                                                        \
        TILEFOUNDRY_WGMMA_ASM(N, C, "bf16", p0 ", " p1 ", p, 1, 1, " p2 ", " p3, "l"(a), "l"(b),      \
                              "n"(TransposeA), "n"(TransposeB));                                      \
      }                                                                                               \
    }                                                                                                 \
    template <class T, bool TransposeB, class At>                                                     \
    TILEFOUNDRY_DEVICE static void registers(float* d, uint32_t const (&a)[4], uint64_t b) {          \
      if constexpr (std::is_same<T, cute::half_t>::value) {                                           \
        TILEFOUNDRY_WGMMA_ASM(N, C, "f16", "{" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", p, 1, 1, " p5,  \
                              "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TransposeB));   \
      } else {                                                                                        \
        TILEFOUNDRY_WGMMA_ASM(N, C, "bf16", "{" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", p, 1, 1, " p5, \
                              "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TransposeB));   \
      }                                                                                               \
    }                                                                                                 \
  };

TILEFOUNDRY_WGMMA(8, 4, "%4", "%5", "%6", "%7", "%8", "%9")
TILEFOUNDRY_WGMMA(16, 8, "%8", "%9", "%10", "%11", "%12", "%13")
TILEFOUNDRY_WGMMA(32, 16, "%16", "%17", "%18", "%19", "%20", "%21")
TILEFOUNDRY_WGMMA(64, 32, "%32", "%33", "%34", "%35", "%36", "%37")
TILEFOUNDRY_WGMMA(96, 48, "%48", "%49", "%50", "%51", "%52", "%53")
TILEFOUNDRY_WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")
TILEFOUNDRY_WGMMA(192, 96, "%96", "%97", "%98", "%99", "%100", "%101")
TILEFOUNDRY_WGMMA(256, 128, "%128", "%129", "%130", "%131", "%132", "%133")

#undef TILEFOUNDRY_WGMMA
#undef TILEFOUNDRY_WGMMA_ASM
// clang-format off
#undef TILEFOUNDRY_D4
#undef TILEFOUNDRY_D8
#undef TILEFOUNDRY_D16
#undef TILEFOUNDRY_D32
#undef TILEFOUNDRY_D48
#undef TILEFOUNDRY_D64
#undef TILEFOUNDRY_D96
#undef TILEFOUNDRY_D128
#undef TILEFOUNDRY_R4
#undef TILEFOUNDRY_R8
#undef TILEFOUNDRY_R16
#undef TILEFOUNDRY_R32
#undef TILEFOUNDRY_R48
#undef TILEFOUNDRY_R64
#undef TILEFOUNDRY_R80
#undef TILEFOUNDRY_R96
#undef TILEFOUNDRY_R112
#undef TILEFOUNDRY_R128
// clang-format on

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
