// The attention kernels on a GPU against f64. Plain C++ without GoogleTest: it also runs from an archive.
#include "attention_check.h"
#include "attention_kernels.h"
#include "device_memory.h"

using attention_check::Argument;
using attention_check::Problem;
using attention_check::Type;

#define DECLARE(name, type, d, causal) \
  extern "C" int name##__run(void const* args, int64_t grid, bool vector);
ATTENTION_KERNELS(DECLARE)
#undef DECLARE

namespace {

int failures = 0;

void check(char const* name, int (*run)(void const*, int64_t, bool), Type type, int64_t d, bool causal,
           bool vector, int64_t rows, int64_t grid) {
  Problem problem(type, 2, rows, d, causal, vector);
  DeviceCopy q(problem.q.bytes), k(problem.k.bytes), v(problem.v.bytes), out(problem.out.bytes);
  Argument const args[] = {
      problem.q.argument(q.address(problem.q.base())), problem.k.argument(k.address(problem.k.base())),
      problem.v.argument(v.address(problem.v.base())), problem.out.argument(out.address(problem.out.base()))};
  require(run(args, grid, vector), name);
  out.fetch();
  std::string const verdict = problem.verdict();
  if (verdict.empty()) return;
  ++failures;
  std::printf("%s, %d rows, grid %d, %s: %s\n", name, static_cast<int>(rows), static_cast<int>(grid),
              vector ? "vector" : "general", verdict.c_str());
}

}  // namespace

int main() {
#define CHECK(name, type, d, causal)                                                                     \
  for (int64_t rows : {1, 7, 64, 129, 333}) {                                                            \
    for (bool vector : {true, false}) check(#name, name##__run, Type::type, d, causal, vector, rows, 3); \
  }                                                                                                      \
  check(#name, name##__run, Type::type, d, causal, true, 333, 100);                                      \
  std::printf("%s done\n", #name);
  ATTENTION_KERNELS(CHECK)
#undef CHECK
  std::printf("%d failures\n", failures);
  return failures != 0;
}
