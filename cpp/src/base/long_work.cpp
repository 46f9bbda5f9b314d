// base/long_work.cpp -- see long_work.hpp.
// In: the front end's calls. Out: made where they are asked for.
#include "base/long_work.hpp"

#include <atomic>
#include <cassert>
#include <chrono>
#include <utility>

#include "tilegpu/compiler.hpp"
#include "tilegpu/long_work.hpp"

namespace tilegpu {
namespace {

// No lock: a process may fork while one of its threads is here.
std::atomic<decltype(LongWorkCalls::begin)> the_begin{nullptr};
std::atomic<decltype(LongWorkCalls::end)> the_end{nullptr};  // whoever finds a begin finds its end
std::atomic<bool (*)()> the_goes_on{nullptr};

// Who asks takes Python's lock for it: not more often than so.
constexpr std::chrono::milliseconds kBetweenAsking{10};
thread_local const std::function<void()>* asked = nullptr;
thread_local std::chrono::steady_clock::time_point asked_last;

}  // namespace

AskedWhileWorking::AskedWhileWorking(const std::function<void()>* ask) : before_(std::exchange(asked, ask)) {}
AskedWhileWorking::~AskedWhileWorking() { asked = before_; }

bool is_cancelled(const std::atomic<bool>& cancelled) {
  if (!asked || cancelled.load(std::memory_order_relaxed)) return cancelled.load(std::memory_order_relaxed);
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_last < kBetweenAsking) return false;
  asked_last = now;
  (*asked)();
  return cancelled.load(std::memory_order_relaxed);
}

void set_long_work(const LongWorkCalls& calls) {
  assert(!calls.begin == !calls.end);
  the_begin = nullptr;
  if (!calls.begin) return;
  the_end = calls.end;
  the_begin = calls.begin;
}

void set_compile_goes_on(bool (*goes_on)()) { the_goes_on = goes_on; }

bool long_work_goes_on() {
  const auto goes_on = the_goes_on.load();
  return !goes_on || goes_on();
}

void LongWork::begin() {
  assert(!end_);
  const auto begin = the_begin.load();
  if (!begin) return;
  const auto end = the_end.load();
  held_ = begin();
  end_ = end;
}

}  // namespace tilegpu
