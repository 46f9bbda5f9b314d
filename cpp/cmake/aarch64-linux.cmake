# Toolchain: the core for aarch64 Linux on another machine. TILEGPU_SYSROOT is where scripts/aarch64_sysroot.sh unpacked Debian's arm64
# packages; what is built runs there under qemu-user (ctest does so by itself).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TILEGPU_SYSROOT "$ENV{TILEGPU_SYSROOT}" CACHE PATH "Debian's arm64 packages, unpacked")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TILEGPU_SYSROOT)
if(NOT EXISTS "${TILEGPU_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "TILEGPU_SYSROOT is '${TILEGPU_SYSROOT}': no aarch64 system is there; `make sysroot-aarch64` unpacks one")
endif()
set(CMAKE_SYSROOT ${TILEGPU_SYSROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)  # pybind11 is the build machine's
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${TILEGPU_SYSROOT})
# Headers of the Python that the extension is for; the interpreter that is asked otherwise is the build machine's, of the same version.
file(GLOB _python_headers ${TILEGPU_SYSROOT}/usr/include/python3.*)
if(_python_headers)
  list(GET _python_headers 0 Python_INCLUDE_DIR)
  string(REGEX REPLACE ".*python3\\.([0-9]+).*" ".cpython-3\\1-aarch64-linux-gnu.so" PYTHON_MODULE_EXTENSION ${Python_INCLUDE_DIR})
endif()
# The build machine's own: LLVM's folder in the sysroot has programs of the other processor.
find_program(TILEGPU_OBJCOPY NAMES llvm-objcopy-19 llvm-objcopy-20 llvm-objcopy PATHS /usr/lib/llvm-19/bin NO_CMAKE_FIND_ROOT_PATH)
