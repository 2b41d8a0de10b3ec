// A part of the ops' tests for the CPU (TEST_HEADER, TEST_NAME, and TEST_VECTOR as in ops_kernel.cu).
#define TEST_QUOTE2(x) #x
#define TEST_QUOTE(x) TEST_QUOTE2(x)
#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)
#include TEST_QUOTE(TEST_HEADER)

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

template <bool Vector>
static void run(Args const& args) {
  auto const instance = [&] {
    auto* const log = static_cast<float*>(args.log.data);
    Recorder record{log, log + args.log.shape[0]};
    body<Vector>(args, record);
  };
  if constexpr (kResident) {
    cpu::launch_resident(kGrid, kThreads, kSharedBytes, instance);
  } else {
    cpu::launch<true>(kGrid, kThreads, kSharedBytes, instance);
  }
}

extern "C" void TEST_CAT(TEST_NAME, _on_cpu)(void const* args, [[maybe_unused]] bool vector) {
  auto const& given = *static_cast<Args const*>(args);
#if TEST_VECTOR
  if (vector) return run<true>(given);
#endif
  run<false>(given);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
