// A call of an entry in checking mode: which tensors it has, and what its kernels were found to do with them.
#pragma once

#include <cstdint>

#include "tilefoundry/runtime/cpu/checked_call.h"
#include "tilefoundry/runtime/host/bound.h"
#include "tilefoundry/runtime/host/dtype.h"
#include "tilefoundry/runtime/host/error.h"
#include "tilefoundry/runtime/host/spec.h"

namespace tilefoundry::host {

/// Comes after the workspace has its memory:
///
///   host::CheckedCall checked(kEntry, bound);
///   checked.workspace("partial", bound[3], 4);
///   checked.begin();
///   ...  // launches
///   checked.finish();
class CheckedCall {
  using Role = checked::GlobalTensor::Role;

 public:
  CheckedCall(const Entry& entry, const Bound* bound) : entry_(entry) {
    for (int i = 0; i < entry.param_count; ++i) {
      const Param& param = entry.params[i];
      if (param.rank == 0 && !param.output) continue;  // a plain value
      const Role role = !param.output ? Role::input : param.alias >= 0 ? Role::in_place : Role::output;
      add(param.name, bound[i], dtype_bytes(param.dtype), role);
    }
  }

  void workspace(const char* name, const Bound& bound, int64_t item_bytes) {
    add(name, bound, item_bytes, Role::workspace);
  }

  void begin() { call_.begin(); }

  /// Throws kCheckingError when an element of an output was never written.
  void finish() const {
    try {
      call_.finish();
    } catch (const checked::Finding& finding) {
      throw_error(kCheckingError, "'", entry_.name, "': ", finding.what());
    }
  }

 private:
  void add(const char* name, const Bound& bound, int64_t item_bytes, Role role) {
    call_.add(name, bound.data, static_cast<int>(item_bytes), bound.rank, bound.shape, bound.strides, role);
  }

  const Entry& entry_;
  checked::Call call_;
};

}  // namespace tilefoundry::host
