// base/long_work.hpp -- around what takes long within calls that are short otherwise. In: begin(), or none. Out: the front end's two calls
// (tilegpu/long_work.hpp).
#pragma once

#include <atomic>
#include <functional>

namespace tilegpu {

/// To be declared before any lock that is held at its end: then it ends without one.
class LongWork {
 public:
  LongWork() = default;
  ~LongWork() {
    if (end_) end_(held_);
  }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  /// Once at most.
  void begin();

 private:
  void (*end_)(void*) = nullptr;
  void* held_ = nullptr;
};

/// What work asks that nobody can cancel.
inline constinit const std::atomic<bool> kNotCancelled = false;

/// Of the thread that waits for work and does some of it itself: while this lives, is_cancelled() asks there too, which may raise the flag.
class AskedWhileWorking {
 public:
  /// Null: nothing to ask.
  explicit AskedWhileWorking(const std::function<void()>* ask);
  ~AskedWhileWorking();
  AskedWhileWorking(const AskedWhileWorking&) = delete;
  AskedWhileWorking& operator=(const AskedWhileWorking&) = delete;

 private:
  const std::function<void()>* const before_;
};

/// Whether nobody wants the rest of what may take long within one job. To be asked each some hundred microseconds, or more often.
bool is_cancelled(const std::atomic<bool>& cancelled);

/// Whether who waits for this thread's work still wants it: what set_compile_goes_on was given (tilegpu/compiler.hpp) says so.
bool long_work_goes_on();

}  // namespace tilegpu
