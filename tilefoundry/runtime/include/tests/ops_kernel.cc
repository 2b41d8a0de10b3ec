// The kernel of ops_body.h for the CPU.
#include "ops_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

extern "C" void ops_on_cpu(void const* args, bool vector) {
  cpu::launch<kCollective>(1, kThreads, kSharedBytes, [&] {
    vector ? body<true>(*static_cast<Args const*>(args)) : body<false>(*static_cast<Args const*>(args));
  });
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
