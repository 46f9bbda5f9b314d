#!/bin/sh
# debian_root.sh SUITE: prints the path of a tarball of a bare Debian (bookworm, trixie, forky) or Ubuntu (jammy) with Python and nothing to
# build with; makes it where it isn't there yet (root, debootstrap, the mirror; some minutes), in ~/.cache/tilegpu-bare ($TILEGPU_BARE). The
# packages of vulkaninfo and of the loader lie in it, not installed: what comes without them is tried first.
set -eu
suite=$1 folder=${TILEGPU_BARE:-${XDG_CACHE_HOME:-$HOME/.cache}/tilegpu-bare}
case $suite in  # Debian has no package of Ubuntu's keys: where they are missing, debootstrap says that it can't check who signed
  jammy) mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu} components=main,universe ;;
  *) mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian} components=main ;;
esac
tar=$folder/$suite.tar
if [ ! -e "$tar" ]; then
  [ "$(id -u)" = 0 ] || { echo "debian_root.sh: making $tar wants root" >&2; exit 1; }
  command -v debootstrap > /dev/null || { echo "debian_root.sh: apt-get install debootstrap" >&2; exit 1; }
  mkdir -p "$folder"
  root=$(mktemp -d "$folder/$suite-XXXXXX")
  trap 'rm -rf "$root"' EXIT
  rules=/usr/share/debootstrap/scripts/$suite
  [ -e "$rules" ] || rules=/usr/share/debootstrap/scripts/sid  # a suite that is newer than this debootstrap
  echo "debian_root.sh: making a bare $suite of $mirror" >&2
  debootstrap --variant=minbase --components="$components" --include=python3,python3-venv,python3-pip "$suite" "$root" "$mirror" "$rules" > "$folder/$suite.log" 2>&1 ||
    { tail -n 20 "$folder/$suite.log" >&2; exit 1; }
  grep -i "cannot check release signature" "$folder/$suite.log" >&2 || true
  chroot "$root" apt-get install -y -q --no-install-recommends --download-only vulkan-tools >> "$folder/$suite.log" 2>&1
  tar -C "$root" -cf "$tar.new" . && mv "$tar.new" "$tar"
fi
echo "$tar"
