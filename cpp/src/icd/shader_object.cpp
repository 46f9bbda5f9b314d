// icd/shader_object.cpp -- shader objects: made of SPIR-V or of binaries, bound, written out.
//
// In: Vulkan's create infos and commands. Out: what is bound, of which draws make pipelines (shader_pipelines.cpp); of compute the core's
// pipeline at once. Source: Vulkan specification, "Shader Objects".
#include "icd/shader_object.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "icd/command_buffer.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/shader_pipelines.hpp"
#include "icd/shader_stage.hpp"
#include "pipeline/create.hpp"
#include "pipeline/program.hpp"
#include "shader/compiler.hpp"

namespace tilegpu::icd {
namespace {

constexpr VkShaderCreateFlagsEXT kFlags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT | VK_SHADER_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT_EXT |
                                          VK_SHADER_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT | VK_SHADER_CREATE_NO_TASK_SHADER_BIT_EXT |
                                          VK_SHADER_CREATE_DISPATCH_BASE_BIT_EXT |
                                          VK_SHADER_CREATE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_EXT;
constexpr VkShaderStageFlags kOfMeshes = VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;

/// The place of a stage of graphics; none: of compute, or of nothing that is here.
std::optional<size_t> place_of(VkShaderStageFlagBits stage) {
  const auto at = std::find(kShaderStages.begin(), kShaderStages.end(), stage);
  return at == kShaderStages.end() ? std::nullopt : std::optional(static_cast<size_t>(at - kShaderStages.begin()));
}

Error wrong(const std::string& text) { return {VK_ERROR_VALIDATION_FAILED_EXT, "shader object: " + text}; }

bool is_linked(const VkShaderCreateInfoEXT& info) { return info.flags & VK_SHADER_CREATE_LINK_STAGE_BIT_EXT; }

/// Those of one call that are linked make one whole.
Status check_links(std::span<const VkShaderCreateInfoEXT> infos) {
  VkShaderStageFlags linked = 0, types = 0;
  for (const VkShaderCreateInfoEXT& info : infos) {
    if (!is_linked(info)) continue;
    if (linked & given(info.stage))
      return wrong(std::string("two linked ") + pipeline::stage_name(given(info.stage)) + " shaders in one call; link one");
    linked |= given(info.stage);
    types |= 1U << (given(info.codeType) == VK_SHADER_CODE_TYPE_SPIRV_EXT);
  }
  if (linked & kOfMeshes && linked & ~(kOfMeshes | VK_SHADER_STAGE_FRAGMENT_BIT))
    return wrong("a task or mesh shader is linked with a stage of vertices; a mesh shader makes the primitives itself");
  if (types == 3) return wrong("binaries are linked with SPIR-V; link shaders of one codeType");
  return Ok{};
}

Status check(const VkShaderCreateInfoEXT& info) {
  if (given(info.stage) != VK_SHADER_STAGE_COMPUTE_BIT && !place_of(given(info.stage)))
    return wrong("stage is " + std::to_string(given(info.stage)) +
                 "; there are vertex, tessellation, geometry, task, mesh, fragment and compute shaders");
  if (info.flags & ~kFlags) return wrong("flags have " + std::to_string(info.flags & ~kFlags) + ", of an extension that is not there");
  if (!info.pCode || info.codeSize == 0) return wrong("there is no code: pCode is null, or codeSize 0");
  if (given(info.codeType) == VK_SHADER_CODE_TYPE_SPIRV_EXT && info.codeSize % 4)
    return wrong("codeSize is " + std::to_string(info.codeSize) + "; SPIR-V has words of 4 bytes");
  if (given(info.codeType) != VK_SHADER_CODE_TYPE_SPIRV_EXT && given(info.codeType) != VK_SHADER_CODE_TYPE_BINARY_EXT)
    return wrong("codeType is " + std::to_string(given(info.codeType)) + "; there are SPIRV and BINARY");
  if (!info.pName) return wrong("pName is null; it names the entry point");
  return Ok{};
}

/// Module and constants: as pipelines take them, or of the binary.
Expected<ShaderStage> code_of(VkDevice device, const VkShaderCreateInfoEXT& info) {
  std::vector<uint32_t> words;
  ShaderBinary binary;
  const bool is_binary = given(info.codeType) == VK_SHADER_CODE_TYPE_BINARY_EXT;
  if (is_binary) {
    auto read = read_binary(info.pCode, info.codeSize);
    if (!read) return read.error();
    binary = std::move(*read);
    if (binary.stage != given(info.stage) || binary.entry_point != info.pName)
      return wrong("it is of the " + std::string(pipeline::stage_name(binary.stage)) + " shader '" + binary.entry_point + "'");
    words = std::move(binary.words);
  } else {
    words.resize(info.codeSize / 4);
    std::memcpy(words.data(), info.pCode, words.size() * 4);
  }
  const VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words.size() * 4, words.data()};
  const VkPipelineShaderStageCreateInfo stage{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, &code, 0, given(info.stage), nullptr, info.pName,
      is_binary ? nullptr : info.pSpecializationInfo};
  auto made = stage_of(device, stage);
  if (!made) return made.error();
  if (is_binary) made->specialization = std::move(binary.specialization);
  const VkShaderStageFlagBits found = made->module->reflection().stage;
  if (found != given(info.stage))
    return wrong(std::string("'") + info.pName + "' is a " + pipeline::stage_name(found) + " shader, and stage is that of a " +
                 pipeline::stage_name(given(info.stage)) + " shader");
  return made;
}

/// What a pipeline would say of the stage alone, said when it is made: what nobody can compile, descriptors that no layout has.
Status check_alone(const ShaderObject& shader) {
  const ShaderStage& stage = shader.core;
  const auto reflection = stage.module->reflect(stage.specialization);
  if (!reflection) return reflection.error();
  const auto traits = shader::analyze(*stage.module, stage.specialization);
  if (!traits) return traits.error();
  const shader::StageModule one{stage.module.get(), &stage.specialization};
  auto resources = shader::resource_table({&one, 1});
  if (!resources) return resources.error();
  return pipeline::place(*resources, *shader.layout);
}

VkResult create(VkDevice device, const VkShaderCreateInfoEXT& info, uint64_t number, VkShaderEXT* out) {
  assert(device && number > 0);
  if (Status ok = check(info); !ok) return fail(device, ok.error(), VK_ERROR_INITIALIZATION_FAILED);
  auto shader = std::make_shared<ShaderObject>();
  shader->number = number, shader->stage = given(info.stage), shader->next = info.nextStage, shader->flags = info.flags;
  shader->label = next_label();
  const auto named = [&](const Error& error) { return Error{error.code, "shader object '" + shader->label + "': " + error.message}; };
  auto layout =
      layout_of("shader object", {info.pSetLayouts, info.setLayoutCount}, {info.pPushConstantRanges, info.pushConstantRangeCount});
  if (!layout) return fail(device, layout.error(), VK_ERROR_INITIALIZATION_FAILED);
  shader->layout = std::move(*layout);
  auto code = code_of(device, info);
  const auto not_taken = [&](const Error& error) {
    say(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, "shader object: the binary is not taken: " + error.message);
    return VK_INCOMPATIBLE_SHADER_BINARY_EXT;
  };
  if (!code && given(info.codeType) == VK_SHADER_CODE_TYPE_BINARY_EXT && code.error().code != VK_ERROR_OUT_OF_HOST_MEMORY)
    return not_taken(code.error());
  if (!code) return fail(device, named(code.error()), VK_ERROR_INITIALIZATION_FAILED);
  shader->core = std::move(*code);
  if (given(info.stage) == VK_SHADER_STAGE_COMPUTE_BIT) {
    auto compute = device->core->create_pipeline(ComputePipelineCreateInfo{shader->core, shader->layout, shader->label});
    if (!compute) return fail(device, compute.error(), VK_ERROR_INITIALIZATION_FAILED);
    const bool full = info.flags & VK_SHADER_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    if (Status ok = check_subgroups(device, "shader object", info.pNext, full, **compute); !ok)
      return fail(device, ok.error(), VK_ERROR_INITIALIZATION_FAILED);
    shader->compute = std::move(*compute);
  } else if (Status ok = check_alone(*shader); !ok) {
    if (given(info.codeType) == VK_SHADER_CODE_TYPE_BINARY_EXT && ok.error().code != VK_ERROR_OUT_OF_HOST_MEMORY)
      return not_taken(ok.error());
    return fail(device, named(ok.error()), VK_ERROR_INITIALIZATION_FAILED);
  }
  *out = new VkShaderEXT_T{std::move(shader)};
  return VK_SUCCESS;
}

/// Of graphics; false: nothing changed.
bool bind(BoundShaders& bound, size_t place, const VkShaderEXT shader) {
  assert(place < bound.graphics.size());
  std::shared_ptr<const ShaderObject>& at = bound.graphics[place];
  if (!shader ? !at : at == shader->shared) return false;
  at = shader ? shader->shared : nullptr;
  return true;
}

void bind_compute(VkCommandBuffer commands, const VkShaderEXT shader) {
  commands->shaders.no_compute = !shader;
  if (shader) commands->core->bind_pipeline(shader->shared->compute);
}

}  // namespace

