// shader/module/stage_entry.cpp -- see stage_entry.hpp.
#include "shader/module/stage_entry.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <spirv/unified1/spirv.hpp>
#include <unordered_set>

namespace tilegpu::shader {
namespace {

constexpr size_t kHeader_words = 5, kName_word = 3;

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

Entry entry_at(const uint32_t* i, size_t length, std::string_view name, spv::ExecutionModel model) {
  assert(length > kName_word);
  const auto* const text = reinterpret_cast<const char*>(i + kName_word);
  const size_t most_B = (length - kName_word) * sizeof(uint32_t);
  return {i[2], std::string_view(text, strnlen(text, most_B)) == name, i[1] == static_cast<uint32_t>(model)};
}

/// f(first word, words) of each instruction; false: an instruction has no length, or more than there is.
template <class F>
bool each_instruction(const std::vector<uint32_t>& words, F&& f) {
  for (size_t at = kHeader_words; at < words.size();) {
    const size_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) return false;
    f(&words[at], length);
    at += length;
  }
  return true;
}

spv::Op op_of(const uint32_t* i) { return static_cast<spv::Op>(*i & spv::OpCodeMask); }

}  // namespace

void keep_entry_of_stage(std::vector<uint32_t>& words, std::string_view name, VkShaderStageFlagBits stage) {
  const spv::ExecutionModel model = model_of(stage);
  std::vector<Entry> entries;
  const bool whole = each_instruction(words, [&](const uint32_t* i, size_t length) {
    if (op_of(i) == spv::OpEntryPoint && length > kName_word) entries.push_back(entry_at(i, length, name, model));
  });
  const auto is_other = [](const Entry& e) { return e.is_named && !e.is_of_stage; };
  const bool has_own = std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_named && e.is_of_stage; });
  if (!whole || !has_own || std::none_of(entries.begin(), entries.end(), is_other)) return;
  std::unordered_set<uint32_t> kept;  // functions that an entry point still begins
  for (const Entry& e : entries)
    if (!is_other(e)) kept.insert(e.function);
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeader_words);
  each_instruction(words, [&](const uint32_t* i, size_t length) {
    const bool is_mode = (op_of(i) == spv::OpExecutionMode || op_of(i) == spv::OpExecutionModeId) && length > 2;
    const bool goes = (op_of(i) == spv::OpEntryPoint && length > kName_word && is_other(entry_at(i, length, name, model))) ||
                      (is_mode && !kept.count(i[1]));
    if (!goes) out.insert(out.end(), i, i + length);
  });
  words = std::move(out);
}

}  // namespace tilegpu::shader
