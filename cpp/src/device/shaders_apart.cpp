// device/shaders_apart.cpp -- GLSL and modules on their way to glslang and SPIRV-Tools: GLSL and large modules in a process of their own.
//
// In: GLSL, words. Out: words, modules, or errors. glslang crashes on texts that are wrong, neither library can be interrupted, and neither
// has bounds in memory; so what strangers write goes to a compiler in a process of its own (shader/jit/compiler_pool.hpp), with the limits
// of a device that isolates it, also for those that do not: but for modules of usual sizes, which the validator, made for words of
// strangers, takes a millisecond for. Where no process can be started, all is done here. Source: docs/decisions.md, 498.
#include <atomic>

#include "device/compiler_requests.hpp"
#include "shader/module/glsl.hpp"
#include "shader/module/module_size.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu {
namespace {

/// Once a process has found that it can't serve: a library is missing, or it is of another build. None is started again.
std::atomic<bool> can_serve{true};

/// Null: the program is not beside the library, or can't be started now. Never destroyed, as threads may outlive static objects; its
/// processes end with this one.
shader::CompilerPool* compilers_apart() {
  static shader::CompilerPool* const known = [] {
    shader::PoolLimits limits;
    limits.time_name = "the limit of devices that set none; those with isolate_compiler have compile_timeout";
    limits.memory_name = "the limit of devices that set none; those with isolate_compiler have compile_memory";
    auto pool = shader::CompilerPool::create(limits);
    return pool ? pool->release() : nullptr;
  }();
  return known && can_serve && known->start() ? known : nullptr;
}

/// Whether the answer is none: then it is made here.
bool is_not_served(const Error& error) {
  const bool not_served = error.code == VK_ERROR_INITIALIZATION_FAILED;
  if (not_served) can_serve = false;
  return not_served;
}

}  // namespace

Expected<std::vector<uint32_t>> compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages) {
  if (shader::CompilerPool* compilers = compilers_apart()) {
    auto words = device::compile_elsewhere(*compilers, source, messages);
    if (words || !is_not_served(words.error())) return words;
    if (messages) messages->clear();
  }
  return shader::compile_glsl_in(".", source, messages);
}

Expected<Ptr<ShaderModule>> ShaderModule::create(std::vector<uint32_t> words, std::string label, const std::string& entry_point) {
  shader::to_native_order(words);
  shader::CompilerPool* compilers = shader::is_large(words) ? compilers_apart() : nullptr;
  if (compilers) {
    auto module = device::create_elsewhere(*compilers, std::move(words), label, entry_point);
    if (module || !is_not_served(module.error())) return module;
  }
  // NOLINTNEXTLINE(bugprone-use-after-move): create_elsewhere takes the words only where it returns a module
  return create_here(std::move(words), std::move(label), entry_point);
}

}  // namespace tilegpu
