#!/usr/bin/env bash
# Compiles C++ tests for aarch64 with Debian's cross compiler and runs them in an emulator of that CPU.
#   tools/ci/aarch64.sh //package:target...
# Every test runs with the smallest and with the largest pages that such a machine may have.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
dest=$root/.bazel/aarch64

[ $# -ge 1 ] || { echo "usage: aarch64.sh TARGET..." >&2; exit 2; }
fail() {
  printf 'aarch64: %s\n' "$1" >&2
  exit 1
}
# shellcheck source=tools/ci/debian.sh
source "$root/tools/ci/debian.sh"

# The compiler with its C and C++ libraries, and the emulator. What these need of the machine, its own g++ needs too.
fetch_tools() {
  local packages
  read_debian
  mapfile -t packages < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static |
    grep -E '^[^ ]+-(aarch64-linux-gnu(-base)?|arm64-cross)$|^qemu-user(-static)?$' | sort -u)
  [[ ${packages[*]} == *g++* && ${packages[*]} == *qemu* ]] ||
    fail "the suite $BAZEL_DEBIAN_SUITE lacks g++-aarch64-linux-gnu or qemu-user-static; it has: ${packages[*]:-neither}"
  unpack_debian "${packages[@]}"
  # the linker's script for the C library says where an installed one lies
  sed -i 's|/usr/aarch64-linux-gnu/lib/||g' "$dest/root/usr/aarch64-linux-gnu/lib/libc.so"
}

# $1 in the step's folder: the tool of that name for aarch64, which must be told where its libraries are.
write_tool() {
  cat > "$dest/$1" << TOOL
#!/bin/sh
export LD_LIBRARY_PATH='$dest/root/usr/lib/$(uname -m)-linux-gnu'
exec '$dest/root/usr/bin/aarch64-linux-gnu-$1' "\$@"
TOOL
  chmod +x "$dest/$1"
}

write_emulator() {
  local emulator
  emulator=$(find "$dest/root/usr/bin" -name 'qemu-aarch64*' ! -name '*_be*' | head -n1)
  [ -n "$emulator" ] || fail "Debian's packages hold no qemu-aarch64"
  cat > "$dest/run" << RUN
#!/bin/sh
ulimit -c 0
for page in 4096 65536; do
  echo "pages of \$page bytes"
  '$emulator' -L '$dest/root/usr/aarch64-linux-gnu' -p "\$page" "\$@" || exit
done
RUN
  chmod +x "$dest/run"
}

fetch_tools
for tool in gcc ld ar; do write_tool $tool; done
write_emulator
# optimised: that is when values stay in registers, and the emulator takes a tenth of the time
cd "$root" && ./bazelw test --repo_env=CC="$dest/gcc" --repo_env=LD="$dest/ld" --repo_env=AR="$dest/ar" --copt=-O1 \
  --run_under="$dest/run" --test_timeout=600 --build_tests_only --test_lang_filters=cc "$@"
