#!/usr/bin/env bash
# Builds kernel libraries with the machine's C++ compiler and with Debian's clang, and compares keys and cubins.
#   tools/ci/second_compiler.sh //kernel:target...
# Fails when a key or a cubin differs, when a library has none, or when the libraries themselves are equal: then one
# compiler built both.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
dest=$root/.bazel/second_compiler

[ $# -ge 1 ] || { echo "usage: second_compiler.sh TARGET..." >&2; exit 2; }
fail() {
  printf 'second_compiler: %s\n' "$1" >&2
  exit 1
}
# shellcheck source=tools/ci/debian.sh
source "$root/tools/ci/debian.sh"

# The clang of the machine's own Debian release.
fetch_clang() {
  local version
  read_debian
  version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n1)
  [ -n "$version" ] || fail "the suite $BAZEL_DEBIAN_SUITE has no clang"
  unpack_debian "clang-$version" "libclang-cpp$version" "libllvm$version" "libclang-common-$version-dev"
  local llvm=$dest/root/usr/lib/llvm-$version driver
  for driver in clang clang++; do
    cat > "$dest/$driver" << DRIVER
#!/bin/sh
export LD_LIBRARY_PATH='$dest/root/usr/lib/$(uname -m)-linux-gnu:$llvm/lib'
exec '$llvm/bin/$driver' "\$@"
DRIVER
    chmod +x "$dest/$driver"
  done
  "$dest/clang++" --version
}

# Builds the targets and keeps their libraries and keys in folder $1; the rest are options.
build() {
  local folder=$dest/$1 execution_root expression file
  shift
  mkdir -p "$folder"
  (cd "$root" && ./bazelw build "$@" "${targets[@]}")
  execution_root=$(cd "$root" && ./bazelw info "$@" execution_root)
  printf -v expression ' + %s' "${targets[@]}"
  (cd "$root" && ./bazelw cquery "$@" --output=files "${expression# + }") | grep -E '\.(so|key)$' | while read -r file; do
    cp "$execution_root/$file" "$folder/"
  done
}

targets=("$@")
fetch_clang
build one
build two --repo_env=CC="$dest/clang"
cd "$root" && ./bazelw run //tools/ci:same_kernels -- "$dest/one" "$dest/two"
