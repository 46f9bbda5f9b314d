#!/bin/sh
# test_wheel.sh PYTHON WHEEL: installs the wheel into an empty virtual environment, shows what its libraries link dynamically, and
# runs the README's first triangle in an empty directory. Fails if they need more than the C and C++ libraries, or if the wheel doesn't
# carry its licences.
set -eu
python=$1 wheel=$(realpath "$2") repository=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q "$wheel"
for library in $(find "$work/venv" -path '*/tilegpu/*.so'); do
  name=$(basename "$library")
  needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')
  versions=$(readelf -V "$library" | grep -oE '(GLIBC|GLIBCXX)_[0-9.]+' | sort -uV | awk -F_ '{ newest[$1] = $0 } END { print newest["GLIBC"], newest["GLIBCXX"] }')
  echo "$name: $(stat -c %s "$library") bytes; needs $needed($versions)"
  for other in $needed; do
    case $other in
      libc.so.6|libm.so.6|libdl.so.2|libpthread.so.0|librt.so.1|ld-linux-x86-64.so.2|libstdc++.so.6|libgcc_s.so.1) ;;
      libtilegpu.so) test "$name" != "$other" ;;
      *) echo "the wheel is not self-contained: $other" >&2; exit 1 ;;
    esac
  done
done
information=$(find "$work/venv" -path '*/tilegpu-*.dist-info' -type d)
grep -qx 'License-Expression: Apache-2.0' "$information/METADATA"
for text in LICENSE THIRD_PARTY_NOTICES; do cmp "$repository/$text" "$information/licenses/$text"; done
awk '/^## The first triangle/ { there = 1 } there && /^```python/ { on = 1; next } /^```/ { if (on) exit } on' "$repository/README.md" > "$work/first_triangle.py"
mkdir "$work/empty"
(cd "$work/empty" && "$work/venv/bin/python" "$work/first_triangle.py" && test -s triangle.png)
(cd "$work/empty" && "$work/venv/bin/tilegpu" render triangle -o scene.png --size 64x64 && test -s scene.png)
echo "the wheel works: $(basename "$wheel")"
