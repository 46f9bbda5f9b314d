#!/bin/sh
# debian_python.sh VERSION SUITE: prints the path of a CPython of another Debian that runs here: its own binary, headers and library, started
# by that Debian's loader with that Debian's C library. For versions that this machine has no package of; extensions are built by this
# machine's compiler, and ask for no more than this machine's libraries. Made where it isn't there yet (as root; patchelf on the path).
set -eu
version=$1 suite=$2 folder=${TILEGPU_BARE:-${XDG_CACHE_HOME:-$HOME/.cache}/tilegpu-bare}
root=$folder/python$version python=$folder/python$version/usr/bin/python$version
if [ ! -e "$root/.ready" ]; then
  tar=$(sh "$(dirname "$0")/debian_root.sh" "$suite")
  rm -rf "$root" && mkdir -p "$root" && tar -C "$root" -xf "$tar"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for words in "update" "install -y --no-install-recommends python$version libpython$version-dev"; do
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -q -o Acquire::Check-Valid-Until=false $words > "$folder/python$version.log" 2>&1 ||
      { tail -n 20 "$folder/python$version.log" >&2; exit 1; }
  done
  libraries=$root/usr/lib/$(uname -m)-linux-gnu
  patchelf --set-interpreter "$(echo "$libraries"/ld-linux-*.so.*)" --force-rpath --set-rpath "$libraries" "$python"
  for other in "$root"/usr/include/*-linux-gnu/python"$version"/*.h; do cp "$other" "$root/usr/include/python$version/"; done  # not by way of /usr/include
  "$python" -c 'import ssl, ctypes'
  touch "$root/.ready"
fi
echo "$python"
