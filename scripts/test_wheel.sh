#!/bin/sh
# test_wheel.sh PYTHON WHEEL: installs the wheel into an empty virtual environment, shows what the extension links dynamically, and
# runs the README's first triangle in an empty directory. Fails if the extension needs more than the C library.
set -eu
python=$1 wheel=$(realpath "$2") repository=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q "$wheel"
extension=$(find "$work/venv" -path '*/tilegpu/_core*.so')
ls -l "$extension" | awk '{ print "extension: " $5 " bytes" }'
needed=$(readelf -d "$extension" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')
echo "needs: $needed"
for library in $needed; do
  case $library in
    libc.so.6|libm.so.6|libdl.so.2|libpthread.so.0|librt.so.1|ld-linux-x86-64.so.2) ;;
    *) echo "the wheel is not self-contained: $library" >&2; exit 1 ;;
  esac
done
awk '/^```python/ { on = 1; next } /^```/ { if (on) exit } on' "$repository/README.md" > "$work/first_triangle.py"
mkdir "$work/empty"
(cd "$work/empty" && "$work/venv/bin/python" "$work/first_triangle.py" && test -s triangle.png)
(cd "$work/empty" && "$work/venv/bin/tilegpu" render triangle -o scene.png --size 64x64 && test -s scene.png)
echo "the wheel works: $(basename "$wheel")"
