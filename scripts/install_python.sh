#!/bin/sh
# install_python.sh BUILD SITE: the extension and the core of a build, to a folder of Python packages; `make build` calls it.
#
# Each file is written under another name beside its place and then renamed, so that programs that run, or start just now, keep the file that
# they have opened; writing into it would end them with a bus error. What is there already is left alone.
set -eu
build=$1 site=$2
stamp="$site/tilegpu/.installed"
of=$(realpath "$build")
newer() { find "$build"/_core*.so "$build"/libtilegpu.so "$build"/tilegpu-compiler "$build"/tilegpu_icd.json -newer "$stamp"; }
if [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$of" ] && [ -z "$(newer)" ]; then exit 0; fi
new=$(mktemp -d "$site/.tilegpu-new-XXXXXX")
trap 'rm -rf "$new"' EXIT
echo "$of" > "$new/stamp"  # before the files are read
cmake --install "$build" --component python --strip --prefix "$new" > /dev/null
mkdir -p "$site/tilegpu"
# The core before the extension that needs it.
for name in libtilegpu.so $(cd "$new/tilegpu" && find . -type f ! -name libtilegpu.so); do mv -f "$new/tilegpu/$name" "$site/tilegpu/$name"; done
mv -f "$new/stamp" "$stamp"
