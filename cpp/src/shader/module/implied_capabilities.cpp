// shader/module/implied_capabilities.cpp -- capabilities that a module needs and that it forgot to declare, and blocks. See the
// header.
//
// In: words of a module. Out: words with an OpCapability or an OpDecorate for each. Source: SPIR-V specification, "Built-In", "Decoration",
// "Capability", and the capabilities beside each instruction; "GLSL.std.450", interpolateAt*.
#include "shader/module/implied_capabilities.hpp"

#include <spirv/unified1/GLSL.std.450.h>
#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "shader/spirv/words.hpp"

namespace tilegpu::shader {
namespace {

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

constexpr spv::Capability kDemotes[] = {spv::CapabilityDemoteToHelperInvocation}, kDerivatives[] = {spv::CapabilityDerivativeControl},
                          kQueries[] = {spv::CapabilityImageQuery}, kStreams[] = {spv::CapabilityGeometryStreams},
                          kInterpolates[] = {spv::CapabilityInterpolationFunction};

struct OperationNeed {
  spv::Op first, last;
  const char* name;
  std::span<const spv::Capability> any_of;
  const char* extension = nullptr;  // that brought it, of modules before version 1.6
};

constexpr OperationNeed kOperations[] = {
    {spv::OpDPdxFine, spv::OpFwidthCoarse, "DerivativeControl", kDerivatives},
    {spv::OpImageQuerySizeLod, spv::OpImageQuerySamples, "ImageQuery", kQueries},
    {spv::OpEmitStreamVertex, spv::OpEndStreamPrimitive, "GeometryStreams", kStreams},
    {spv::OpDemoteToHelperInvocation, spv::OpIsHelperInvocationEXT, "DemoteToHelperInvocation", kDemotes,
     "SPV_EXT_demote_to_helper_invocation"},
};

/// OpExtension, behind all capabilities, unless it is there.
void declare_extension(std::vector<uint32_t>& words, std::string_view name) {
  size_t after_capabilities = kHeader_words;
  bool known = false;
  each_instruction(words, [&](std::span<const uint32_t> i) {
    if (op_of(i) == spv::OpCapability) after_capabilities += i.size();
    known = known || (op_of(i) == spv::OpExtension && text_of(i.subspan(1)) == name);
    return op_of(i) == spv::OpCapability || op_of(i) == spv::OpExtension;
  });
  if (known) return;
  std::vector<uint32_t> extension(1 + name.size() / 4 + 1);
  extension[0] = static_cast<uint32_t>(extension.size()) << spv::WordCountShift | spv::OpExtension;
  std::memcpy(&extension[1], name.data(), name.size());
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(after_capabilities), extension.begin(), extension.end());
}

/// ShaderLayer and ShaderViewportIndex are names of SPIR-V 1.5. A module before it that has them (Mesa's Zink makes such) means the
/// extension's capability, which is both.
bool declare_by_extension(std::vector<uint32_t>& words) {
  constexpr uint32_t kVersion_1_5 = 0x00010500;
  if (words.size() <= kHeader_words || words[1] >= kVersion_1_5) return false;
  bool found = false;
  for (size_t at = kHeader_words; at + 1 < words.size() && words[at] == (2U << spv::WordCountShift | spv::OpCapability); at += 2) {
    if (words[at + 1] != spv::CapabilityShaderLayer && words[at + 1] != spv::CapabilityShaderViewportIndex) continue;
    words[at + 1] = spv::CapabilityShaderViewportIndexLayerEXT, found = true;
  }
  if (found) declare_extension(words, "SPV_EXT_shader_viewport_index_layer");
  return found;
}

/// What is found missing on the way through a module.
struct Missing {
  std::set<uint32_t> declared;
  std::vector<const char*> names, extensions;
  std::vector<uint32_t> added;
  std::set<uint32_t> glsl450;  ///< ids of the set of instructions: it may be imported more than once

  void need(const char* name, std::span<const spv::Capability> any_of) {
    if (std::any_of(any_of.begin(), any_of.end(), [&](spv::Capability c) { return declared.contains(c); })) return;
    declared.insert(any_of.front());
    names.push_back(name);
    added.insert(added.end(), {2U << spv::WordCountShift | spv::OpCapability, static_cast<uint32_t>(any_of.front())});
  }

