// tilegpu/compiler.hpp -- where a device's shaders are compiled, what interrupts that, and what its disk cache keeps of it.
//
// In: a device. Out: compilers in processes of their own, with limits; entries of the cache for another machine.
#pragma once

#include "tilegpu/device.hpp"

namespace tilegpu {

/// Of each request to such a process: one shader's GLSL, its validation, or one function of its code.
struct CompilerLimits {
  /// Of its processor time, up to 1e6; 0: 60. By the clock it may take four times as long.
  double processor_s = 0;
  /// Of address space beyond what the process begins with, 2^25 to 2^50; 0: 2^30, or TILEGPU_MEMORY_MB where that is
  /// less. A limit of this process's (RLIMIT_AS) stays in force.
  uint64_t memory_B = 0;
};
/// LLVM's passes, glslang and SPIRV-Tools run in processes of their own from now on (the program tilegpu-compiler beside the library): a
/// shader that makes them crash, hang or eat memory is an error. Made here is only the IR, which is linear in the module. The same bits;
/// docs/reliability.md says what it costs. To be called before the device compiles anything; an error where the program is missing or a
/// limit is none that is allowed. Where the program can't be started later (too many processes or files), that compile is an error.
TILEGPU_API Status isolate_compiler(Device& device, const CompilerLimits& limits = {});

/// For the whole process, or null: nothing interrupts compiles. True: go on. It is asked on any thread that compiles, before each function,
/// and every few milliseconds while another process compiles one or another thread is waited for. The core may hold locks then, so that it
/// must not call the core, nor run what might (a program's own handlers of signals). Once it has said no, it is to say so on this thread
/// until the call that compiles has returned: an error, unless all was compiled before anybody asked.
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
