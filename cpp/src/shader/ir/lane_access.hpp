// shader/ir/lane_access.hpp -- do the lanes of a vector reach memory one beside the other? Asked while code is written, answered when
// variables have become values.
//
// In: byte offsets by lane. Out: a condition. Where the offsets are seen to be a lane number times the step plus what all lanes share, it
// is a constant and the slow way goes; else it is computed. Source: own; the analysis is that of affine values, as in Collange, Defour and
// Zhang, "Dynamic detection of uniform and affine vectors in GPGPU computations" (2009), done before the code runs.
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// i1, which answer_lane_steps() replaces: the offsets (i32) of the lanes in `mask` (null: all) grow by `step_B` from lane to lane, counted
/// from lane 0; 0: they are the same.
Value ask_lane_step(const Ir& ir, Value offsets, Value mask, uint32_t step_B);

/// After passes that promote memory to values. False: there was none to answer.
bool answer_lane_steps(LLVMModuleRef module);

}  // namespace tilegpu::shader
