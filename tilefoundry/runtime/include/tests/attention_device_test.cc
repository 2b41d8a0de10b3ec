// The attention kernels on a GPU against f64.
#include "attention_check.h"
#include "attention_kernels.h"
#include "device_cases.h"

using attention_check::Argument;
using attention_check::Problem;
using attention_check::Type;

#define DECLARE(name, type, d, causal) \
  extern "C" int name##__run(void const* args, int64_t grid, bool vector);
ATTENTION_KERNELS(DECLARE)
#undef DECLARE

namespace {

int check(char const* name, int (*run)(void const*, int64_t, bool), Type type, int64_t d, bool causal,
          bool vector, int64_t rows, int64_t grid) {
  Problem problem(type, 2, rows, d, causal, vector);
  DeviceCopy q(problem.q.bytes), k(problem.k.bytes), v(problem.v.bytes), out(problem.out.bytes);
  Argument const args[] = {
      problem.q.argument(q.address(problem.q.base())), problem.k.argument(k.address(problem.k.base())),
      problem.v.argument(v.address(problem.v.base())), problem.out.argument(out.address(problem.out.base()))};
  require(run(args, grid, vector), name);
  out.fetch();
  std::string const verdict = problem.verdict();
  if (verdict.empty()) return 0;
  std::printf("  %d rows, grid %d: %s\n", static_cast<int>(rows), static_cast<int>(grid), verdict.c_str());
  return 1;
}

}  // namespace

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  auto const add = [&](std::string const& name, int (*run)(void const*, int64_t, bool), Type type, int64_t d,
                       bool causal) {
    for (bool vector : {true, false}) {
      cases.push_back({name + (vector ? ".vector" : ".general"), [=](bool small) {
                         int count = 0;
                         for (int64_t rows : {7, 65}) {
                           count += check(name.c_str(), run, type, d, causal, vector, rows, 3);
                         }
                         if (small) return count;
                         for (int64_t rows : {1, 64, 129, 333}) {
                           count += check(name.c_str(), run, type, d, causal, vector, rows, 3);
                         }
                         return count + check(name.c_str(), run, type, d, causal, vector, 333, 100);
                       }});
    }
  };
#define ADD(name, type, d, causal) add(#name, name##__run, Type::type, d, causal);
  ATTENTION_KERNELS(ADD)
#undef ADD
  return cases;
}
