#!/bin/sh
# test_wheel_inside.sh PYTHON WHEEL | vulkan: what test_wheel_bare.sh does inside of the bare system, as a user who has nothing but PyPI.
set -eu
cd "$HOME"
if [ "$1" = vulkan ]; then  # with the Khronos loader of that Debian
  eval "$(venv/bin/tilegpu vulkan env)"
  vulkaninfo --summary > vulkan.txt 2> vulkan.log || { cat vulkan.txt vulkan.log >&2; exit 1; }
  grep -q 'deviceName *= tilegpu' vulkan.txt || { cat vulkan.txt vulkan.log >&2; exit 1; }
  sed -n 's/^[[:space:]]*\(apiVersion\|deviceName\)[[:space:]]*= /vulkaninfo: \1 /p' vulkan.txt
  exit 0
fi
python=$1 wheel=$2
seconds() { date +%s.%N; }
"$python" -m venv venv
before=$(seconds)
venv/bin/pip install "$wheel" > pip.log 2>&1 || { cat pip.log >&2; exit 1; }
grep -iE 'warning|notice|deprecat' pip.log || true
venv/bin/python - "$before" << 'END'
import pathlib, sys, time
at = time.time()
import tilegpu
folder = pathlib.Path(tilegpu.__file__).parent
size_MB = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
print(f"Python {sys.version.split()[0]}: tilegpu {tilegpu.__version__}, installed in {at - float(sys.argv[1]):.1f} s, {size_MB:.1f} MB on the disk, imported in {time.time() - at:.2f} s")
END
venv/bin/tilegpu info
(mkdir render && cd render && ../venv/bin/tilegpu render triangle -o scene.png --size 64x64 && test -s scene.png)
venv/bin/pip install "$wheel[testing]" > pip.log 2>&1 || { cat pip.log >&2; exit 1; }
venv/bin/python steps/first_steps.py draw steps
venv/bin/python steps/first_steps.py check steps
# The driver without a loader: the manifest leads to the library, which speaks the loader's language.
venv/bin/python - << 'END'
import ctypes, json, pathlib
import tilegpu.vulkan
manifest = tilegpu.vulkan.manifest()
icd = json.loads(manifest.read_text())["ICD"]
library = (manifest.parent / icd["library_path"]).resolve(strict=True)
version = ctypes.c_uint32(7)
assert ctypes.CDLL(str(library)).vk_icdNegotiateLoaderICDInterfaceVersion(ctypes.byref(version)) == 0
print(f"{manifest.name}: {library.name}, Vulkan {icd['api_version']}, loader interface {version.value}")
END
