// tilegpu/event.hpp -- VkEvent: set and reset by the host or by commands, waited for by commands. Any thread.
//
// Source: Vulkan specification, "Events".
#pragma once

#include <atomic>

#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu {

class TILEGPU_API Event {
 public:
  bool is_set() const {
    std::lock_guard lock(mutex_);
    return set_;
  }
  void set() { change(true); }
  void reset() { change(false); }
  /// False: `given_up` was true first, which is looked at a hundred times a second.
  bool wait(const std::atomic<bool>& given_up) const;

 private:
  void change(bool set);
  mutable ForkMutex mutex_;
  mutable ForkCondition changed_;
  bool set_ = false;
};

}  // namespace tilegpu
