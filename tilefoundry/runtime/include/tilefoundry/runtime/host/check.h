// Checks every argument of a call against its entry before anything is launched.
//
//   host::Bound bound[3];  int64_t dims[1];  int64_t derived[1];
//   const DLDevice device = host::check_arguments(kEntry, values, fetch, bound, dims, derived);
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/c_api.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tilefoundry/runtime/host/bound.h"
#include "tilefoundry/runtime/host/device.h"
#include "tilefoundry/runtime/host/dtype.h"
#include "tilefoundry/runtime/host/error.h"
#include "tilefoundry/runtime/host/overlap.h"
#include "tilefoundry/runtime/host/scalar.h"
#include "tilefoundry/runtime/host/spec.h"

namespace tilefoundry::host {

/// Copies `bytes` from memory of `device` to the host; how depends on the target.
using Fetch = void (*)(void* dst, const void* src, int64_t bytes, DLDevice device);

namespace internal {

inline constexpr int64_t kUnbound = INT64_MIN;

inline bool is_rank0_input(const Param& param) { return param.rank == 0 && !param.output; }

/// The DLTensor inside a value, or null when it is no tensor.
inline const DLTensor* as_tensor(const TVMFFIAny& value) {
  if (value.type_index == kTVMFFITensor) return TVMFFITensorGetDLTensorPtr(value.v_obj);
  if (value.type_index == kTVMFFIDLTensorPtr) return static_cast<const DLTensor*>(value.v_ptr);
  return nullptr;
}

/// State of one call's check. Arguments are checked in order, so the first bad one is the one that is named.
class Checker {
 public:
  Checker(const Entry& entry, const ::tvm::ffi::AnyView* values, Bound* bound, int64_t* dims,
          int64_t* derived)
      : entry_(entry), values_(values), bound_(bound), dims_(dims), derived_(derived) {
    std::fill_n(dims_, entry.dim_count, kUnbound);
  }

  DLDevice run(Fetch fetch) {
    for (int i = 0; i < entry_.param_count; ++i) {
      if (!is_rank0_input(entry_.params[i])) tensor(i);
    }
    if (entry_.derived_count != 0) entry_.derive(dims_, derived_);
    for (int i = 0; i < entry_.param_count; ++i) {
      if (is_rank0_input(entry_.params[i])) {
        scalar(i, fetch);
      } else {
        derived_extents(i);
        strides(i);
      }
    }
    for (int i = 0; i < entry_.param_count; ++i) {
      if (entry_.params[i].output) output(i);
    }
    return device_;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const char* kind, int i, const Parts&... parts) const {
    throw_error(kind, "argument '", entry_.params[i].name, "' ", parts...);
  }

  void tensor(int i) {
    const Param& param = entry_.params[i];
    const DLTensor* t = as_tensor(values_[i].CopyToTVMFFIAny());
    if (t == nullptr) {
      fail(kArgumentTypeError, i, "must be a ", device_kind_name(entry_.device), " tensor of ",
           dtype_name(param.dtype), ", got ", values_[i].GetTypeKey());
    }
    if (!accepts_device(entry_.device, t->device.device_type)) {
      fail(kArgumentValueError, i, "must be a ", device_kind_name(entry_.device), " tensor, got one on ",
           device_name(t->device));
    }
    if (first_ < 0) {
      first_ = i;
      device_ = {entry_.device, t->device.device_id};
    } else if (t->device.device_id != device_.device_id && entry_.device != kDLCPU) {
      fail(kArgumentValueError, i, "is on ", device_name(t->device), ", but argument '",
           entry_.params[first_].name, "' is on ", device_name(device_),
           "; all tensors must be on one device");
    }
    if (!same_dtype(t->dtype, param.dtype)) {
      fail(kArgumentTypeError, i, "has dtype ", dtype_name(t->dtype), ", expected ", dtype_name(param.dtype));
    }
    if (t->ndim != param.rank) {
      fail(kArgumentValueError, i, "has rank ", t->ndim, " and shape ", tuple_text(t->shape, t->ndim),
           ", expected rank ", param.rank);
    }
    Bound& bound = bound_[i];
    bound.data = static_cast<char*>(t->data) + t->byte_offset;
    bound.rank = t->ndim;
    bound.elements = 1;
    std::copy_n(t->shape, t->ndim, bound.shape);
    for (int k = 0; k < t->ndim; ++k) {
      bound.elements *= t->shape[k];
      extent(i, k);
    }
    if (t->data == nullptr && bound.elements != 0) {
      fail(kArgumentValueError, i, "has ", bound.elements, " elements and no memory; its storage was freed");
    }
    canonical_strides(bound, t->strides);
  }

