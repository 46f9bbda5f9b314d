// fuzz/common/render_stages.hpp -- shaders of random passes: what a pipeline has of stages, and what its fragments do.
//
// In: choices, formats. Out: stages that fit each other and vertices of (position, colour), at locations 0 and 1. Fragments may read
// attachment 0 (set 0, binding 0), count in 16 words (set 1, binding 0) and sample a texture (set 2, binding 0).
#pragma once

#include "common/finding.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::fuzz {

bool is_integer(VkFormat format);
/// `topology` is what is drawn; where it is cut into smaller triangles it becomes PATCH_LIST. `plain`: a vertex and a fragment shader that
/// do no more than they must, but for discarding.
std::vector<ShaderStage> render_stages(Choices& c, const std::vector<VkFormat>& colors, VkSampleCountFlagBits samples, bool plain,
                                       VkPrimitiveTopology& topology);

}  // namespace tilegpu::fuzz
