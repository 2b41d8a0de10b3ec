#!/usr/bin/env bash
# Builds kernel libraries with the machine's C++ compiler and with Debian's clang, and compares keys and cubins.
#   tools/ci/second_compiler.sh //kernel:target...
# Fails when a key or a cubin differs, when a library has none, or when the libraries themselves are equal: then one
# compiler built both.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
dest=$root/.bazel/second_compiler
work=$dest/apt

[ $# -ge 1 ] || { echo "usage: second_compiler.sh TARGET..." >&2; exit 2; }
fail() {
  printf 'second_compiler: %s\n' "$1" >&2
  exit 1
}

# The clang of the machine's own Debian release, unpacked beside the checkout; nothing is installed.
fetch_clang() {
  local here=$root/tools/bazel/debian version
  # shellcheck disable=SC1091 # it tells the machine's release
  BAZEL_DEBIAN_SUITE=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  export BAZEL_DEBIAN_SUITE
  # shellcheck source=tools/bazel/debian/fetch.sh
  source "$here/fetch.sh"
  read_package_lists
  version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n1)
  [ -n "$version" ] || fail "the suite $suite has no clang"
  mkdir -p "$dest/debs" "$dest/root"
  (cd "$dest/debs" && apt-get download "clang-$version" "libclang-cpp$version" "libllvm$version" \
    "libclang-common-$version-dev" > "$work/apt.log" 2>&1) || fail "apt-get could not download clang:
$(sed 's/^/  /' "$work/apt.log")"
  for deb in "$dest"/debs/*.deb; do dpkg-deb -x "$deb" "$dest/root"; done
  local llvm=$dest/root/usr/lib/llvm-$version driver
  for driver in clang clang++; do
    cat > "$dest/$driver" << DRIVER
#!/bin/sh
export LD_LIBRARY_PATH='$dest/root/usr/lib/$(uname -m)-linux-gnu:$llvm/lib'
exec '$llvm/bin/$driver' "\$@"
DRIVER
    chmod +x "$dest/$driver"
  done
  unset APT_CONFIG
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
[ ! -e "$dest" ] || chmod -R u+w "$dest"
rm -rf "$dest"
mkdir -p "$work"
fetch_clang
build one
build two --repo_env=CC="$dest/clang"
cd "$root" && ./bazelw run //tools/ci:same_kernels -- "$dest/one" "$dest/two"
