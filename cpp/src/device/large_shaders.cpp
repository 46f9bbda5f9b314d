// device/large_shaders.cpp -- GLSL and modules on their way to glslang and SPIRV-Tools: small ones in this process, large ones in another.
//
// In: GLSL, words. Out: words, modules, or errors. Nothing interrupts either library, and neither can be bounded in memory; so what may
// take longer than about a second goes to a compiler in a process of its own (shader/jit/compiler_pool.hpp), with the limits of a device
// that isolates it, also for those that do not. Where no process can be started, large ones are taken here too. Source:
// docs/decisions.md, 498.
#include "device/compiler_requests.hpp"
#include "shader/module/glsl.hpp"
#include "shader/module/module_size.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu {
namespace {

/// Null: the program is not beside the library, or can't be started now. Never destroyed, as threads may outlive static objects; its
/// processes end with this one.
shader::CompilerPool* large_compilers() {
  static shader::CompilerPool* const known = [] {
    shader::PoolLimits limits;
    limits.time_name = "the limit of large shaders; a device with isolate_compiler has compile_timeout";
    limits.memory_name = "the limit of large shaders; a device with isolate_compiler has compile_memory";
    auto pool = shader::CompilerPool::create(limits);
    return pool ? pool->release() : nullptr;
  }();
  return known && known->start() ? known : nullptr;
}

/// Whether it found, once started, that it can't serve: a library is missing, or is of another build.
bool is_not_started(const Error& error) { return error.code == VK_ERROR_INITIALIZATION_FAILED; }

}  // namespace

Expected<std::vector<uint32_t>> compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages) {
  const shader::GlslSize size = shader::measure_glsl_in(".", source);
  if (shader::is_large(source, size))
    if (shader::CompilerPool* compilers = large_compilers()) {
      auto words = device::compile_elsewhere(*compilers, source, messages);
      if (words || !is_not_started(words.error())) return words;
      if (messages) messages->clear();
    }
  return shader::compile_glsl_in(".", source, size, messages);
}

Expected<Ptr<ShaderModule>> ShaderModule::create(std::vector<uint32_t> words, std::string label, const std::string& entry_point) {
  shader::to_native_order(words);
  if (shader::is_large(words))
    if (shader::CompilerPool* compilers = large_compilers()) {
      auto module = device::create_elsewhere(*compilers, std::move(words), label, entry_point);
      if (module || !is_not_started(module.error())) return module;
    }
  // NOLINTNEXTLINE(bugprone-use-after-move): create_elsewhere takes the words only where it returns a module
  return create_here(std::move(words), std::move(label), entry_point);
}

}  // namespace tilegpu
