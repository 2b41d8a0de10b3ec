# shellcheck shell=bash
# What must be on the machine: sourced by provision.sh.

require_tools() {
  local missing=()
  command -v "$python" > /dev/null || missing+=(python3)
  command -v "$python" > /dev/null && "$python" -m pip --version > /dev/null 2>&1 || missing+=(python3-pip)
  command -v g++ > /dev/null || missing+=(g++)
  command -v git > /dev/null || missing+=(git)
  if [ ${#missing[@]} -gt 0 ]; then
    fail "missing: ${missing[*]}
  install with: apt-get install --no-install-recommends ${missing[*]}"
  fi
  [ "$(dpkg --print-architecture)" = amd64 ] ||
    fail "Debian's packages are relocated for amd64 only, and this is $(dpkg --print-architecture).
  Install bazelisk, or set BAZEL to a Bazel 7."
}
