// What checking mode throws. Free of units and of CuTe: kernels throw it, host entries catch it.
#pragma once

#include <stdexcept>
#include <string>

namespace tilefoundry {
namespace checked {

/// A fault of the program that ran: what happened, in which op, to which element, and by which instances.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "(cta 0, thread 3)"
inline std::string instance_text(int cta, int thread) {
  return "(cta " + std::to_string(cta) + ", thread " + std::to_string(thread) + ")";
}

/// "(2, 3)"
template <class Values>
std::string tuple_text(Values const& values, int count) {
  std::string text = "(";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + (count == 1 ? ",)" : ")");
}

}  // namespace checked
}  // namespace tilefoundry
