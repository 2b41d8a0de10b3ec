# shellcheck shell=bash
# Packages of the machine's own Debian release, unpacked beside the checkout; nothing is installed. Sourced by scripts
# that set `root`, the checkout, `dest`, the folder of this step, and `fail`.
work=$dest/apt

# An empty folder for the step, and the lists of packages.
read_debian() {
  local here=$root/tools/bazel/debian
  [ ! -e "$dest" ] || chmod -R u+w "$dest"
  rm -rf "$dest"
  mkdir -p "$work" "$dest/debs" "$dest/root"
  # shellcheck disable=SC1091 # it tells the machine's release
  BAZEL_DEBIAN_SUITE=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  export BAZEL_DEBIAN_SUITE
  # shellcheck source=tools/bazel/debian/fetch.sh
  source "$here/fetch.sh"
  read_package_lists
}

# Unpacks the packages named into $dest/root; apt checks their signatures, and packages.sha256 records what came.
unpack_debian() {
  local deb
  (cd "$dest/debs" && apt-get download "$@" > "$work/apt.log" 2>&1) || fail "apt-get could not download $*:
$(sed 's/^/  /' "$work/apt.log")"
  (cd "$dest/debs" && sha256sum ./*.deb) > "$dest/packages.sha256"
  for deb in "$dest"/debs/*.deb; do dpkg-deb -x "$deb" "$dest/root"; done
  rm -r "$dest/debs"
  unset APT_CONFIG
}
