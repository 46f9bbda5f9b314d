// exec/thread_pool.hpp -- the workers of a device: lazy, kept, and no more of them than affinity and cgroup quota allow.
// In: a function and a number of jobs. Out: it was called once for each.
// Each worker has its own run of the job numbers, the same in every frame, and takes them in order; who has done all of its own takes
// the last one of whoever has most left. So neighbouring chunks and bins, and what a frame leaves for the next, stay in one core's
// cache. The caller is worker 0. Order never depends on who takes which job.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tilegpu::exec {

class JobRecorder;

/// Threads that this process may keep busy: min(affinity mask, cgroup v1/v2 CPU quota rounded up), at least 1.
uint32_t usable_threads();

class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  uint32_t threads() const { return threads_; }
  /// `phase` says what the jobs are, for who records them. Calls job(worker, index) for every index in [0, count), on at most threads()
  /// threads; returns when all are done. `worker` is in [0, threads()); no two calls with the same worker overlap. Must not be called from
  /// a job. When memory runs out in a job (std::bad_alloc), the jobs not yet begun are dropped and the exception goes on from here.
  void run(const char* phase, uint32_t count, const std::function<void(uint32_t worker, uint32_t index)>& job);
  /// What run()'s caller calls before each job that it takes, and while it waits for others'; is_cancelled() calls it within its jobs.
  /// Null: nothing.
  void set_poll(const std::function<void()>* poll) { poll_ = poll; }
  /// What jobs that are not told otherwise look at before they begin; null: nobody cancels.
  void set_cancelled(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }
  bool cancelled() const { return cancelled_ && cancelled_->load(std::memory_order_relaxed); }
  /// Not null: runs are recorded, all on their callers' threads. Not to be called while anything runs.
  void set_recorder(JobRecorder* recorder) { recorder_ = recorder; }

 private:
  void start();
  void work(uint32_t worker);
  void sleep_until_done(uint32_t busy);
  void take_jobs(uint32_t worker);
  void take_job(uint32_t worker, uint32_t index);
  bool next_job(uint32_t worker, uint32_t& index);

  const uint32_t threads_;
  std::vector<std::thread> workers_;  // threads_ - 1, made at the first run that needs them; fewer where the system refuses
  bool started_ = false;
  // Lines of their own: who waits for the next run reads the first, while those that end count themselves out on the second.
  alignas(64) std::atomic<uint32_t> generation_{0};  // grows with every run; waited upon
  alignas(64) std::atomic<uint32_t> busy_{0};
  std::atomic<bool> caller_sleeps_{false};
  /// Jobs that nobody has taken yet of a worker's own: the first in the low half, their end in the high one.
  struct alignas(64) Jobs {
    std::atomic<uint64_t> left{0};
  };
  alignas(64) std::unique_ptr<Jobs[]> jobs_;  // of each worker
  const std::function<void(uint32_t, uint32_t)>* job_ = nullptr;
  const std::function<void()>* poll_ = nullptr;
  const std::atomic<bool>* cancelled_ = nullptr;
  JobRecorder* recorder_ = nullptr;
  std::atomic<bool> stop_{false};
  std::atomic_flag out_of_memory_;  // of the current run; who sets it writes failure_
  std::exception_ptr failure_;
};

}  // namespace tilegpu::exec
