// shader/jit/background_crew.cpp -- see background_crew.hpp.
#include "shader/jit/background_crew.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/at_exit.hpp"
#include "base/host_memory.hpp"
#include "tilegpu/device_info.hpp"

namespace tilegpu::shader {
namespace {

// From one compile that somebody waits for to the next: from a pipeline to the samplers of its first draw.
constexpr std::chrono::milliseconds kCalm{10};

// Never destroyed: threads may outlive static objects.
struct Registry {
  std::mutex mutex;
  std::vector<BackgroundCrew*> crews;
};
Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

}  // namespace

struct BackgroundCrew::State {
  const uint32_t most_threads;
  const std::chrono::milliseconds finishes;
  const int nicer;
  std::shared_mutex gate;  // shared while a task runs; a fork holds it. Taken before the next.
  std::mutex mutex;        // of everything below
  std::condition_variable changed;
  std::deque<Task> urgent, tasks;
  std::list<std::function<void()>> left_behind;  // `instead` of what runs
  uint32_t running = 0;
  bool stop = false;
  bool left = false;   // the process ended meanwhile: threads may still run
  bool forks = false;  // somebody waits for the gate: tasks that follow each other on several threads would never leave it free
  uint32_t holds = 0, hurried = 0;  // hurried: callers of wait()
  std::chrono::steady_clock::time_point calm_from{};
  std::vector<std::thread> threads;
  bool ending = false;  // within end(): a crew's owner and the process may end it at once

  State(uint32_t most, std::chrono::milliseconds end_takes, int gives_way) : most_threads(most), finishes(end_takes), nicer(gives_way) {}

  bool may_begin() const {
    return !forks && (!urgent.empty() || stop || hurried || (!holds && std::chrono::steady_clock::now() >= calm_from));
  }
  size_t waiting() const { return urgent.size() + tasks.size(); }

  void work() {
    prepare_thread();
    // Of this thread alone, as Linux has it.
    if (nicer) setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + nicer);
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stop || waiting(); });
        if (!waiting()) return;
        if (!may_begin()) {
          if (holds || forks)
            changed.wait(lock);
          else
            changed.wait_until(lock, calm_from);
          continue;
        }
      }
      std::shared_lock no_fork(gate);
      std::unique_lock lock(mutex);
      if (!waiting() || !may_begin()) continue;
      auto& from = urgent.empty() ? tasks : urgent;
      Task task = std::move(from.front());
      from.pop_front();
      running++;
      const auto instead = left_behind.insert(left_behind.end(), std::move(task.instead));
      lock.unlock();
      task.run();
      task.run = nullptr;
      lock.lock();
      assert(running > 0);
      running--;
      left_behind.erase(instead);
      if (!waiting() && running == 0) changed.notify_all();
    }
  }

  void start_threads() {  // the mutex is held
    if (stop) return;     // end() goes through the list
    try {
      while (threads.size() < std::min<size_t>(most_threads, waiting() + running)) threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // fewer threads, the same code
    }
  }

  /// The mutex is held. Returned: what is to be done instead, without it.
  std::vector<std::function<void()>> drop() {
    std::vector<std::function<void()>> instead;
    for (Task& task : tasks)
      if (task.instead) instead.push_back(std::move(task.instead));
    urgent.clear(), tasks.clear();
    for (auto& one : left_behind)
      if (left && one) instead.push_back(std::exchange(one, nullptr));
    return instead;
  }

  /// One after the other. Nothing: another one is about it, and is so still at `until`.
  std::optional<bool> end_alone(std::optional<std::chrono::steady_clock::time_point> until = {}) {
    {
      const auto may = [this] { return !ending; };
      std::unique_lock lock(mutex);
      if (!until)
        changed.wait(lock, may);
      else if (!changed.wait_until(lock, *until, may))
        return {};
      ending = true;
    }
    const bool ended = end(until);
    {
      std::lock_guard lock(mutex);
      ending = false;
    }
    changed.notify_all();
    return ended;
  }

  /// False: tasks still run, at `until`, or when the process ended before (it is asked twice, by the front end and by the process).
  bool end(std::optional<std::chrono::steady_clock::time_point> until) {
    std::vector<std::function<void()>> dropped;
    {
      std::unique_lock lock(mutex);
      stop = true;
      if (!finishes.count()) dropped = drop();
      changed.notify_all();
      const auto done = [this] { return !waiting() && running == 0; };
      if (until && !left)
        left = !changed.wait_until(lock, *until, done);
      else if (!left)
        changed.wait_for(lock, finishes, done);  // then threads end with what they are about
      for (auto& instead : drop()) dropped.push_back(std::move(instead));
    }
    for (const auto& instead : dropped) instead();
    for (std::thread& thread : threads) left ? thread.detach() : thread.join();
    std::lock_guard lock(mutex);  // who waits looks at the list
    threads.clear();
    assert(left || running == 0);
    return !left;
  }
};

