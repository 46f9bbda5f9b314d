// shader/jit/compiler_pool.cpp -- see compiler_pool.hpp. In: requests. Out: answers, or what became of their process.
#include "shader/jit/compiler_pool.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <filesystem>

#include "base/memory_budget.hpp"
#include "shader/jit/build_identity.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/compile_request.hpp"

namespace tilegpu::shader {
namespace {

// A pipeline's stages are compiled at once, so that more than one is used again; each has some tens of megabytes.
constexpr size_t kMostIdle = 2;

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

PoolLimits usual_limits() {
  PoolLimits limits;
  if (const uint64_t most_B = std::max(memory_limit_B(), kLeastCompilerMemory_B); most_B < limits.memory_B) {
    limits.memory_B = most_B;
    limits.memory_name = "TILEGPU_MEMORY_MB, or seven eighths of what the machine or its control group has";
  }
  return limits;
}

Expected<std::unique_ptr<CompilerPool>> CompilerPool::create(const PoolLimits& limits) {
  assert(limits.processor_s > 0 && limits.memory_B > 0);
  std::unique_ptr<CompilerPool> pool(new CompilerPool);
  pool->limits_ = limits;
  pool->program_ = find_program();
  if (access(pool->program_.c_str(), X_OK) != 0)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "Device: isolate_compiler wants the program tilegpu-compiler beside the library, '" +
                                                     pool->program_ + "', and it can't be run; install it, or leave isolate_compiler off"};
  return pool;
}

Expected<CompilerPool::Taken> CompilerPool::take(bool fresh) {
  if (!fresh) {
    std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      Taken waiting = std::move(idle_.back());
      idle_.pop_back();
      if (waiting.process->serves()) return waiting;  // else this process is a fork's child, and lets go of the parent's
    }
  }
  auto started = ChildProcess::start(program_, {std::to_string(limits_.memory_B), build_identity()});
  if (!started) return started.error();
  return Taken{std::move(*started), false};
}

void CompilerPool::give(Taken taken) {
  assert(taken.process);
  std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(taken));  // else it ends, after the lock
}

Error CompilerPool::ended(const ChildProcess::Ending& how, const std::string& what) const {
  if (how.code == kExitOtherBuild || how.never_ready) useless_ = true;
  if (how.not_started) {
    const Error error = ChildProcess::no_process(program_, how.not_started);
    return {error.code, what + ": " + error.message};
  }
  if (how.never_ready)
    return {VK_ERROR_INITIALIZATION_FAILED,
            what + ": " + program_ + " can't be loaded; run it by hand, and it says which library is missing"};
  switch (how.code) {
    case kExitNoMemory:
      return {VK_ERROR_OUT_OF_DEVICE_MEMORY, what + ": compiling wants more than " + std::to_string(limits_.memory_B) + " bytes (" +
                                                 limits_.memory_name + "); simplify the shader or raise it"};
    case kExitLowLimit:
      return {VK_ERROR_OUT_OF_DEVICE_MEMORY,
              what +
                  ": compiling wants more memory than the process itself may have (ulimit -v), which is less "
                  "than " +
                  limits_.memory_name + "; simplify the shader or raise the limit"};
    case kExitOtherBuild:
      return {VK_ERROR_INITIALIZATION_FAILED,
              program_ + " is of another build than the library that asks it; install both, and start anew"};
    case kExitCannotStart:
      return {VK_ERROR_INITIALIZATION_FAILED,
              what + ": " + program_ + " can't start: it gets nothing to limit its memory by (/proc/self/statm, RLIMIT_AS)"};
    default:
      break;
  }
  // A compiler gets none of these by itself. With neither a code nor a signal its keeper was ended.
  const bool from_outside = how.signal == SIGKILL || how.signal == SIGTERM || how.signal == SIGXCPU || (how.code < 0 && how.signal < 0);
  if (from_outside)
    return {VK_ERROR_UNKNOWN,
            what + ": the compiler's process was ended from outside with " + how.text +
                ", by somebody, by a limit of the process's (ulimit -t) or by the system where memory ran out; try again"};
  return {VK_ERROR_INVALID_SHADER_NV, what + ": the compiler's process ended with " + how.text +
                                          "; that is a bug of the compiler's, which the shader meets: please report both"};
}

Error CompilerPool::failed(ChildProcess& process, ChildProcess::Outcome outcome, const std::string& what) const {
  using Outcome = ChildProcess::Outcome;
  switch (outcome) {
    case Outcome::stopped:
      return compile_interrupted(what);
    case Outcome::too_long:
      return {VK_ERROR_INVALID_SHADER_NV, what + ": compiling took more than " + seconds(limits_.processor_s) + " of processor time (" +
                                              limits_.time_name + ") and was ended; simplify the shader or raise it"};
    case Outcome::too_long_by_clock:
      return {VK_ERROR_INVALID_SHADER_NV, what + ": compiling did not end within " + seconds(kClockOverProcessor * limits_.processor_s) +
                                              " by the clock, in which its process got less than " + seconds(limits_.processor_s) +
                                              " of processor time (" + limits_.time_name +
                                              "), and was ended; raise it, or give the machine less to do"};
    case Outcome::garbled:
      return {VK_ERROR_INVALID_SHADER_NV,
              what +
                  ": the compiler's process gave an answer that is none; that is a bug of the compiler's, which "
                  "the shader meets: please report both"};
    default:
      return ended(process.ended(), what);
  }
}

Status CompilerPool::start() {
  Expected<Taken> taken = take(false);
  if (!taken) return taken.error();
  give(std::move(*taken));
  return Ok{};
}

Expected<std::string> CompilerPool::ask(const std::string& what, const std::string& request, bool* no_process) {
  assert(!what.empty() && !request.empty());
  if (request.size() > kMaxMessage_B)
    return Error{VK_ERROR_INVALID_SHADER_NV, what + ": it has " + std::to_string(request.size()) +
                                                 " bytes for the compiler's process; at most " + std::to_string(kMaxMessage_B) +
                                                 " are sent; simplify the shader"};
  // One that has served may have been dead before, or may have died of what it was asked earlier: a second that is new tells.
  for (bool fresh = false;; fresh = true) {
    Expected<Taken> taken = take(fresh);
    if (no_process) *no_process = !taken;
    if (!taken) return Error{taken.error().code, what + ": " + taken.error().message};
    ChildProcess& process = *taken->process;
    std::string answer;
    const auto call = [&] { return process.call(request, answer, limits_.processor_s, compile_goes_on); };
    auto outcome = call();
    const auto died = [&] { return outcome == ChildProcess::Outcome::ended || outcome == ChildProcess::Outcome::garbled; };
    if (died() && taken->has_served) {
      if (!process.serves()) continue;
      outcome = call();
    }
    taken->has_served = outcome == ChildProcess::Outcome::answered;
    if (!taken->has_served) {
      const Error error = failed(process, outcome, what);
      if (process.serves()) give(std::move(*taken));
      return error;
    }
    if (answer[0] != kStaysFresh) process.renew(), taken->has_served = false;
    answer.erase(0, 1);
    give(std::move(*taken));
    return answer;
  }
}

}  // namespace tilegpu::shader