VkResult VKAPI_CALL CreateShadersEXT(VkDevice device, uint32_t createInfoCount, const VkShaderCreateInfoEXT* pCreateInfos,
                                     const VkAllocationCallbacks*, VkShaderEXT* pShaders) {
  static std::atomic<uint64_t> last{0};
  std::fill_n(pShaders, createInfoCount, VkShaderEXT{});
  const std::span<const VkShaderCreateInfoEXT> infos(pCreateInfos, createInfoCount);
  if (Status ok = check_links(infos); !ok) return fail(device, ok.error(), VK_ERROR_INITIALIZATION_FAILED);
  const uint64_t first = last.fetch_add(createInfoCount) + 1;
  for (uint32_t i = 0; i < createInfoCount; ++i) {
    // The first null handle is the one that the result is about.
    if (const VkResult r = create(device, infos[i], first + i, &pShaders[i]); r != VK_SUCCESS) return r;
    for (uint32_t k = 0; k < createInfoCount && is_linked(infos[i]); ++k)
      if (k != i && is_linked(infos[k])) pShaders[i]->shared->linked.emplace_back(first + k, infos[k].stage);
  }
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyShaderEXT(VkDevice device, VkShaderEXT shader, const VkAllocationCallbacks*) {
  if (!shader) return;
  shader->shared->is_destroyed = true;
  device->shader_pipelines->forget(shader->shared->number);
  discard(device, shader);
}

VkResult VKAPI_CALL GetShaderBinaryDataEXT(VkDevice, VkShaderEXT shader, size_t* pDataSize, void* pData) {
  const ShaderStage& core = shader->shared->core;
  const std::vector<uint8_t> bytes =
      write_binary({shader->shared->stage, core.module->reflection().entry_point, core.specialization, core.module->words()});
  if (!pData) {
    *pDataSize = bytes.size();
    return VK_SUCCESS;
  }
  if (*pDataSize < bytes.size()) {
    *pDataSize = 0;
    return VK_INCOMPLETE;
  }
  std::memcpy(pData, bytes.data(), bytes.size());
  *pDataSize = bytes.size();
  return VK_SUCCESS;
}

void VKAPI_CALL CmdBindShadersEXT(VkCommandBuffer commandBuffer, uint32_t stageCount, const VkShaderStageFlagBits* pStages,
                                  const VkShaderEXT* pShaders) {
  BoundShaders& bound = commandBuffer->shaders;
  for (uint32_t i = 0; i < stageCount; ++i) {
    const VkShaderEXT shader = pShaders ? pShaders[i] : nullptr;
    const VkShaderStageFlagBits stage = given(pStages[i]);
    const std::optional<size_t> place = place_of(stage);
    if (!place && stage != VK_SHADER_STAGE_COMPUTE_BIT)
      return record(commandBuffer, wrong("vkCmdBindShadersEXT: pStages[" + std::to_string(i) + "] is " + std::to_string(stage) +
                                         ", which is no stage of shader objects"));
    if (shader && shader->shared->stage != stage)
      return record(commandBuffer,
                    wrong("vkCmdBindShadersEXT: pShaders[" + std::to_string(i) + "] is a " + pipeline::stage_name(shader->shared->stage) +
                          " shader, and pStages says " + pipeline::stage_name(stage)));
    if (!place) {
      bind_compute(commandBuffer, shader);
      continue;
    }
    bound.changed |= bind(bound, *place, shader) || !bound.in_use;
    bound.in_use = true;  // a pipeline that was bound is not any more
  }
}

// VK_KHR_dynamic_rendering_local_read. Pipelines say the same of themselves, as they must: their draws go by theirs, and those with shader
// objects by these.
void VKAPI_CALL CmdSetRenderingAttachmentLocations(VkCommandBuffer commandBuffer, const VkRenderingAttachmentLocationInfo* info) {
  take_numbers(info->pColorAttachmentLocations, info->colorAttachmentCount, commandBuffer->pass.targets.locations);
  commandBuffer->shaders.changed = true;
}
void VKAPI_CALL CmdSetRenderingInputAttachmentIndices(VkCommandBuffer commandBuffer, const VkRenderingInputAttachmentIndexInfo* info) {
  RenderingTargets& targets = commandBuffer->pass.targets;
  take_numbers(info->pColorAttachmentInputIndices, info->colorAttachmentCount, targets.inputs);
  const auto index = [](const uint32_t* given) { return given ? *given : RenderingTargets::kByType; };
  targets.depth_input = index(info->pDepthInputAttachmentIndex), targets.stencil_input = index(info->pStencilInputAttachmentIndex);
  commandBuffer->shaders.changed = true;
}

}  // namespace tilegpu::icd
