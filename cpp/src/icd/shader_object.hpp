// icd/shader_object.hpp -- VK_EXT_shader_object: shaders that are bound one by one, and their binaries.
// In: VkShaderCreateInfoEXT, binaries. Out: shader objects; of one of a compute shader its pipeline too.
// Source: Vulkan specification, "Shader Objects".
#pragma once

#include <atomic>
#include <string>

#include "icd/objects.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::icd {

/// Const but for its name and its end, once it is made. Who bound it keeps it alive.
struct ShaderObject {
  uint64_t number = 0;  ///< that no other has
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  VkShaderStageFlags next = 0;  ///< stages that may follow
  VkShaderCreateFlagsEXT flags = 0;
  ShaderStage core;
  Ptr<const PipelineLayout> layout;
  Ptr<tilegpu::ComputePipeline> compute;                           ///< null: of another stage
  std::vector<std::pair<uint64_t, VkShaderStageFlagBits>> linked;  ///< numbers and stages of those that it draws with alone
  std::string label;                                               ///< for reports and messages
  std::atomic<bool> is_destroyed = false;                          ///< no draw may take it any more
  std::string name;                                                ///< by VK_EXT_debug_utils; under ShaderPipelines' lock
};

/// What a binary is made of: all that code depends on but set layouts and push constants, which creating takes anew.
struct ShaderBinary {
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  std::string entry_point;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  std::vector<uint32_t> words;
};

/// Of binaries: whose they are, and the newest that there is; older ones are taken too.
inline constexpr char kShaderBinaryUUID[VK_UUID_SIZE + 1] = "tilegpu shaders ";
inline constexpr uint32_t kShaderBinaryVersion = 1;

std::vector<uint8_t> write_binary(const ShaderBinary& binary);
/// Reads nothing beyond `size_B`, and only bytes that write_binary() wrote. Error: why they are not.
Expected<ShaderBinary> read_binary(const void* bytes, size_t size_B);

}  // namespace tilegpu::icd