  // Axes along which nothing moves get the stride that a dense tensor would have; what the caller wrote there
  // says nothing. A null pointer means dense.
  static void canonical_strides(Bound& bound, const int64_t* given) {
    int64_t dense = 1;
    for (int k = bound.rank - 1; k >= 0; --k) {
      const bool moves = given != nullptr && bound.elements != 0 && bound.shape[k] != 1;
      bound.strides[k] = moves ? given[k] : dense;
      dense = bound.strides[k] * std::max<int64_t>(bound.shape[k], 1);
    }
  }

  void extent(int i, int k) {
    const Extent& want = entry_.params[i].shape[k];
    const int64_t got = bound_[i].shape[k];
    if (want.kind == Extent::Kind::fixed) {
      if (got != want.value) wrong_extent(i, k, want.value);
    } else if (want.kind == Extent::Kind::variable) {
      const DimVar& var = entry_.dims[want.value];
      int64_t& value = dims_[want.value];
      const int64_t solved = (got - want.offset) / want.scale;
      if (solved * want.scale + want.offset != got) {
        fail(kArgumentValueError, i, "has extent ", got, " on axis ", k, ", expected ", want.scale, " * '",
             var.name, "' + ", want.offset);
      }
      if (value != kUnbound && value != solved) inconsistent(i, k, want.value);
      if (solved < var.lo || solved >= var.hi) {
        fail(kArgumentValueError, i, "has extent ", got, " on axis ", k, ", outside of '", var.name, "' in [",
             var.lo, ", ", var.hi, ")");
      }
      value = solved;
    }
  }

  void derived_extents(int i) const {
    for (int k = 0; k < entry_.params[i].rank; ++k) {
      const Extent& want = entry_.params[i].shape[k];
      if (want.kind == Extent::Kind::derived && bound_[i].shape[k] != derived_[want.value]) {
        wrong_extent(i, k, derived_[want.value]);
      }
    }
  }

  [[noreturn]] void wrong_extent(int i, int k, int64_t want) const {
    fail(kArgumentValueError, i, "has extent ", bound_[i].shape[k], " on axis ", k, ", expected ", want);
  }

  [[noreturn]] void inconsistent(int i, int k, int64_t dim) const {
    const auto binds = [&](const Extent& e) { return e.kind == Extent::Kind::variable && e.value == dim; };
    for (int j = 0; j <= i; ++j) {
      const Param& other = entry_.params[j];
      for (int n = 0; n < other.rank && !is_rank0_input(other); ++n) {
        if (!binds(other.shape[n])) continue;
        fail(kArgumentValueError, i, "has extent ", bound_[i].shape[k], " on axis ", k, ", but '",
             entry_.dims[dim].name, "' is ", dims_[dim], " by axis ", n, " of argument '", other.name, "'");
      }
    }
    fail(kArgumentValueError, i, "binds '", entry_.dims[dim].name, "' inconsistently");
  }

  void strides(int i) const {
    const Param& param = entry_.params[i];
    const Bound& bound = bound_[i];
    for (int k = 0; k < param.rank && bound.elements != 0; ++k) {
      if (bound.shape[k] == 1) continue;
      if (bound.strides[k] < 0) {
        fail(kArgumentValueError, i, "has negative strides ", tuple_text(bound.strides, bound.rank),
             "; pass a contiguous copy");
      }
      if (param.strides == nullptr) continue;
      const int64_t want = resolve(param.strides[k]);
      if (bound.strides[k] != want) {
        fail(kArgumentValueError, i, "has stride ", bound.strides[k], " on axis ", k,
             ", but its declared layout has ", want, "; pass a copy with that layout");
      }
    }
    const auto address = reinterpret_cast<uintptr_t>(bound.data);
    const int64_t align = dtype_bytes(param.dtype);
    if (bound.elements != 0 && address % static_cast<uintptr_t>(align) != 0) {
      fail(kArgumentValueError, i, "starts at an address that is not a multiple of ", align,
           " bytes, the size of ", dtype_name(param.dtype));
    }
  }

