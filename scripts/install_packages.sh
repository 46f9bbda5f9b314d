#!/bin/sh
# Installs the system packages listed in $1 that are missing: with apt as root or through sudo; elsewhere prints the list.
# "package:program" is a package that isn't wanted where the program is there from elsewhere (its makers' own packages often conflict).
set -eu
wanted=
for entry in $(sed -e 's/#.*//' "$1"); do
  program=${entry#*:}
  [ "$program" != "$entry" ] && command -v "$program" >/dev/null 2>&1 || wanted="$wanted ${entry%%:*}"
done
if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "tilegpu: this is not a Debian or Ubuntu system; its packages are to be installed by hand. On Debian they are:" >&2
  echo " $wanted" >&2
  exit 0
fi
missing=
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1; then
  as_root=sudo
else
  echo "tilegpu: packages are missing, and this is neither root nor is sudo there. As root:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$as_root apt-get install -y -q --no-install-recommends $missing >/dev/null 2>&1 || {
  $as_root apt-get update -q
  $as_root apt-get install -y -q --no-install-recommends $missing
}
