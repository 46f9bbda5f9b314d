#!/bin/sh
# The Python suite under qemu-user: the wheel of FOLDER/dist and what tests import, unpacked into FOLDER/site for the other processor. Then random
# scenes, states, passes and shaders by both processors (tests/processor_cases.py), CASES of them from SEED on: the same lines. The other
# processor has SVE of 128 bits, which is NEON's length, and then, for scene hashes and a part of the cases, of 512 and 256.
# Usage: scripts/test_aarch64.sh FOLDER PYTHON SYSROOT SEED CASES FILES-AND-OPTIONS-OF-PYTEST...   (PYTHON: this processor's, with this tree's
# tilegpu). As many files at a time as there are processors here, each in a process of its own, whose words come when it has ended.
set -eu
folder=$1 python=$2 sysroot=$3 seed=$4 cases=$5
shift 5
files='' options=''
for given in "$@"; do
  case $given in
    -*) options="$options $given" ;;
    *) files="$files $given" ;;
  esac
done
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# Bins of the profile `host` go by L2, and with them what is counted: both processors have one of this size.
export TILEGPU_CACHE_B=1048576
# No program of the other processor can be started by its name: without the wheel's own entry point, and without a compiler process.
mkdir -p "$folder/said"
cat > "$folder/there" <<END
#!/bin/sh
exec qemu-aarch64 -L "$sysroot" -E TILEGPU_CACHE_B=$TILEGPU_CACHE_B -E PYTHONPATH="$root/$folder/site" -E PYTHONDONTWRITEBYTECODE=1 \\
  -E XDG_CACHE_HOME="$root/$folder/cache" -E XDG_STATE_HOME="$root/$folder/cache" "$sysroot/usr/bin/python3" "\$@"
END
chmod +x "$folder/there"
there() { "$root/$folder/there" "$@"; }
tests() { there -m pytest -p pytest_tilegpu -p no:cacheprovider -q "$@"; }
# A file's words, and its answer.
cat > "$folder/one_file" <<END
#!/bin/sh
said="$root/$folder/said/\$(echo "\$1" | tr / _)"
answer=0
"$root/$folder/there" -m pytest -p pytest_tilegpu -p no:cacheprovider -q "\$@" > "\$said" 2>&1 || answer=\$?
cat "\$said"
exit \$answer
END
chmod +x "$folder/one_file"
site=$folder/site
version=$(qemu-aarch64 -L "$sysroot" "$sysroot/usr/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -d "$site/pytest" ]; then
  "$python" -m pip install -q --target "$site" --python-version "$version" --implementation cp --only-binary=:all: \
    --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
    "numpy>=1.24" "pillow>=10.1" "pytest>=8" "hypothesis>=6.80"
fi
rm -rf "$site/tilegpu" "$site"/tilegpu-*.dist-info "$site/pytest_tilegpu"
"$python" -m zipfile -e "$folder"/dist/tilegpu-*.whl "$site"
cd "$root"
export QEMU_CPU=max,sve128=on
# shellcheck disable=SC2086
printf '%s\n' $files | xargs -P "$(nproc)" -I FILE "$root/$folder/one_file" FILE $options
"$python" -m tests.processor_cases --seed "$seed" --cases "$cases" > "$folder/cases_here.txt"
there -m tests.processor_cases --seed "$seed" --cases "$cases" --expect "$folder/cases_here.txt"
part=$((cases / 3 > 0 ? cases / 3 : 1))
head -n "$part" "$folder/cases_here.txt" > "$folder/cases_sve.txt"
for bits in 512 256; do
  QEMU_CPU="max,sve$bits=on"
  there -c "import tilegpu; found = tilegpu.Device(cache_dir='off').info['vectors']; print(found); assert found == 'SVE, $bits bits'"
  there -m tests.processor_cases --seed "$seed" --cases "$part" --expect "$folder/cases_sve.txt"
done
QEMU_CPU=max,sve512=on
tests tests/test_nan_bits.py tests/test_one_result.py::test_committed_hashes
