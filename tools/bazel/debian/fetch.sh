# shellcheck shell=bash
# Debian's packages, by apt with lists, a cache and a package status of its own: sourced by provision.sh.
# apt checks the signatures; packages.sha256 records what came.

suite=${BAZEL_DEBIAN_SUITE:-forky}

# The mirror that this machine's own apt uses.
debian_mirror() {
  local mirror=${BAZEL_DEBIAN_MIRROR:-}
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | sort -u | head -n1)
  # before the machine's first apt-get update apt itself cannot say
  [ -n "$mirror" ] || mirror=$(grep -rhv '^[[:space:]]*#' /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null |
    grep -oE '[a-z+]+:[^][[:space:]]*/debian/?([[:space:]]|$)' | head -n1 | tr -d '[:space:]' || true)
  printf '%s' "$mirror"
}

read_package_lists() {
  local mirror keyring name
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || fail "apt names no Debian mirror.
  Set BAZEL_DEBIAN_MIRROR to the one to use, or install bazelisk, or set BAZEL to a Bazel 7."
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp} ''; do
    [ -e "$keyring" ] && break
  done
  [ -n "$keyring" ] || fail "Debian's keys are missing; install with: apt-get install debian-archive-keyring"

  mkdir -p "$work"/{lists/partial,cache/archives/partial,preferences}
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$work/sources.list"
  grep -v '^#' "$here/left_out.txt" | while read -r name; do
    printf '%s\n' "Package: $name" 'Status: install ok installed' 'Priority: optional' 'Section: misc' \
      'Installed-Size: 1' 'Maintainer: none <none@localhost>' 'Architecture: amd64' 'Multi-Arch: allowed' \
      'Version: 9999:1' 'Description: left out' ''
  done > "$work/status"
  cat > "$work/apt.conf" << CONF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/preferences";
Dir::Etc::preferences "$work/preferences/none";
Dir::Etc::preferencesparts "$work/preferences";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::State::extended_states "$work/extended_states";
Dir::Cache "$work/cache";
Dir::Cache::archives "archives";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
quiet "2";
CONF
  export APT_CONFIG=$work/apt.conf
  apt-get update > "$work/apt.log" 2>&1 || fail "apt-get could not read the suite $suite of $mirror:
$(sed 's/^/  /' "$work/apt.log")
  Is the network up, and its proxy set for apt? Other suite or mirror: BAZEL_DEBIAN_SUITE, BAZEL_DEBIAN_MIRROR."
}

choose_packages() {
  local version offered name
  offered=$(apt-cache madison bazel-bootstrap | awk '{ print $3 }' | sort -u)
  version=$(printf '%s\n' "$offered" | grep -m1 '^7\.' || true)
  [ -n "$version" ] || fail "the suite $suite offers no Bazel 7 (package bazel-bootstrap there: ${offered:-none}).
  Set BAZEL to a Bazel 7 or install bazelisk; another suite may have it: BAZEL_DEBIAN_SUITE=name."
  packages=("bazel-bootstrap=$version")
  for name in bazel-rules-shell googletest openjdk-21-jre-headless; do
    [ -n "$(apt-cache madison "$name")" ] || fail "the suite $suite has no package $name, which bazelw expects there.
  Set BAZEL to a Bazel 7 or install bazelisk; another suite may have it: BAZEL_DEBIAN_SUITE=name."
    packages+=("$name")
  done
}

download_size() {
  apt-get install -y --print-uris "${packages[@]}" |
    awk -v v="${packages[0]#*=}" '/^\x27/ { n++; s += $3 } END { printf "%d packages, %.0f MB (Bazel %s)", n, s / 1e6, v }'
}

download_packages() {
  apt-get install -y --download-only "${packages[@]}" > "$work/apt.log" 2>&1 || fail "apt-get could not download:
$(sed 's/^/  /' "$work/apt.log")
  Run again: what has come is kept."
  (cd "$work/cache/archives" && sha256sum ./*.deb) > "$dest/packages.sha256"
}

unpack_packages() {
  local deb
  rm -rf "$root"
  mkdir -p "$root"
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$root" || fail "$deb does not unpack (disk full?)"
  done
}
