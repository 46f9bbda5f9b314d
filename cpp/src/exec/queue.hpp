// exec/queue.hpp -- the device's queue, by a thread of its own or who waits. In: submissions, in order. Out: executed, signaled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "exec/execution.hpp"
#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/submission.hpp"

namespace tilegpu {

struct Submission::State {
  mutable ForkMutex mutex;
  mutable ForkCondition changed;
  mutable bool signaled = false;
  mutable bool failed = false;
  mutable Error error;
  const uint32_t made_in_fork = fork_number();  // what another process's threads execute ends here with an error
  std::atomic<bool> cancelled{false};           // it is to end as soon as possible
  HiddenSurfaceRemoval hsr;                     // of passes that do not say otherwise
  exec::Execution execution;                    // belongs to who executes it until signaled; then nobody writes to it any more

  void finish(const Status& status);
  bool wait(int64_t timeout_ms) const;
};

}  // namespace tilegpu

namespace tilegpu::exec {

class Queue {
 public:
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  /// `work` runs on the queue's thread; what it returns ends up in `state`, which is kept until then.
  void submit(Ptr<Submission::State> state, std::function<Status()> work);
  /// Runs `work` on the calling thread, in its turn: only where nothing runs and nothing waits. False: not done, submit it.
  bool run_here(const Ptr<Submission::State>& state, const std::function<Status()>& work, Status& status);
  /// What runs and what waits is to end as soon as possible; what is submitted later isn't meant.
  void cancel();
  void wait_idle();
  bool on_own_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void loop();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Ptr<Submission::State>, std::function<Status()>>> pending_;
  bool stop_ = false, running_ = false;
  Submission::State* current_ = nullptr;  // of what runs
  int waiting_ = 0;                       // in wait_idle()
  std::thread thread_;
};

}  // namespace tilegpu::exec
