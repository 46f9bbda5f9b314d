// exec/thread_pool.cpp -- see thread_pool.hpp.
#include "exec/thread_pool.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "base/host_memory.hpp"
#include "base/intrinsics.hpp"
#include "base/long_work.hpp"
#include "exec/job_recorder.hpp"

namespace tilegpu::exec {

namespace {

// cgroup v2: "max 100000" or "200000 100000" in cpu.max of our group or one above it; v1: cpu.cfs_quota_us / cpu.cfs_period_us.
double cgroup_quota() {
  double least = 1e9;
  std::string path;
  std::ifstream self("/proc/self/cgroup");
  for (std::string line; std::getline(self, line);)
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) least = std::min(least, std::atof(quota.c_str()) / period);
    if (path.empty() || path == "/") break;
    path = path.substr(0, path.find_last_of('/'));
  }
  double quota = 0, period = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) least = std::min(least, quota / period);
  return least;
}

// At the end of a phase the caller waits a few microseconds for the others; sleeping in the kernel would cost more than that.
constexpr int kSpins = 2000;
// Who draws frame after frame asks for the next pass within so long of the last one. A worker that sleeps then is late by 50 microseconds
// or more (measured: by all that a clear takes, on kernels that put short work on the processor of who wakes it).
constexpr std::chrono::microseconds kAwake{250};

// std::atomic's own waits have no end but the change.
void wait_while(std::atomic<uint32_t>& word, uint32_t value, const timespec* at_most) {
  static_assert(sizeof word == 4 && std::atomic<uint32_t>::is_always_lock_free);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, at_most, nullptr, 0);
}
void wake(std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

/// True: it has changed from `seen`; false: it has not for kAwake.
bool changes_soon(const std::atomic<uint32_t>& generation, uint32_t seen) {
  const auto from = std::chrono::steady_clock::now();
  do {
    for (int spin = 0; spin < 64; spin++) {
      if (generation.load(std::memory_order_acquire) != seen) return true;
      spin_pause();
    }
  } while (std::chrono::steady_clock::now() - from < kAwake);
  return false;
}

}  // namespace

uint32_t usable_threads() {
  uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) threads = std::max(1, CPU_COUNT(&set));
  const double quota = cgroup_quota();
  if (quota < threads) threads = std::max(1u, static_cast<uint32_t>(std::ceil(quota)));
  return threads;
}

ThreadPool::ThreadPool(uint32_t threads) : threads_(std::max(1u, threads)) {}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start() {
  // With fewer threads than wanted the result is the same.
  started_ = true;
  try {
    jobs_ = std::make_unique<Jobs[]>(threads_);
    workers_.reserve(threads_ - 1);
    for (uint32_t i = 1; i < threads_; i++) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {
  }
}

void ThreadPool::run(const char* phase, uint32_t count, const std::function<void(uint32_t, uint32_t)>& job) {
  if (count == 0) return;
  const AskedWhileWorking asked(poll_);
  if (recorder_) {
    // Each job is its own worker's, as if nobody took others': what workers do once a pass, and what is summed over them, is there too.
    const auto owned = [&](uint32_t, uint32_t i) {
      job(count == 1 ? 0 : static_cast<uint32_t>((uint64_t{i + 1} * threads_ - 1) / count), i);
    };
    return recorder_->run(phase, count, owned, poll_);
  }
  if (threads_ != 1 && count != 1 && !started_) start();
  if (workers_.empty() || count == 1) {
    for (uint32_t i = 0; i < count; i++) {
      if (poll_) (*poll_)();
      job(0, i);
    }
    return;
  }
  assert(job && busy_.load(std::memory_order_relaxed) == 0);  // one caller at a time
  job_ = &job;
  const uint64_t workers = workers_.size() + 1;
  for (uint64_t w = 0; w < workers; w++)
    jobs_[w].left.store(count * w / workers | (count * (w + 1) / workers) << 32, std::memory_order_relaxed);
  busy_.store(static_cast<uint32_t>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_jobs(0);
  for (int spin = 0;; spin++) {
    const uint32_t busy = busy_.load(std::memory_order_acquire);
    if (busy == 0) break;
    if (spin < kSpins)
      spin_pause();
    else
      sleep_until_done(busy);
  }
  if (failure_) {
    out_of_memory_.clear();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

// The only exception that a job may end with; it must not leave the thread.
// Until fewer than `busy` workers are, or it is time to ask again whether to go on: a job may be long, and be another's.
void ThreadPool::sleep_until_done(uint32_t busy) {
  constexpr timespec kBetweenPolls{0, 20'000'000};
  caller_sleeps_.store(true);
  if (busy_.load() == busy) wait_while(busy_, busy, poll_ ? &kBetweenPolls : nullptr);
  caller_sleeps_.store(false);
  if (poll_) (*poll_)();
}

void ThreadPool::take_job(uint32_t worker, uint32_t index) {
  assert(job_ && worker < threads_);
  try {
    (*job_)(worker, index);
  } catch (const std::bad_alloc&) {
    for (uint32_t w = 0; w < threads_; w++) jobs_[w].left.store(0, std::memory_order_relaxed);
    if (!out_of_memory_.test_and_set()) failure_ = std::current_exception();
  }
}

// False: every job is taken.
bool ThreadPool::next_job(uint32_t worker, uint32_t& index) {
  const auto count = [](uint64_t jobs) { return static_cast<uint32_t>(jobs >> 32) - static_cast<uint32_t>(jobs); };
  std::atomic<uint64_t>& own = jobs_[worker].left;
  uint64_t jobs = own.load(std::memory_order_relaxed);
  while (count(jobs)) {
    index = static_cast<uint32_t>(jobs);
    if (own.compare_exchange_weak(jobs, jobs + 1, std::memory_order_relaxed)) return true;
  }
  for (;;) {
    uint32_t from = worker, most = 0;
    for (uint32_t w = 0; w < threads_; w++) {
      const uint64_t left = jobs_[w].left.load(std::memory_order_relaxed);
      if (count(left) > most) jobs = left, most = count(left), from = w;
    }
    if (!most) return false;
    if (!jobs_[from].left.compare_exchange_strong(jobs, jobs - (uint64_t{1} << 32), std::memory_order_relaxed)) continue;
    index = static_cast<uint32_t>(jobs >> 32) - 1;
    return true;
  }
}

void ThreadPool::take_jobs(uint32_t worker) {
  for (uint32_t index; next_job(worker, index);) {
    if (poll_ && worker == 0) (*poll_)();
    take_job(worker, index);
  }
}

void ThreadPool::work(uint32_t worker) {
  prepare_thread();
  uint32_t seen = 0;
  for (;;) {
    while (!changes_soon(generation_, seen)) generation_.wait(seen, std::memory_order_acquire);
    seen++;
    if (stop_) return;
    take_jobs(worker);
    if (busy_.fetch_sub(1) == 1 && caller_sleeps_.load()) wake(busy_);  // who sets the flag looks at the number then
  }
}

}  // namespace tilegpu::exec
