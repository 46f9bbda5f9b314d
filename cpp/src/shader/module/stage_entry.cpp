// shader/module/stage_entry.cpp -- see stage_entry.hpp.
#include "shader/module/stage_entry.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_set>

#include "shader/spirv/words.hpp"

namespace tilegpu::shader {
namespace {

constexpr size_t kName_word = 3;

struct Entry {
  uint32_t function = 0;
  bool is_named = false, is_of_stage = false;
};

spv::ExecutionModel model_of(VkShaderStageFlagBits stage) {
  switch (stage) {
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT:
      return spv::ExecutionModelTessellationControl;
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT:
      return spv::ExecutionModelTessellationEvaluation;
    case VK_SHADER_STAGE_GEOMETRY_BIT:
      return spv::ExecutionModelGeometry;
    case VK_SHADER_STAGE_FRAGMENT_BIT:
      return spv::ExecutionModelFragment;
    case VK_SHADER_STAGE_COMPUTE_BIT:
      return spv::ExecutionModelGLCompute;
    case VK_SHADER_STAGE_TASK_BIT_EXT:
      return spv::ExecutionModelTaskEXT;
    case VK_SHADER_STAGE_MESH_BIT_EXT:
      return spv::ExecutionModelMeshEXT;
    default:
      return spv::ExecutionModelVertex;
  }
}

Entry entry_at(std::span<const uint32_t> i, std::string_view name, spv::ExecutionModel model) {
  assert(i.size() > kName_word);
  return {i[2], text_of(i.subspan(kName_word)) == name, i[1] == static_cast<uint32_t>(model)};
}

}  // namespace

void keep_entry_of_stage(std::vector<uint32_t>& words, std::string_view name, VkShaderStageFlagBits stage) {
  const spv::ExecutionModel model = model_of(stage);
  std::vector<Entry> entries;
  const bool whole = each_instruction(words, [&](std::span<const uint32_t> i) {
    if (op_of(i) == spv::OpEntryPoint && i.size() > kName_word) entries.push_back(entry_at(i, name, model));
    return true;
  });
  const auto is_other = [](const Entry& e) { return e.is_named && !e.is_of_stage; };
  const bool has_own = std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_named && e.is_of_stage; });
  if (!whole || !has_own || std::none_of(entries.begin(), entries.end(), is_other)) return;
  std::unordered_set<uint32_t> kept;  // functions that an entry point still begins
  for (const Entry& e : entries)
    if (!is_other(e)) kept.insert(e.function);
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeader_words);
  each_instruction(words, [&](std::span<const uint32_t> i) {
    const bool is_mode = (op_of(i) == spv::OpExecutionMode || op_of(i) == spv::OpExecutionModeId) && i.size() > 2;
    const bool goes =
        (op_of(i) == spv::OpEntryPoint && i.size() > kName_word && is_other(entry_at(i, name, model))) || (is_mode && !kept.count(i[1]));
    if (!goes) out.insert(out.end(), i.begin(), i.end());
    return true;
  });
  words = std::move(out);
}

}  // namespace tilegpu::shader
