// The kernel of gemm_body.h for the CPU.
#include "gemm_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace gemm {

extern "C" void gemm_on_cpu(void const* args, bool vector, int64_t grid) {
  cpu::launch<kCollective>(grid, kThreads, kSharedBytes, [&] {
    vector ? body<true>(*static_cast<Args const*>(args)) : body<false>(*static_cast<Args const*>(args));
  });
}

}  // namespace gemm
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
