// pipeline/target_reads.cpp -- see target_reads.hpp. Source: Vulkan specification, "Depth Test", "Stencil Test", "Blending", "Logical
// Operations".
#include "pipeline/target_reads.hpp"

#include <cassert>

#include "pipeline/classify.hpp"
#include "vk/blend_op.hpp"

namespace tilegpu::pipeline {

namespace {

bool depends(VkCompareOp op) { return op != VK_COMPARE_OP_NEVER && op != VK_COMPARE_OP_ALWAYS; }

bool changes(VkStencilOp op) {
  switch (op) {
    case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
    case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
    case VK_STENCIL_OP_INVERT:
    case VK_STENCIL_OP_INCREMENT_AND_WRAP:
    case VK_STENCIL_OP_DECREMENT_AND_WRAP:
      return true;
    default:
      return false;
  }
}

bool reads_stencil(const VkStencilOpState& face, bool depth_may_fail) {
  if (depends(face.compareOp) && face.compareMask) return true;
  if (!face.writeMask) return false;
  const bool passes = face.compareOp != VK_COMPARE_OP_NEVER, fails = face.compareOp != VK_COMPARE_OP_ALWAYS;
  return (fails && changes(face.failOp)) || (passes && changes(face.passOp)) || (passes && depth_may_fail && changes(face.depthFailOp));
}

}  // namespace

TargetReads target_reads(const Program& program, const GraphicsState& state) {
  TargetReads reads;
  const DepthStencilState& ds = state.depth_stencil;
  const bool has_depth = program.depth_format != VK_FORMAT_UNDEFINED;
  const bool depth_decides = has_depth && ds.depth_test && depends(ds.depth_compare);
  if (depth_decides || (has_depth && ds.depth_bounds_test)) reads.tested |= 1u << shader::kInputDepth;
  if (program.stencil_format != VK_FORMAT_UNDEFINED && ds.stencil_test) {
    const bool depth_may_fail = has_depth && ((ds.depth_test && ds.depth_compare != VK_COMPARE_OP_ALWAYS) || ds.depth_bounds_test);
    const VkCullModeFlags culled = state.rasterization.cull_mode;
    if ((!(culled & VK_CULL_MODE_FRONT_BIT) && reads_stencil(ds.front, depth_may_fail)) ||
        (!(culled & VK_CULL_MODE_BACK_BIT) && reads_stencil(ds.back, depth_may_fail)))
      reads.tested |= 1u << shader::kInputStencil;
  }
  if (!program.fragment()) return reads;
  const auto blends = blend_attachments(program, state);
  assert(blends.size() == program.color_formats.size() && blends.size() <= kMaxColorAttachments);
  for (size_t i = 0; i < program.color_formats.size(); i++)
    if (program.writes(i) && blends[i].colorWriteMask && reads_color(blends[i], logic_op_of(state.blend, program.color_formats[i])))
      reads.blended |= 1u << i;
  if (program.fragment()->traits.reads_tile)
    for (const shader::InputSource& input : program.inputs)
      if (input.in_tile()) reads.input |= 1u << input.target;
  return reads;
}

}  // namespace tilegpu::pipeline
