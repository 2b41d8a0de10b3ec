// Who runs what, in checking mode.
#pragma once

#include <tilefoundry/runtime/cpu/checked_call.h>
#include <tilefoundry/runtime/cpu/cta.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

/// The instance that runs.
inline checked::Here here() {
  Instance const& self = instance();
  checked::Cta* const cta = self.checks;
  if (!cta) return {};
  return {cta, self.cta, self.thread, &cta->order, cta->ops[static_cast<size_t>(self.thread)]};
}

/// Names the op that the running instance is in; of ops within ops, the outermost.
class OpScope {
 public:
  explicit OpScope(char const* op) {
    checked::Here const self = here();
    if (!self.cta) return;
    op_ = &self.cta->ops[static_cast<size_t>(self.thread)];
    outer_ = *op_;
    if (!outer_) *op_ = op;
  }
  ~OpScope() {
    if (op_) *op_ = outer_;
  }
  OpScope(OpScope const&) = delete;
  OpScope& operator=(OpScope const&) = delete;

 private:
  char const** op_ = nullptr;
  char const* outer_ = nullptr;
};

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
