// shader/jit/compiler_pool.cpp -- see compiler_pool.hpp. In: requests. Out: answers, or what became of their process.
#include "shader/jit/compiler_pool.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cassert>
#include <cstdlib>
#include <filesystem>

#include "base/long_work.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/compile_request.hpp"

namespace tilegpu::shader {
namespace {

/// Beside the library that this code is in.
std::string find_program() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&find_program), &info) || !info.dli_fname) return "";
  std::error_code none;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, none);
  return none ? "" : (library.parent_path() / "tilegpu-compiler").string();
}

std::string seconds(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", s);
  return text;
}

}  // namespace

Expected<std::unique_ptr<CompilerPool>> CompilerPool::create(const PoolLimits& limits) {
  assert(limits.processor_s > 0 && limits.memory_B > 0);
  std::unique_ptr<CompilerPool> pool(new CompilerPool);
  pool->limits_ = limits;
  pool->program_ = find_program();
  pool->build_ = build_of_compiler(std::filesystem::path(pool->program_).replace_filename("libtilegpu.so").string());
  if (access(pool->program_.c_str(), X_OK) != 0)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "Device: isolate_compiler wants the program tilegpu-compiler beside the library, '" +
                                                     pool->program_ + "', and it can't be run; install it, or leave isolate_compiler off"};
  return pool;
}

Expected<std::unique_ptr<ChildProcess>> CompilerPool::take(bool fresh) {
  if (!fresh) {
    std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      std::unique_ptr<ChildProcess> process = std::move(idle_.back());
      idle_.pop_back();
      if (process->is_ours()) return process;  // else this process is a fork's child, and lets go of what is the parent's
    }
  }
  return ChildProcess::start(program_, {std::to_string(limits_.memory_B), build_});
}

void CompilerPool::give(std::unique_ptr<ChildProcess> process) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(process));
}

Error CompilerPool::failed(ChildProcess& process, ChildProcess::Outcome outcome, const std::string& what) const {
  using Outcome = ChildProcess::Outcome;
  if (outcome == Outcome::stopped) return {VK_ERROR_UNKNOWN, what + ": compiling was interrupted"};
  if (outcome == Outcome::too_long)
    return {VK_ERROR_INVALID_SHADER_NV,
            what + ": compiling took more than " + seconds(limits_.processor_s) +
                " of processor time (the device's compile_timeout) and was ended; simplify the shader or raise it"};
  int code = -1;
  const std::string how = process.ended(code);
  if (code == kExitNoMemory)
    return {VK_ERROR_OUT_OF_DEVICE_MEMORY, what + ": compiling wants more than " + std::to_string(limits_.memory_B) +
                                               " bytes (the device's compile_memory); simplify the shader or raise it"};
  if (code == kExitOtherBuild)
    return {VK_ERROR_INITIALIZATION_FAILED, program_ + " is of another build than the library beside it; install both"};
  return {VK_ERROR_INVALID_SHADER_NV, what + ": the compiler's process ended with " + how +
                                          "; that is a bug of the compiler's, which the shader meets: please report both"};
}

Expected<std::string> CompilerPool::ask(const std::string& what, const std::string& request) {
  assert(!what.empty() && !request.empty());
  // One that ends may have been dead before, or may have died of what it was asked earlier: a second that is new tells.
  for (bool fresh = false;; fresh = true) {
    Expected<std::unique_ptr<ChildProcess>> process = take(fresh);
    if (!process) return Error{process.error().code, what + ": " + process.error().message};
    std::string answer;
    const auto outcome = (*process)->call(request, answer, limits_.processor_s, compile_goes_on);
    if (outcome == ChildProcess::Outcome::ended && !fresh) continue;
    if (outcome != ChildProcess::Outcome::answered) return failed(**process, outcome, what);
    const bool stays = answer[0] == kStaysFresh;
    answer.erase(0, 1);
    if (stays) give(std::move(*process));
    return answer;
  }
}

}  // namespace tilegpu::shader
