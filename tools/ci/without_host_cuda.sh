#!/usr/bin/env bash
# Runs a Bazel command whose actions cannot see the machine's CUDA and find a wrong one first on PATH.
#   tools/ci/without_host_cuda.sh [STARTUP OPTION...] test //...
# Only sandboxed actions can be kept from a folder, so every action must be sandboxed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

startup=()
while [[ ${1:-} == -* ]]; do
  startup+=("$1")
  shift
done
[ $# -ge 2 ] || { echo "usage: without_host_cuda.sh [STARTUP OPTION...] COMMAND TARGET..." >&2; exit 2; }
command=$1
shift

# What a program that looks for CUDA on the machine finds.
mapfile -t hidden < <(
  shopt -s nullglob
  places=(/usr/local/cuda* /opt/cuda* /usr/lib/cuda /usr/lib/nvidia-cuda-toolkit "${CUDA_HOME:-}" "${CUDA_PATH:-}")
  mapfile -t tools < <(type -ap nvcc ptxas cicc cudafe++ fatbinary nvlink cuobjdump nvdisasm)
  for place in "${places[@]}" "${tools[@]}"; do
    [ ! -e "$place" ] || realpath "$place"
  done | sort -u
)

wrong=$root/.bazel/wrong_cuda
rm -rf "$wrong"
mkdir -p "$wrong/bin" "$wrong/nvvm/bin"
for tool in bin/{nvcc,ptxas,cudafe++,fatbinary,nvlink,cuobjdump,nvdisasm} nvvm/bin/cicc; do
  # shellcheck disable=SC2016 # $0 is the tool's own
  printf '#!/bin/sh\necho "wrong ${0##*/} was run: $0" >&2\nexit 97\n' > "$wrong/$tool"
  chmod +x "$wrong/$tool"
done
export PATH=$wrong/bin:$PATH
unset CUDA_HOME CUDA_PATH

flags=(
  --spawn_strategy=linux-sandbox
  --sandbox_add_mount_pair="$wrong"
  "${hidden[@]/#/--sandbox_block_path=}"
)
for variable in PATH="$PATH" CUDA_HOME="$wrong" CUDA_PATH="$wrong"; do
  flags+=(--action_env="$variable" --host_action_env="$variable")
done
run() { (cd "$root" && ./bazelw "${startup[@]}" "$1" "${flags[@]}" "${@:2}"); }

printf 'hidden: %s\n' "${hidden[@]}"
hidden_list=$(IFS=: && echo "${hidden[*]}")
run test --test_env=HIDDEN_CUDA="$hidden_list" //tests/cuda_toolchain:no_host_cuda_test
run "$command" "$@"
