#!/usr/bin/env bash
# Builds targets twice from nothing, in two folders and two output bases at once, and compares every file that they give.
#   tools/ci/byte_identity.sh [--OPTION=VALUE...] //target...
# Fails when a file differs, or when the file that differs by design, which is always built too, does not.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$root/.bazel/byte_identity
control=//tools/ci:differs
control_file=tools/ci/differs.txt

[ $# -ge 1 ] || { echo "usage: byte_identity.sh [--OPTION=VALUE...] TARGET..." >&2; exit 2; }
options=(--disk_cache= --remote_cache=)
targets=()
for argument in "$@"; do
  if [[ $argument == -* ]]; then options+=("$argument"); else targets+=("$argument"); fi
done

# Runs Bazel in the copy of the checkout called $1; it does not live long enough for the JVM's optimising compiler.
bazel() {
  (cd "$work/$1/tilefoundry" && ./bazelw --output_base="$work/$1/base" --host_jvm_args=-XX:TieredStopAtLevel=1 "${@:2}")
}

# Servers outlive their folders unless told, and what they fetched is write-protected.
clean_up() {
  local copy
  for copy in one another/place; do
    [ ! -e "$work/$copy/tilefoundry/bazelw" ] || bazel "$copy" shutdown > /dev/null 2>&1 || true
  done
  [ ! -e "$work" ] || chmod -R u+w "$work"
  rm -rf "$work"
}
trap clean_up EXIT

# Builds in the copy called $1, and prints a digest and a name for each file.
build() {
  local copy=$1/tilefoundry
  mkdir -p "$work/$copy"
  # --touch: the copies' file times differ too
  (cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T -) \
    | tar -x --touch -C "$work/$copy"
  bazel "$1" build "${options[@]}" "${targets[@]}" "$control" >&2
  local execution_root expression
  execution_root=$(bazel "$1" info execution_root)
  printf -v expression ' + %s' "${targets[@]}" "$control"
  bazel "$1" cquery "${options[@]}" --output=files "${expression# + }" | sort -u | (
    cd "$execution_root" && while read -r file; do find -L "$file" -type f -exec sha256sum {} +; done
  )
}

clean_up
mkdir -p "$work"
# both at once: starting, fetching and reading packages leave most of a machine idle
build one > "$work/one.txt" &
TZ=Asia/Tokyo LC_ALL=C.UTF-8 build another/place > "$work/another.txt"
wait $!

differing=$({ diff "$work/one.txt" "$work/another.txt" || true; } | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u)
control_differs=$(grep -c "/$control_file\$" <<< "$differing" || true)
differing=$(grep -v "/$control_file\$" <<< "$differing" || true)
[ "$control_differs" -eq 1 ] || { echo "byte_identity: $control_file came out equal: nothing was compared" >&2; exit 1; }
[ -z "$differing" ] || { sed 's/^/differs: /' <<< "$differing" >&2; exit 1; }
echo "$(($(wc -l < "$work/one.txt") - 1)) files are equal in two builds"
