// base/replaying.hpp -- whether this thread records again what was recorded before, and was checked then.
//
// In: the reader of captures. Out: rules that only portability asks for are not asked again. Source: docs/decisions.md, 129.
#pragma once

#include <functional>
#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// While one lives, its thread repeats what somebody recorded.
class Replaying {
 public:
  Replaying() { ++depth(); }
  ~Replaying() { --depth(); }
  Replaying(const Replaying&) = delete;
  Replaying& operator=(const Replaying&) = delete;
  static bool now() { return depth() > 0; }

 private:
  static int& depth() {
    static thread_local int replays = 0;
    return replays;
  }
};

/// The error, or Ok where it is tolerated, and was said, or is repeated.
inline Status forbid(const std::function<void(const std::string&)>& tolerate, Status rule) {
  if (rule || Replaying::now()) return Ok{};
  if (!tolerate) return rule;
  tolerate(rule.error().message);
  return Ok{};
}

}  // namespace tilegpu
