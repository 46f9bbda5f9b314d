// icd/pipeline_executables.cpp -- VK_KHR_pipeline_executable_properties: what is known of the code of a pipeline's stages.
//
// In: a pipeline. Out: an executable for each of its stages, whatever else code is made of (epilogues, look-ups of textures), with what is
// known of it: invocations at once, sizes, whether it has its last code; and the SPIR-V that it is made from. A library has none.
// Source: Vulkan specification, "Pipeline Executable Properties".
#include <cstring>

#include "icd/generated/commands.hpp"
#include "icd/objects.hpp"
#include "pipeline/kernel.hpp"
#include "pipeline/program.hpp"
#include "pipeline/resolved.hpp"
#include "tilegpu/compute.hpp"

namespace tilegpu::icd {
namespace {

const pipeline::Program* program_of(VkPipeline of) {
  assert(of);
  return of->core ? &of->core->program() : of->compute ? &of->compute->program() : nullptr;
}

const pipeline::Stage* stage_at(const VkPipelineExecutableInfoKHR& info) {
  const pipeline::Program* program = program_of(info.pipeline);
  return program && info.executableIndex < program->stages.size() ? &program->stages[info.executableIndex] : nullptr;
}

void put_text(char (&out)[VK_MAX_DESCRIPTION_SIZE], const std::string& text) {
  const size_t size_B = std::min(text.size(), sizeof out - 1);
  std::memcpy(out, text.data(), size_B);
  std::memset(out + size_B, 0, sizeof out - size_B);
}

/// Code whose address is known when the pipeline is made; null: it depends on dynamic state, or there is none.
const shader::CodeSlot* code_of(VkPipeline of, VkShaderStageFlagBits stage) {
  if (of->compute) return of->compute->kernel().code.slot();
  const auto& resolved = of->core->resolved();
  const pipeline::ResolvedStage* found = resolved ? resolved->stages.find(stage) : nullptr;
  return found ? found->code.slot() : nullptr;
}

struct Statistic {
  const char* name;
  const char* description;
  VkPipelineExecutableStatisticFormatKHR format;
  uint64_t value;
};

std::vector<Statistic> statistics_of(VkDevice device, VkPipeline of, const pipeline::Stage& stage) {
  constexpr auto kNumber = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
  constexpr auto kTruth = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR;
  std::vector<Statistic> all{
      {"Lanes", "invocations that a thread runs at once, in the lanes of vectors", kNumber, device->core->info().lanes},
      {"SPIR-V size", "bytes of the module that the code is made from", kNumber, stage.module->words().size() * 4},
  };
  if (const shader::CodeSlot* code = code_of(of, stage.stage))
    all.push_back({"Optimised", "the code that there is will not be replaced by better; what was made quickly gives the same bits", kTruth,
                   code->last.load(std::memory_order_acquire)});
  if (!of->compute) return all;
  const auto size = of->compute->workgroup_size();
  all.push_back({"Workgroup size", "invocations of a workgroup", kNumber, uint64_t{size[0]} * size[1] * size[2]});
  all.push_back({"Shared memory", "bytes of a workgroup", kNumber, of->compute->shared_memory_B()});
  return all;
}

}  // namespace

VkResult VKAPI_CALL GetPipelineExecutablePropertiesKHR(VkDevice, const VkPipelineInfoKHR* pPipelineInfo, uint32_t* pExecutableCount,
                                                       VkPipelineExecutablePropertiesKHR* pProperties) {
  const pipeline::Program* program = program_of(pPipelineInfo->pipeline);
  const auto there = program ? static_cast<uint32_t>(program->stages.size()) : 0;
  return enumerate(there, pExecutableCount, pProperties, [&](uint32_t k, VkPipelineExecutablePropertiesKHR& out) {
    const pipeline::Stage& stage = program->stages[k];
    out.stages = stage.stage;
    put_text(out.name, pipeline::stage_name(stage.stage));
    put_text(out.description, std::string("the ") + pipeline::stage_name(stage.stage) + " shader, compiled for this processor");
    out.subgroupSize = kSubgroupSize;
  });
}

VkResult VKAPI_CALL GetPipelineExecutableStatisticsKHR(VkDevice device, const VkPipelineExecutableInfoKHR* pExecutableInfo,
                                                       uint32_t* pStatisticCount, VkPipelineExecutableStatisticKHR* pStatistics) {
  const pipeline::Stage* stage = stage_at(*pExecutableInfo);
  const std::vector<Statistic> all = stage ? statistics_of(device, pExecutableInfo->pipeline, *stage) : std::vector<Statistic>();
  return enumerate(static_cast<uint32_t>(all.size()), pStatisticCount, pStatistics, [&](uint32_t k, VkPipelineExecutableStatisticKHR& out) {
    put_text(out.name, all[k].name), put_text(out.description, all[k].description);
    out.format = all[k].format, out.value = {};
    if (out.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR)
      out.value.b32 = all[k].value ? VK_TRUE : VK_FALSE;
    else
      out.value.u64 = all[k].value;
  });
}

VkResult VKAPI_CALL GetPipelineExecutableInternalRepresentationsKHR(
    VkDevice, const VkPipelineExecutableInfoKHR* pExecutableInfo, uint32_t* pInternalRepresentationCount,
    VkPipelineExecutableInternalRepresentationKHR* pInternalRepresentations) {
  const pipeline::Stage* stage = stage_at(*pExecutableInfo);
  bool whole = true;
  const VkResult result = enumerate(stage ? 1u : 0u, pInternalRepresentationCount, pInternalRepresentations,
                                    [&](uint32_t, VkPipelineExecutableInternalRepresentationKHR& out) {
                                      const std::vector<uint32_t>& words = stage->module->words();
                                      put_text(out.name, "SPIR-V"),
                                          put_text(out.description, "the module that the code is made from, before it is specialised");
                                      out.isText = VK_FALSE;
                                      if (!out.pData) {
                                        out.dataSize = words.size() * 4;
                                        return;
                                      }
                                      whole = out.dataSize >= words.size() * 4;
                                      out.dataSize = std::min(out.dataSize, words.size() * 4);
                                      std::memcpy(out.pData, words.data(), out.dataSize);
                                    });
  return result == VK_SUCCESS && !whole ? VK_INCOMPLETE : result;
}

}  // namespace tilegpu::icd