struct Forks {
  static void prepare() {
    registry().mutex.lock();
    for (BackgroundCrew* crew : registry().crews) {
      BackgroundCrew::State& s = *crew->state_;
      s.mutex.lock();
      s.forks = true;
      s.mutex.unlock();
      s.gate.lock();
      s.mutex.lock();
    }
  }
  static void parent() {
    for (BackgroundCrew* crew : registry().crews) {
      BackgroundCrew::State& s = *crew->state_;
      s.forks = false;
      s.mutex.unlock();
      s.gate.unlock();
      s.changed.notify_all();
    }
    registry().mutex.unlock();
  }
  static void child() {
    for (BackgroundCrew* crew : registry().crews) {
      // Threads and those who wait are the parent's: what knows of them is left alone and replaced.
      BackgroundCrew::State* old = crew->state_.release();
      crew->state_ = std::make_unique<BackgroundCrew::State>(old->most_threads, old->finishes, old->nicer);
      crew->state_->urgent = std::move(old->urgent);
      crew->state_->tasks = std::move(old->tasks);
    }
    registry().mutex.unlock();
  }
};

BackgroundCrew::BackgroundCrew(uint32_t threads, std::chrono::milliseconds finishes, int nicer)
    : state_(std::make_unique<State>(threads, finishes, nicer)) {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(Forks::prepare, Forks::parent, Forks::child);
    at_exit(BackgroundCrew::end_all);
  });
  std::lock_guard lock(registry().mutex);
  registry().crews.push_back(this);
}

BackgroundCrew::~BackgroundCrew() {
  const bool ended = end();
  std::lock_guard lock(registry().mutex);
  std::erase(registry().crews, this);
  if (!ended) static_cast<void>(state_.release());  // threads that the process leaves behind use it
}

bool BackgroundCrew::end() { return state_->end_alone().value(); }

void BackgroundCrew::put(Task task, bool urgent) {
  assert(task.run && !(urgent && task.instead));
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    if (!s.stop) {
      auto& tasks = urgent ? s.urgent : s.tasks;
      tasks.push_back(std::move(task));
      s.start_threads();
      if (!s.threads.empty()) {
        s.changed.notify_all();
        return;
      }
      task = std::move(tasks.back());
      tasks.pop_back();
    }
  }
  task.run();
}

void BackgroundCrew::add(std::function<void()> task, std::function<void()> instead) { put({std::move(task), std::move(instead)}, false); }
void BackgroundCrew::add_urgent(std::function<void()> task) { put({std::move(task), {}}, true); }

void BackgroundCrew::run_here(const std::function<void()>& task) {
  assert(task);
  State& s = *state_;
  {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return !s.forks; });
  }
  const std::shared_lock no_fork(s.gate);
  task();
}

void BackgroundCrew::hold() {
  std::lock_guard lock(state_->mutex);
  state_->holds++;
}

void BackgroundCrew::release() {
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    if (s.holds) s.holds--;  // a child process began with none
    s.calm_from = std::chrono::steady_clock::now() + kCalm;
    if (s.holds || !s.waiting()) return;
  }
  s.changed.notify_all();
}

void BackgroundCrew::wait() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.start_threads();
  s.hurried++;
  s.changed.notify_all();
  s.changed.wait(lock, [&] { return (!s.waiting() || s.threads.empty()) && s.running == 0; });
  assert(s.hurried > 0);
  s.hurried--;
}

uint32_t BackgroundCrew::waiting() const {
  std::lock_guard lock(state_->mutex);
  return static_cast<uint32_t>(state_->waiting()) + state_->running;
}

void BackgroundCrew::end_all() {
  std::lock_guard lock(registry().mutex);
  const auto until = std::chrono::steady_clock::now() + kAtEnd;  // for all of them
  // Its owner may be about it just now, without a limit: then it stays so.
  for (BackgroundCrew* crew : registry().crews) (void)crew->state_->end_alone(until);
}

}  // namespace tilegpu::shader

namespace tilegpu {
void end_background_compiles() { shader::BackgroundCrew::end_all(); }
}  // namespace tilegpu
