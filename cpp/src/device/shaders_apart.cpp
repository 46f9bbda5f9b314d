// device/shaders_apart.cpp -- GLSL and modules on their way to glslang and SPIRV-Tools, which work in a process of their own.
//
// In: GLSL, words. Out: words, modules, or errors. glslang crashes on texts that are wrong, the validator takes gigabytes for modules of a
// kilobyte and overflows small stacks, neither can be interrupted; so what strangers write goes to a compiler in a process of its own
// (shader/jit/compiler_pool.hpp), with the limits of a device that isolates it, also for those that do not. Where no process can be started
// both work here. Source: docs/decisions.md, 498.
#include <cstdlib>
#include <cstring>

#include "device/compiler_requests.hpp"
#include "shader/module/glsl.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu {
namespace {

/// Null: the program is not beside the library, can't serve, or can't be started now, or nobody wants it. Never destroyed, as threads may
/// outlive static objects; its processes end with this one.
shader::CompilerPool* compilers_apart() {
  static shader::CompilerPool* const known = []() -> shader::CompilerPool* {
    const char* wanted = std::getenv("TILEGPU_COMPILER_PROCESS");
    if (wanted && !std::strcmp(wanted, "0")) return nullptr;
    shader::PoolLimits limits = shader::usual_limits();
    limits.time_name = "the limit of devices that set none; those with isolate_compiler have compile_timeout";
    if (limits.memory_B == shader::PoolLimits().memory_B)
      limits.memory_name = "the limit of devices that set none; those with isolate_compiler have compile_memory";
    auto pool = shader::CompilerPool::create(limits);
    return pool ? pool->release() : nullptr;
  }();
  return known && !known->is_useless() && known->start() ? known : nullptr;
}

}  // namespace

Expected<std::vector<uint32_t>> compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages) {
  if (shader::CompilerPool* compilers = compilers_apart()) {
    bool no_process = false;
    auto words = device::compile_elsewhere(*compilers, source, messages, &no_process);
    if (words || !(no_process || compilers->is_useless())) return words;
    if (messages) messages->clear();
  }
  return shader::compile_glsl_in(".", source, messages);
}

Expected<Ptr<ShaderModule>> ShaderModule::create(std::vector<uint32_t> words, std::string label, const std::string& entry_point) {
  shader::to_native_order(words);
  if (shader::CompilerPool* compilers = compilers_apart()) {
    bool no_process = false;
    auto module = device::create_elsewhere(*compilers, std::move(words), label, entry_point, &no_process);
    if (module || !(no_process || compilers->is_useless())) return module;
  }
  // NOLINTNEXTLINE(bugprone-use-after-move): create_elsewhere takes the words only where it returns a module
  return create_here(std::move(words), std::move(label), entry_point);
}

}  // namespace tilegpu
