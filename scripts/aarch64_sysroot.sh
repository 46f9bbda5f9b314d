#!/bin/sh
# Debian's arm64 packages unpacked below a folder, as cross-compiler and qemu-user take them (--sysroot, -L): nothing of the machine's own
# packages changes, no foreign architecture is added to its dpkg, and no maintainer script runs.
# Usage: scripts/aarch64_sysroot.sh FOLDER LIST...   (a LIST: packages/aarch64.txt). A second run with the same lists does nothing.
set -eu
root=$1
shift
wanted=$(cat "$@" | sed -e 's/#.*//')
stamp=$root/.packages
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0
apt=$(realpath -m "$root.apt")
mkdir -p "$root" "$apt/state/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
in_sysroot() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false -o APT::Sandbox::User=root \
    -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=true "$@"
}
# All sources of the machine: apt leaves out, with a notice, those that have no arm64, as third parties' seldom do.
in_sysroot -o Acquire::Languages=none update
# shellcheck disable=SC2086  # a list of names
in_sysroot --download-only install $wanted
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$root"
done
rm -rf "$apt/cache"
# What names files absolutely, in this root: links, and the linker scripts of the C library that older Debians have.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
done
printf '%s\n' "$wanted" >"$stamp"
