// shader/jit/background_crew.hpp -- threads that compile what nobody waits for yet: the first code of functions, and optimised code for
// those that are ready already.
//
// In: tasks. They run in the order of their coming, urgent ones first, at a lower priority than the process's other threads (nice). Threads
// are made with the first task. A process that forks waits until no task runs; the child has the tasks that were not done, for threads of
// its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace tilegpu::shader {

class BackgroundCrew {
 public:
  /// What an end, of a crew or of the process, waits for code of functions that nobody calls any more; one function alone may take minutes.
  static constexpr std::chrono::milliseconds kAtEnd{3000};
  /// A busy machine still gets its better code soon: about a third of a thread's share.
  static constexpr int kNicer = 5;
  /// `finishes`: for so long its end does what still waits; what has begun it waits for in any case.
  /// `nicer`: by how much its threads give way to those that render.
  BackgroundCrew(uint32_t threads, std::chrono::milliseconds finishes, int nicer = kNicer);
  ~BackgroundCrew();
  BackgroundCrew(const BackgroundCrew&) = delete;
  /// A task must not throw. Where no thread can be had, and after end_all(), it is done by the caller. `instead`: a short task, which does
  /// not throw either, for one that the crew's end drops or leaves behind.
  void add(std::function<void()> task, std::function<void()> instead = {});
  /// Before all others, and whoever holds.
  void add_urgent(std::function<void()> task);
  /// A task on the calling thread, which no fork cuts in two either. Not from within a task.
  void run_here(const std::function<void()>& task);
  /// Between them, and for a few milliseconds more, no task begins that isn't urgent: somebody waits for a compile of his own, and a task
  /// beside it would take a third of its processor and its caches. Nests. wait() and the crew's end do not ask.
  void hold();
  void release();
  /// Until all tasks have ended.
  void wait();
  /// Tasks that have not ended.
  uint32_t waiting() const;
  /// As its destructor does. False: the process ends (end_all), and threads may still run: nothing that tasks use may be taken away.
  bool end();
  /// To be called at the end of the process, while everything that tasks use is still there: ends all crews as their destructors do, but
  /// leaves tasks that still run after kAtEnd.
  static void end_all();

  struct State;  // replaced in a child process

 private:
  friend struct Forks;
  struct Task {
    std::function<void()> run, instead;
  };
  void put(Task task, bool urgent);
  std::unique_ptr<State> state_;
};

}  // namespace tilegpu::shader
