#pragma once

namespace cuda_toolchain {

// What options.cu saw when it was compiled.
struct Options {
  int level;
  int shared;
  const char* text;
  int local;
  int from_copts;
  const char* from_host_copts;
  bool host_char_is_unsigned;
  const char* date;
};

Options options();

}  // namespace cuda_toolchain
