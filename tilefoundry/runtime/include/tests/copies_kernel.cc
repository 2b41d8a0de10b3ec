// The kernel of copies_body.h for the CPU.
#include "copies_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace copycheck {

extern "C" void copies_on_cpu(void const* args) {
  cpu::launch<kCollective>(kCtas, kThreads, kSharedBytes, [&] { body(*static_cast<Args const*>(args)); });
}

}  // namespace copycheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
