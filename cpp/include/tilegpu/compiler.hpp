// tilegpu/compiler.hpp -- where a device's shaders are compiled, what interrupts that, and what its disk cache keeps of it.
//
// In: a device. Out: compilers in processes of their own, with limits; entries of the cache for another machine.
#pragma once

#include "tilegpu/device.hpp"

namespace tilegpu {

/// Of one shader's compile: processor time (0: 60 s), and memory (0: 1 GiB).
struct CompilerLimits {
  double processor_s = 0;
  uint64_t memory_B = 0;
};
/// LLVM's passes, glslang and SPIRV-Tools run in processes of their own from now on (the program tilegpu-compiler beside the library): a
/// shader that makes them crash, hang or eat memory is an error. Made here is only the IR, which is linear in the module. The same bits,
/// some milliseconds for the first shader. To be called before the device compiles anything; an error where the program is missing.
TILEGPU_API Status isolate_compiler(Device& device, const CompilerLimits& limits = {});

/// For the whole process, or null. From any thread that compiles, between functions, and every few milliseconds while another process
/// compiles one: once it says no, what compiles is an error.
TILEGPU_API void set_compile_goes_on(bool (*goes_on)());

/// Why there is no disk cache though one was asked for; else empty.
TILEGPU_API std::string cache_off_because(Device& device);
/// One of Device::cache_files for the disk cache of another machine, "" where it isn't there any more. Files themselves are authentic on
/// their own machine alone, for their own user.
TILEGPU_API std::string export_cache_entry(Device& device, const std::string& name);
/// What export_cache_entry gave there. False where it is none of this name, or can't be kept. Entries are machine code that will run here:
/// they must come from who may do that.
TILEGPU_API bool import_cache_entry(Device& device, const std::string& name, const std::string& entry);

}  // namespace tilegpu
