// base/long_work.cpp -- see long_work.hpp.
// In: the front end's calls. Out: made where they are asked for.
#include "base/long_work.hpp"

#include <cassert>
#include <mutex>

#include "tilegpu/long_work.hpp"

namespace tilegpu {
namespace {

std::mutex the_mutex;
LongWorkCalls the_calls;

}  // namespace

void set_long_work(const LongWorkCalls& calls) {
  assert(!calls.begin == !calls.end);
  const std::lock_guard lock(the_mutex);
  the_calls = calls;
}

void LongWork::begin() {
  assert(!end_);
  LongWorkCalls calls;
  {
    const std::lock_guard lock(the_mutex);
    calls = the_calls;
  }
  if (!calls.begin) return;
  held_ = calls.begin();
  end_ = calls.end;
}

}  // namespace tilegpu
