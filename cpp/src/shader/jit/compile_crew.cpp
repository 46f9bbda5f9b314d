// shader/jit/compile_crew.cpp -- see compile_crew.hpp.
#include "shader/jit/compile_crew.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/host_memory.hpp"
#include "base/long_work.hpp"

namespace tilegpu::shader {
namespace {

thread_local const std::function<void()>* on_compile = nullptr;
thread_local std::atomic<bool>* stopped = nullptr;             // of the run_compiles that this thread works for
constexpr VkResult kInterrupted = VK_ERROR_NOT_PERMITTED_KHR;  // of no other error of compiling

}  // namespace

void before_compile() {
  if (const auto* call = std::exchange(on_compile, nullptr)) (*call)();
}

bool compile_goes_on() {
  if (stopped && stopped->load()) return false;
  const bool goes_on = long_work_goes_on();
  if (!goes_on && stopped) stopped->store(true);
  return goes_on;
}

StopsCompiles::StopsCompiles(std::atomic<bool>& stop) : outer_(std::exchange(stopped, &stop)) {}
StopsCompiles::~StopsCompiles() { stopped = outer_; }

Error compile_interrupted(const std::string& what) { return {kInterrupted, what + ": compiling was interrupted"}; }
bool is_interrupted(const Error& error) { return error.code == kInterrupted; }

Status run_compiles(uint32_t threads, const std::vector<std::function<Status()>>& tasks) {
  assert(threads >= 1);
  std::atomic<size_t> next{0};
  std::vector<std::optional<Error>> errors(tasks.size());
  const auto take_tasks = [&] {
    for (size_t k; (k = next.fetch_add(1)) < tasks.size();) {
      try {
        if (Status done = tasks[k](); !done) errors[k] = done.error();
      } catch (const std::bad_alloc& refused) {  // must not leave a thread
        errors[k] = Error{VK_ERROR_OUT_OF_HOST_MEMORY, refused_text(refused, "compiling")};
      }
    }
  };
  std::vector<std::thread> helpers;
  std::atomic<bool> stop{false};
  std::mutex mutex;  // of busy
  std::condition_variable idle;
  size_t busy = 0;
  const std::function<void()> call_helpers = [&] {
    const size_t taken = std::min(next.load(), tasks.size());
    const size_t wanted = std::min<size_t>(threads - 1, tasks.size() - taken);
    try {
      helpers.reserve(wanted);
      while (helpers.size() < wanted) {
        {
          std::lock_guard lock(mutex);
          busy++;
        }
        try {
          helpers.emplace_back([&] {
            prepare_thread();
            stopped = &stop;
            take_tasks();
            std::lock_guard lock(mutex);
            if (--busy == 0) idle.notify_all();
          });
        } catch (...) {
          std::lock_guard lock(mutex);
          busy--;
          throw;
        }
      }
    } catch (const std::system_error&) {  // fewer threads, the same code
    } catch (const std::bad_alloc&) {
    }
  };
  const auto* outer = std::exchange(on_compile, threads > 1 && tasks.size() > 1 ? &call_helpers : nullptr);
  auto* outer_stopped = std::exchange(stopped, &stop);
  take_tasks();
  on_compile = outer;
  {
    // Only this thread may hear of Ctrl-C, whoever compiles: the others' functions end with compile_interrupted, or are complete.
    std::unique_lock lock(mutex);
    while (!idle.wait_for(lock, kAskMeanwhile, [&] { return busy == 0; })) {
      lock.unlock();
      compile_goes_on();
      lock.lock();
    }
  }
  stopped = outer_stopped;
  assert(helpers.size() < threads && next.load() >= tasks.size());
  for (std::thread& helper : helpers) helper.join();
  for (const auto& error : errors)
    if (error) return *error;
  return Ok{};
}

}  // namespace tilegpu::shader
