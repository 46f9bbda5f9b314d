// pipeline/target_reads.hpp -- which targets a draw reads: what an attachment holds decides about what the draw leaves.
// In: a program and the state of a draw. Out: masks of targets, by how they are read.
#pragma once

#include "pipeline/program.hpp"

namespace tilegpu::pipeline {

/// Bits as of FragmentOutput::written_targets: i for colour i, then depth, then stencil.
struct TargetReads {
  uint32_t tested = 0;   // by the depth, depth bounds or stencil test
  uint32_t blended = 0;  // by blending or a logic operation
  uint32_t input = 0;    // by the fragment shader, as input attachments
  uint32_t all() const { return tested | blended | input; }
};

/// A test that always gives the same, factors that leave the destination out, and components that are masked out read nothing.
TargetReads target_reads(const Program& program, const GraphicsState& state);

}  // namespace tilegpu::pipeline
