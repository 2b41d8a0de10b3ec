// One attention kernel for the CPU, as a generated unit: the body and a thin wrapper. TEST_NAME is its
// symbol's stem.
#include "attention_body.h"

#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace attention {

extern "C" void TEST_CAT(TEST_NAME, __vector)(void const* args, int64_t grid) {
  cpu::launch<kCollective>(grid, kThreads, kSharedBytes,
                           [&] { body<true>(*static_cast<Args const*>(args)); });
}
extern "C" void TEST_CAT(TEST_NAME, __general)(void const* args, int64_t grid) {
  cpu::launch<kCollective>(grid, kThreads, kSharedBytes,
                           [&] { body<false>(*static_cast<Args const*>(args)); });
}

}  // namespace attention
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
