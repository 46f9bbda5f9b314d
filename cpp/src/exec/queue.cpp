// exec/queue.cpp -- see queue.hpp. Submissions are executed in the order of submit(), one at a time; each uses all workers.
#include "exec/queue.hpp"

#include <cassert>
#include <chrono>

#include "base/host_memory.hpp"

namespace tilegpu {

void Submission::State::finish(const Status& status) {
  {
    std::lock_guard lock(mutex);
    assert(!signaled);
    failed = !status;
    if (!status) error = status.error();
    signaled = true;
  }
  changed.notify_all();
}

bool Submission::State::wait(int64_t timeout_ms) const {
  std::unique_lock<std::mutex> lock(mutex);
  if (!signaled && made_in_fork != fork_number()) {
    signaled = failed = true;
    error = {VK_ERROR_DEVICE_LOST, "it was submitted before this process was forked and is executed by the process before; submit it anew"};
  }
  const auto done = [&] { return signaled; };
  if (timeout_ms < 0) {
    changed.wait(lock, done);
    return true;
  }
  return changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), done);
}

}  // namespace tilegpu

namespace tilegpu::exec {

namespace {

// Passes turn a lack of memory into an error that names them; what is left are transfers.
Status run(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc& refused) {
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 "a transfer: " + refused_text(refused, "its working memory") + "; use smaller images or give the process more memory"};
  }
}

}  // namespace

Queue::Queue() : thread_([this] { loop(); }) {}

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Queue::submit(Ptr<Submission::State> state, std::function<Status()> work) {
  assert(state && work);
  {
    std::lock_guard lock(mutex_);
    pending_.emplace_back(std::move(state), std::move(work));
  }
  changed_.notify_all();
}

bool Queue::run_here(const Ptr<Submission::State>& state, const std::function<Status()>& work, Status& status) {
  assert(state);
  {
    std::lock_guard lock(mutex_);
    if (running_ || !pending_.empty()) return false;
    assert(!stop_);
    running_ = true;
    current_ = state.get();
  }
  status = run(work);
  bool others;
  {
    std::lock_guard lock(mutex_);
    running_ = false;
    current_ = nullptr;
    others = waiting_ != 0 || !pending_.empty();
  }
  if (others) changed_.notify_all();
  return true;
}

void Queue::cancel() {
  std::lock_guard lock(mutex_);
  if (current_) current_->cancelled = true;
  for (const auto& [state, work] : pending_) state->cancelled = true;
}

void Queue::wait_idle() {
  std::unique_lock lock(mutex_);
  waiting_++;
  changed_.wait(lock, [this] { return pending_.empty() && !running_; });
  assert(waiting_ > 0);
  waiting_--;
}

void Queue::loop() {
  prepare_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !running_ && (stop_ || !pending_.empty()); });
    if (pending_.empty()) return;  // stop only when everything submitted was executed
    auto [state, work] = std::move(pending_.front());
    pending_.pop_front();
    running_ = true;
    current_ = state.get();
    lock.unlock();
    const Status status = run(work);
    work = nullptr;
    state->finish(status);
    lock.lock();
    current_ = nullptr;
    lock.unlock();
    state.reset();  // maybe the last owner of recordings, and of the device
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace tilegpu::exec
