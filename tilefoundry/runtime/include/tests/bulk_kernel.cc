// The kernels of bulk_body.h for the CPU.
#include "bulk_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace bulkcheck {

template <int Index>
static void run(Args const& args, bool vector) {
  cpu::launch<kCollective>(1, kThreads, kSharedBytes,
                           [&] { vector ? body<true, Index>(args) : body<false, Index>(args); });
}

template <int... Index>
static void choose(Args const& args, bool vector, int part, cute::seq<Index...>) {
  ((part == Index ? run<Index>(args, vector) : void()), ...);
}

extern "C" void bulk_on_cpu(void const* args, bool vector, int part) {
  choose(*static_cast<Args const*>(args), vector, part, cute::make_seq<kMapCount + 1>{});
}

}  // namespace bulkcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