  void decoration(std::span<const uint32_t> i) {
    const size_t first = op_of(i) == spv::OpDecorate ? 2 : 3;
    for (const Need& n : kNeeds) {
      if (first >= i.size() || i[first] != n.decoration) continue;
      if (n.builtin == spv::BuiltInMax || (first + 1 < i.size() && i[first + 1] == n.builtin)) need(n.name, n.any_of);
    }
  }

  void operation(std::span<const uint32_t> i) {
    for (const OperationNeed& n : kOperations) {
      if (op_of(i) < n.first || op_of(i) > n.last) continue;
      const size_t before = names.size();
      need(n.name, n.any_of);
      if (n.extension && names.size() > before) extensions.push_back(n.extension);
    }
    const bool interpolates = op_of(i) == spv::OpExtInst && i.size() > 4 && glsl450.contains(i[3]) &&
                              i[4] >= GLSLstd450InterpolateAtCentroid && i[4] <= GLSLstd450InterpolateAtOffset;
    if (interpolates) need("InterpolationFunction", kInterpolates);
  }
};

}  // namespace

std::vector<const char*> declare_implied_capabilities(std::vector<uint32_t>& words) {
  constexpr uint32_t kVersion_1_6 = 0x00010600;
  const bool extended = declare_by_extension(words);
  Missing m;
  each_instruction(words, [&](std::span<const uint32_t> i) {
    if (op_of(i) == spv::OpCapability && i.size() == 2) m.declared.insert(i[1]);
    if (op_of(i) == spv::OpExtInstImport && i.size() > 2 && text_of(i.subspan(2)) == "GLSL.std.450") m.glsl450.insert(i[1]);
    op_of(i) == spv::OpDecorate || op_of(i) == spv::OpMemberDecorate ? m.decoration(i) : m.operation(i);
    return true;
  });
  if (!m.added.empty()) words.insert(words.begin() + kHeader_words, m.added.begin(), m.added.end());
  assert(m.names.size() * 2 == m.added.size());
  if (words.size() > kHeader_words && words[1] < kVersion_1_6)
    for (const char* extension : m.extensions) declare_extension(words, extension);
  if (extended) m.names.push_back("ShaderViewportIndexLayerEXT");
  return m.names;
}

namespace {

/// Annotations end where types, constants, lines and instructions of debug information begin.
bool ends_annotations(spv::Op op) {
  return op == spv::OpLine || op == spv::OpNoLine || op == spv::OpExtInst || (op >= spv::OpTypeVoid && op <= spv::OpVariable);
}

}  // namespace

size_t declare_implied_blocks(std::vector<uint32_t>& words) {
  std::set<uint32_t> blocks, structures, wanted;
  std::map<uint32_t, uint32_t> pointee, element;  // of pointers to what blocks hold; of arrays
  size_t behind_annotations = 0, at = kHeader_words;
  const auto holds_blocks = [](uint32_t storage_class) {
    return storage_class == spv::StorageClassPushConstant || storage_class == spv::StorageClassUniform ||
           storage_class == spv::StorageClassStorageBuffer;
  };
  each_instruction(words, [&](std::span<const uint32_t> i) {
    const spv::Op op = op_of(i);
    if (!behind_annotations && ends_annotations(op)) behind_annotations = at;
    at += i.size();
    if (op == spv::OpDecorate && i.size() > 2 && (i[2] == spv::DecorationBlock || i[2] == spv::DecorationBufferBlock)) blocks.insert(i[1]);
    if (op == spv::OpTypeStruct && i.size() > 1) structures.insert(i[1]);
    if ((op == spv::OpTypeArray || op == spv::OpTypeRuntimeArray) && i.size() > 2) element[i[1]] = i[2];
    if (op == spv::OpTypePointer && i.size() > 3 && holds_blocks(i[2])) pointee[i[1]] = i[3];
    if (op == spv::OpVariable && i.size() > 3 && pointee.contains(i[1])) {
      uint32_t type = pointee[i[1]];
      for (auto of = element.find(type); of != element.end(); of = element.find(type)) type = of->second;
      if (structures.contains(type) && !blocks.contains(type)) wanted.insert(type);
    }
    return op != spv::OpFunction;
  });
  std::vector<uint32_t> added;
  for (const uint32_t type : wanted) added.insert(added.end(), {3U << spv::WordCountShift | spv::OpDecorate, type, spv::DecorationBlock});
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(behind_annotations), added.begin(), added.end());
  return wanted.size();
}

}  // namespace tilegpu::shader
