// base/default_floats.hpp -- floats are calculated as results are made with them: rounded to nearest even, denormals kept, no traps;
// whatever the owner of the thread set. In: a thread, until the object ends. Out: its control register, then as it was. Source: Intel,
// "MXCSR Control and Status Register"; Arm, "FPCR, Floating-point Control Register".
#pragma once

#include "base/intrinsics.hpp"

namespace tilegpu {

class DefaultFloats {
 public:
  DefaultFloats() { set_float_control(kDefaultFloatControl); }
  ~DefaultFloats() { set_float_control(owners_); }
  DefaultFloats(const DefaultFloats&) = delete;

 private:
  const FloatControl owners_ = float_control();
};

}  // namespace tilegpu
