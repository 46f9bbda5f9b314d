// shader/module/implied_capabilities.cpp -- capabilities that a module's decorations need and that it forgot to declare. See the header.
//
// In: words of a module. Out: words with an OpCapability for each. Source: SPIR-V specification, "Built-In", "Decoration", "Capability".
#include "shader/module/implied_capabilities.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string_view>

namespace tilegpu::shader {
namespace {

constexpr size_t kHeader_words = 5;

struct Need {
  spv::Decoration decoration;
  spv::BuiltIn builtin;  // of DecorationBuiltIn; BuiltInMax: of any other decoration
  const char* name;
  std::span<const spv::Capability> any_of;  // the first one is declared, by its name
};

constexpr spv::Capability kSamples[] = {spv::CapabilitySampleRateShading};
constexpr spv::Capability kPrimitives[] = {spv::CapabilityGeometry, spv::CapabilityTessellation, spv::CapabilityMeshShadingEXT};
constexpr spv::Capability kLayers[] = {spv::CapabilityGeometry, spv::CapabilityShaderLayer, spv::CapabilityShaderViewportIndexLayerEXT,
                                       spv::CapabilityMeshShadingEXT};
constexpr spv::Capability kViewports[] = {spv::CapabilityMultiViewport, spv::CapabilityShaderViewportIndex,
                                          spv::CapabilityShaderViewportIndexLayerEXT, spv::CapabilityMeshShadingEXT};

// ClipDistance and CullDistance are missing: the validator lets every gl_PerVertex have them.
constexpr Need kNeeds[] = {
    {spv::DecorationBuiltIn, spv::BuiltInSampleId, "SampleRateShading", kSamples},
    {spv::DecorationBuiltIn, spv::BuiltInSamplePosition, "SampleRateShading", kSamples},
    {spv::DecorationSample, spv::BuiltInMax, "SampleRateShading", kSamples},
    {spv::DecorationBuiltIn, spv::BuiltInPrimitiveId, "Geometry", kPrimitives},
    {spv::DecorationBuiltIn, spv::BuiltInLayer, "Geometry", kLayers},
    {spv::DecorationBuiltIn, spv::BuiltInViewportIndex, "MultiViewport", kViewports},
};

/// ShaderLayer and ShaderViewportIndex are names of SPIR-V 1.5. A module before it that has them (Mesa's Zink makes such) means the
/// extension's capability, which is both.
bool declare_by_extension(std::vector<uint32_t>& words) {
  constexpr uint32_t kVersion_1_5 = 0x00010500;
  constexpr std::string_view kExtension = "SPV_EXT_shader_viewport_index_layer";
  if (words.size() <= kHeader_words || words[1] >= kVersion_1_5) return false;
  bool found = false, extended = false;
  size_t after_capabilities = kHeader_words;
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at || (op != spv::OpCapability && op != spv::OpExtension)) break;
    const bool named = op == spv::OpCapability && length == 2 &&
                       (words[at + 1] == spv::CapabilityShaderLayer || words[at + 1] == spv::CapabilityShaderViewportIndex);
    if (named) words[at + 1] = spv::CapabilityShaderViewportIndexLayerEXT, found = true;
    if (op == spv::OpExtension) {
      const auto* text = reinterpret_cast<const char*>(&words[at + 1]);
      extended = extended || std::string_view(text, strnlen(text, size_t{length - 1} * 4)) == kExtension;
    }
    at += length;
    if (op == spv::OpCapability) after_capabilities = at;
  }
  if (!found || extended) return found;
  std::vector<uint32_t> extension(1 + kExtension.size() / 4 + 1);
  extension[0] = static_cast<uint32_t>(extension.size()) << spv::WordCountShift | spv::OpExtension;
  std::memcpy(&extension[1], kExtension.data(), kExtension.size());
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(after_capabilities), extension.begin(), extension.end());
  return true;
}

}  // namespace

std::vector<const char*> declare_implied_capabilities(std::vector<uint32_t>& words) {
  std::set<uint32_t> declared;
  std::vector<const char*> names;
  std::vector<uint32_t> added;
  const bool extended = declare_by_extension(words);
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at || op == spv::OpFunction) break;  // no instruction, or behind all decorations
    if (op == spv::OpCapability && length == 2) declared.insert(words[at + 1]);
    const size_t first = op == spv::OpDecorate ? 2 : op == spv::OpMemberDecorate ? 3 : length;
    for (const Need& need : kNeeds) {
      if (first >= length || words[at + first] != need.decoration) continue;
      if (need.builtin != spv::BuiltInMax && (first + 1 >= length || words[at + first + 1] != need.builtin)) continue;
      if (std::any_of(need.any_of.begin(), need.any_of.end(), [&](spv::Capability c) { return declared.contains(c); })) continue;
      declared.insert(need.any_of.front());
      names.push_back(need.name);
      added.insert(added.end(), {2U << spv::WordCountShift | spv::OpCapability, static_cast<uint32_t>(need.any_of.front())});
    }
    at += length;
  }
  if (!added.empty()) words.insert(words.begin() + kHeader_words, added.begin(), added.end());
  assert(names.size() * 2 == added.size());
  if (extended) names.push_back("ShaderViewportIndexLayerEXT");
  return names;
}

}  // namespace tilegpu::shader
