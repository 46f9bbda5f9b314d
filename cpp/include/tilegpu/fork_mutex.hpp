// tilegpu/fork_mutex.hpp -- locks of what a child by fork goes on using. In: locks that are held for moments, never while something is
// waited for, nor while a compiler's crew is asked for something. Out: at a fork none of them is held, so that the child finds them free,
// and what they guard whole; a number by which what is of the parent's threads is told from what is of this process's.
//
// Nothing is paid for it where they are locked: the handler of forks has a list of them, and takes them all. Source: fork(2),
// pthread_atfork(3).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "tilegpu/api.hpp"

namespace tilegpu {

/// A mutex that a child finds free.
class TILEGPU_API ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

 private:
  friend struct ForkList;
  ForkMutex *before_ = nullptr, *after_ = nullptr;
};

/// A condition that a child finds without those who waited for it, which are the parent's threads.
class TILEGPU_API ForkCondition : public std::condition_variable {
 public:
  ForkCondition();
  ~ForkCondition();
  ForkCondition(const ForkCondition&) = delete;
  ForkCondition& operator=(const ForkCondition&) = delete;

 private:
  friend struct ForkList;
  ForkCondition *before_ = nullptr, *after_ = nullptr;
};

/// Another number in each child: how many forks are between the process that loaded the library and this one. What a thread of another
/// number has begun will not be finished here.
TILEGPU_API uint32_t fork_number();

}  // namespace tilegpu
