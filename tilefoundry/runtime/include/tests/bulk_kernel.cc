// The kernel of bulk_body.h for the CPU.
#include "bulk_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace bulkcheck {

extern "C" void bulk_on_cpu(void const* args, bool vector) {
  cpu::launch<kCollective>(1, kThreads, kSharedBytes, [&] {
    auto const& a = *static_cast<Args const*>(args);
    constexpr auto maps = cute::make_seq<kMapCount>{};
    vector ? body<true>(a, maps) : body<false>(a, maps);
  });
}

}  // namespace bulkcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
