// icd/shader_stage.hpp -- what graphics and compute pipelines and shader objects share: a stage (its module by entry point, its
// specialization constants), layouts, and the loop over what one call creates. In: VkPipelineShaderStageCreateInfo. Out: a module and its
// constants.
#pragma once

#include <algorithm>
#include <cassert>
#include <span>

#include "icd/objects.hpp"
#include "tilegpu/compute.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::icd {

Expected<ShaderStage> stage_of(VkDevice device, const VkPipelineShaderStageCreateInfo& in);

/// `who`: for errors.
Expected<Ptr<const PipelineLayout>> layout_of(const char* who, std::span<const VkDescriptorSetLayout> sets,
                                              std::span<const VkPushConstantRange> ranges);

/// VK_EXT_subgroup_size_control of a compute shader: subgroups have four invocations. Full ones are, but for a workgroup's last, whatever
/// the length of its rows, which Vulkan wants to be a multiple of four. `next`: the stage's chain.
Status check_subgroups(VkDevice device, const char* who, const void* next, bool wants_full, const tilegpu::ComputePipeline& made);

/// Locations or indices of colours, by attachment: none given are each its own number; of the others none.
inline void take_numbers(const uint32_t* from, uint32_t count, std::array<uint32_t, kMaxColorAttachments>& to) {
  if (!from) {
    for (uint32_t i = 0; i < kMaxColorAttachments; ++i) to[i] = i;
    return;
  }
  to.fill(VK_ATTACHMENT_UNUSED);
  std::copy_n(from, std::min(count, kMaxColorAttachments), to.begin());
}

/// Code is made while others go on: there is nothing to tell of when a pipeline is created.
inline void give_no_feedback(const void* next) {
  const auto* feedback = find_next<VkPipelineCreationFeedbackCreateInfo>(next, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
  if (!feedback) return;
  *feedback->pPipelineCreationFeedback = {};
  std::fill_n(feedback->pPipelineStageCreationFeedbacks, feedback->pipelineStageCreationFeedbackCount, VkPipelineCreationFeedback{});
}

/// Of VK_KHR_maintenance5's structure, where it is given.
template <class Info>
VkPipelineCreateFlags2 flags_of(const Info& info) {
  const auto* wide = find_next<VkPipelineCreateFlags2CreateInfo>(info.pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO);
  return wide ? wide->flags : info.flags;
}

/// `create` (const Info&, VkPipeline*) for each; null where it failed, and behind a failure with EARLY_RETURN_ON_FAILURE. Creating waits
/// for no compiler, so VK_PIPELINE_COMPILE_REQUIRED is never the answer. Returns the first failure.
template <class Info, class Create>
VkResult create_each(uint32_t count, const Info* infos, VkPipeline* out, const Create& create) {
  VkResult first = VK_SUCCESS;
  std::fill_n(out, count, VkPipeline{});
  for (uint32_t i = 0; i < count; ++i) {
    give_no_feedback(infos[i].pNext);
    const VkResult r = create(infos[i], &out[i]);
    assert((r == VK_SUCCESS) == (out[i] != nullptr));
    if (first == VK_SUCCESS) first = r;
    if (r != VK_SUCCESS && flags_of(infos[i]) & VK_PIPELINE_CREATE_2_EARLY_RETURN_ON_FAILURE_BIT) break;
  }
  return first;
}

}  // namespace tilegpu::icd
