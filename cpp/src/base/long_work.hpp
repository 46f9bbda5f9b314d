// base/long_work.hpp -- around what takes long within calls that are short otherwise. In: begin(), or none. Out: the front end's two calls
// (tilegpu/long_work.hpp).
#pragma once

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

/// Whether who waits for this thread's work still wants it: what set_compile_goes_on was given (tilegpu/compiler.hpp) says so.
bool long_work_goes_on();

}  // namespace tilegpu
