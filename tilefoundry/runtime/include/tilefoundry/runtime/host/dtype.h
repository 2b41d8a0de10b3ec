// DLPack element types as TileFoundry names them.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <string>

namespace tilefoundry::host {

inline constexpr bool same_dtype(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/// Bytes of one element; sub-byte types do not cross the boundary.
inline constexpr int64_t dtype_bytes(DLDataType t) { return int64_t{t.bits} * t.lanes / 8; }

/// "f32", "bf16", "i64", "fp8e4m3", ...; a type that TileFoundry has no name for is written as code and bits.
inline std::string dtype_name(DLDataType t) {
  const std::string lanes = t.lanes == 1 ? "" : "x" + std::to_string(t.lanes);
  const std::string bits = std::to_string(t.bits) + lanes;
  switch (t.code) {
    case kDLInt:
      return "i" + bits;
    case kDLUInt:
      return "u" + bits;
    case kDLFloat:
      return "f" + bits;
    case kDLBfloat:
      return "bf" + bits;
    case kDLBool:
      return t.bits == 8 ? "bool" + lanes : "bool" + bits;
    case kDLComplex:
      return "complex" + bits;
    case kDLFloat8_e4m3fn:
      return "fp8e4m3" + lanes;
    case kDLFloat8_e5m2:
      return "fp8e5m2" + lanes;
    case kDLFloat8_e8m0fnu:
      return "f8e8m0" + lanes;
    case kDLFloat4_e2m1fn:
      return "f4e2m1" + lanes;
    default:
      return "dlpack type " + std::to_string(t.code) + " of " + bits + " bits";
  }
}

}  // namespace tilefoundry::host
