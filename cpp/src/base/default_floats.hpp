// base/default_floats.hpp -- floats are calculated as results are made with them: rounded to nearest even, denormals kept, no traps;
// whatever the owner of the thread set. In: a thread, until the object ends. Out: its control register, then as it was. Source: Intel,
// "MXCSR Control and Status Register".
#pragma once

#include <xmmintrin.h>

#include <cstdint>

namespace tilegpu {

class DefaultFloats {
 public:
  DefaultFloats() { _mm_setcsr(0x1f80); }
  ~DefaultFloats() { _mm_setcsr(owners_); }
  DefaultFloats(const DefaultFloats&) = delete;

 private:
  const uint32_t owners_ = _mm_getcsr();
};

}  // namespace tilegpu
