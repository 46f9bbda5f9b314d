// exec/queue.cpp -- see queue.hpp. Submissions are executed in the order of submit(), one at a time; each uses all workers.
#include "exec/queue.hpp"

#include <chrono>

#include "base/host_memory.hpp"

namespace tilegpu {

Fence::Fence() : state(std::make_shared<State>()) {}
Fence::~Fence() = default;

bool Fence::signaled() const {
  std::lock_guard lock(state->mutex);
  return state->signaled;
}

bool Fence::wait(int64_t timeout_ms) {
  std::unique_lock lock(state->mutex);
  const auto done = [&] { return state->signaled; };
  if (timeout_ms < 0) {
    state->changed.wait(lock, done);
    return true;
  }
  return state->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), done);
}

const Error* Fence::error() const {
  std::lock_guard lock(state->mutex);
  return state->failed ? &state->error : nullptr;
}

}  // namespace tilegpu

namespace tilegpu::exec {

namespace {

// Passes turn a lack of memory into an error that names them; what is left are transfers.
Status run(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc& refused) {
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY, "a transfer: the system refused " + refused_text(refused, "its working memory") +
                                                    "; use smaller images or give the process more memory"};
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

void Queue::submit(Ptr<Fence::State> fence, std::function<Status()> work) {
  {
    std::lock_guard lock(mutex_);
    pending_.emplace_back(std::move(fence), std::move(work));
  }
  changed_.notify_all();
}

bool Queue::run_here(const std::function<Status()>& work, Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (running_ || !pending_.empty()) return false;
    running_ = true;
  }
  status = run(work);
  bool others;
  {
    std::lock_guard lock(mutex_);
    running_ = false;
    others = waiting_ != 0 || !pending_.empty();
  }
  if (others) changed_.notify_all();
  return true;
}

void Queue::wait_idle() {
  std::unique_lock lock(mutex_);
  waiting_++;
  changed_.wait(lock, [this] { return pending_.empty() && !running_; });
  waiting_--;
}

void Queue::loop() {
  prepare_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !running_ && (stop_ || !pending_.empty()); });
    if (pending_.empty()) return;  // stop only when everything submitted was executed
    auto [fence, work] = std::move(pending_.front());
    pending_.pop_front();
    running_ = true;
    lock.unlock();
    const Status status = run(work);
    work = nullptr;
    std::vector<Ptr<CommandBuffer>> keep_alive;  // dropped outside the fence's lock
    {
      std::lock_guard fence_lock(fence->mutex);
      keep_alive.swap(fence->keep_alive);
      fence->failed = !status;
      if (!status) fence->error = status.error();
      fence->signaled = true;
    }
    fence->changed.notify_all();
    keep_alive.clear();
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace tilegpu::exec
