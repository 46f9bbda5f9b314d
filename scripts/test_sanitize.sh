#!/bin/sh
# test_sanitize.sh BUILD VENV [pytest arguments]: C++ tests, then the Python suite with the sanitized extension.
# The suite runs in an environment of its own, whose path puts the sanitized extension before the one of VENV.
set -eu
build=$1 venv=$2
shift 2
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
ctest --test-dir "$build" --output-on-failure -j "$(nproc)"

site=$(pwd)/$build/site
rm -rf "$site" && mkdir -p "$site"
cmake --install "$build" --component python --prefix "$site" >/dev/null
for part in python/tilegpu/*; do
  case $part in *.so) ;; *) ln -s "$(pwd)/$part" "$site/tilegpu/" ;; esac
done
[ -e "$site/pytest_tilegpu" ] || ln -s "$(pwd)/python/pytest_tilegpu" "$site/"
[ -e "$site/tilegpu/_samples" ] || ln -s "$(pwd)/samples" "$site/tilegpu/_samples"
[ -e "$site/tilegpu/_shaders" ] || ln -s "$(pwd)/shaders" "$site/tilegpu/_shaders"
"$venv/bin/python" -m venv --without-pip --clear "$build/venv"
python=$build/venv/bin/python
printf '%s\n%s\n' "$site" "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \
  > "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sanitize.pth"
runtime=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so):$(g++ -print-file-name=libstdc++.so)
LD_PRELOAD=$runtime PYTHONMALLOC=malloc TILEGPU_SANITIZED=1 "$python" -m pytest "$@"
