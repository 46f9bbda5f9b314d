#!/bin/sh
# test_wheel_bare.sh SUITE PYTHON WHEEL PACKAGES: the wheel in a bare Debian, as a user would have it: a virtual environment, pip, the first
# programs of the documentation (their pictures are compared), `tilegpu info`, pytest's plugin, the Vulkan driver.
#
# SUITE: bookworm, trixie, forky (debian_root.sh). PYTHON: `python3` is that Debian's own; a path: a tree of this machine (pyenv's), bound into it.
# PACKAGES: a folder with what tilegpu[testing] wants of PyPI: the system inside has no network. Root; nothing is left of it: the system is unpacked
# into memory, in a mount namespace that ends with this script.
set -eu
if [ "${TILEGPU_BARE_NAMESPACE-}" != yes ]; then
  tar=$(sh "$(dirname "$0")/debian_root.sh" "$1")
  root=$(mktemp -d)
  trap 'rmdir "$root"' EXIT
  status=0
  TILEGPU_BARE_NAMESPACE=yes unshare --mount --net --pid --fork sh "$0" "$1" "$2" "$(realpath "$3")" "$(realpath "$4")" "$tar" "$root" || status=$?
  exit "$status"
fi
suite=$1 python=$2 wheel=$3 packages=$4 tar=$5 root=$6
scripts=$(dirname "$(realpath "$0")")
mount -t tmpfs -o size=4g,mode=755 tilegpu-bare "$root"
tar -C "$root" -xf "$tar"
chmod 755 "$root"  # debootstrap leaves some as mktemp made them, root's alone
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" "$root/packages" "$root/wheel"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount --bind -o ro "$packages" "$root/packages"
cp "$wheel" "$root/wheel/"
case $python in /*)
  tree=$(dirname "$(dirname "$python")")
  mkdir -p "$root$tree"
  mount --bind -o ro "$tree" "$root$tree"
  above=$tree
  while [ "$above" != / ]; do above=$(dirname "$above"); chmod a+x "$root$above"; done  # /root is root's alone
esac
chroot "$root" useradd --create-home user
python3 "$scripts/first_steps.py" write "$root/home/user/steps"
cp "$scripts/test_wheel_inside.sh" "$root/home/user/inside.sh"
chroot "$root" chown -R user:user /home/user
as_user() { chroot --userspec=user:user "$root" env -i HOME=/home/user PATH=/usr/bin:/bin LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_FIND_LINKS=/packages "$@"; }
echo "=== $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$root/etc/os-release") ($suite), $(basename "$wheel"), $python"
as_user sh /home/user/inside.sh "$python" "/wheel/$(basename "$wheel")"
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -q --no-install-recommends --no-download vulkan-tools > "$root/apt.log" 2>&1 ||
  { tail -n 20 "$root/apt.log" >&2; exit 1; }
as_user sh /home/user/inside.sh vulkan
echo "=== the wheel works there"
