// icd/shader_stage.hpp -- what graphics and compute pipelines share: a stage (its module by entry point, its specialization constants), and
// the loop over what one call creates. In: VkPipelineShaderStageCreateInfo. Out: a module and its constants.
#pragma once

#include <algorithm>
#include <cassert>

#include "icd/objects.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::icd {

Expected<ShaderStage> stage_of(VkDevice device, const VkPipelineShaderStageCreateInfo& in);

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