  int64_t resolve(const Extent& e) const {
    if (e.kind == Extent::Kind::fixed) return e.value;
    return e.kind == Extent::Kind::variable ? dims_[e.value] * e.scale + e.offset : derived_[e.value];
  }

  void scalar(int i, Fetch fetch) {
    const Param& param = entry_.params[i];
    const TVMFFIAny value = values_[i].CopyToTVMFFIAny();
    const DLTensor* t = as_tensor(value);
    if (t == nullptr) {
      bound_[i].scalar = number_to_scalar(param, value);
      return;
    }
    if (t->ndim != 0) {
      fail(kArgumentValueError, i, "has shape ", tuple_text(t->shape, t->ndim),
           ", expected a number or a 0-d tensor");
    }
    if (!same_dtype(t->dtype, param.dtype)) {
      fail(kArgumentTypeError, i, "has dtype ", dtype_name(t->dtype), ", expected ", dtype_name(param.dtype));
    }
    const bool on_host = accepts_device(kDLCPU, t->device.device_type);
    if (!on_host &&
        (!accepts_device(entry_.device, t->device.device_type) || t->device.device_id != device_.device_id)) {
      fail(kArgumentValueError, i, "is on ", device_name(t->device),
           ", expected a number or a 0-d tensor on cpu or ", device_name(device_));
    }
    bound_[i].scalar = 0;
    const char* source = static_cast<const char*>(t->data) + t->byte_offset;
    if (on_host) {
      std::memcpy(&bound_[i].scalar, source, dtype_bytes(t->dtype));
    } else {
      fetch(&bound_[i].scalar, source, dtype_bytes(t->dtype), device_);
    }
  }

  void output(int i) const {
    const Param& param = entry_.params[i];
    if (overlaps_itself(bound_[i])) {
      fail(kArgumentValueError, i, "is an output whose elements overlap: shape ",
           tuple_text(bound_[i].shape, bound_[i].rank), ", strides ",
           tuple_text(bound_[i].strides, bound_[i].rank));
    }
    for (int j = 0; j < entry_.param_count; ++j) {
      const Param& other = entry_.params[j];
      if (is_rank0_input(other) || j == i || (other.output && j > i)) continue;
      if (j == param.alias) {
        same_memory(i, j);
      } else if (may_overlap(bound_[i], param.dtype, bound_[j], other.dtype)) {
        fail(kArgumentValueError, i, "is an output that overlaps argument '", other.name,
             "' in memory; pass a tensor of its own");
      }
    }
  }

  void same_memory(int i, int j) const {
    const Bound& out = bound_[i];
    const Bound& in = bound_[j];
    if (out.elements == 0 && in.elements == 0) return;
    if (out.data != in.data || !std::equal(out.strides, out.strides + out.rank, in.strides)) {
      fail(kArgumentValueError, i, "is updated in place: it must be the same memory as argument '",
           entry_.params[j].name, "'");
    }
  }

  const Entry& entry_;
  const ::tvm::ffi::AnyView* values_;
  Bound* bound_;
  int64_t* dims_;
  int64_t* derived_;
  int first_ = -1;
  DLDevice device_ = {kDLCPU, 0};
};

}  // namespace internal

/// Checks `values` (one for each parameter) against `entry` and fills `bound`, `dims` and `derived`. `fetch`
/// may be null where device memory is host memory. Returns the device of the call.
///
/// Throws kArgumentTypeError (no tensor or number, dtype) and kArgumentValueError (device, rank, extents,
/// strides, alignment, overlap); the message starts with the argument's name.
inline DLDevice check_arguments(const Entry& entry, const ::tvm::ffi::AnyView* values, Fetch fetch,
                                Bound* bound, int64_t* dims, int64_t* derived) {
  return internal::Checker(entry, values, bound, dims, derived).run(fetch);
}

}  // namespace tilefoundry::host
