// device/compiler.cpp -- see tilegpu/compiler.hpp. In: a device, limits. Out: its code generator, told so.
#include "tilegpu/compiler.hpp"

#include "device/device_state.hpp"
#include "shader/jit/compiler_pool.hpp"

namespace tilegpu {
namespace {

constexpr double kMostTimeout_s = 1e6;
constexpr uint64_t kMostMemory_B = 1ull << 50;

}  // namespace

Status isolate_compiler(Device& device, const CompilerLimits& limits) {
  if (!(limits.processor_s >= 0 && limits.processor_s <= kMostTimeout_s))
    return Error{VK_ERROR_INITIALIZATION_FAILED,
                 "Device: compile_timeout is " + std::to_string(limits.processor_s) + "; allowed are up to 1e6 seconds, and 0 for 60"};
  if (limits.memory_B && (limits.memory_B < shader::kLeastCompilerMemory_B || limits.memory_B > kMostMemory_B))
    return Error{VK_ERROR_INITIALIZATION_FAILED, "Device: compile_memory is " + std::to_string(limits.memory_B) + " bytes; allowed are " +
                                                     std::to_string(shader::kLeastCompilerMemory_B) + " to 2^50, and 0 for 2^30"};
  shader::PoolLimits of_each = shader::usual_limits();
  if (limits.processor_s > 0) of_each.processor_s = limits.processor_s;
  if (limits.memory_B) of_each.memory_B = limits.memory_B, of_each.memory_name = shader::PoolLimits().memory_name;
  auto pool = shader::CompilerPool::create(of_each);
  if (!pool) return pool.error();
  device.state().jit->set_compilers(std::move(*pool));
  return Ok{};
}

std::string cache_off_because(Device& device) { return device.state().jit->cache_off_because(); }
std::string export_cache_entry(Device& device, const std::string& name) { return device.state().jit->export_cache_entry(name); }
bool import_cache_entry(Device& device, const std::string& name, const std::string& entry) {
  return device.state().jit->import_cache_entry(name, entry);
}

}  // namespace tilegpu
