// vk/given.hpp -- enumerations that a program wrote, read as the numbers that they are.
//
// In: what stands in a program's memory. Out: a value of the enumeration; what can be none is the one that Vulkan keeps free
// (VK_..._MAX_ENUM), which every check refuses as it does any other that is not listed.
// Source: C++20, [dcl.enum]: of an enumeration without a fixed type the values are those of the bits that its enumerators need, which are
// 31 of Vulkan's. To read another as such is undefined.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <vulkan/vulkan_core.h>

namespace tilegpu::vk {

/// Vulkan's own, of those that have no negative values.
template <class Enum>
  requires std::is_enum_v<Enum>
Enum given(const Enum& from) {
  static_assert(sizeof(Enum) == 4 && std::is_unsigned_v<std::underlying_type_t<Enum>>);
  constexpr uint32_t kFree = 0x7fffffff;
  uint32_t number = 0;
  std::memcpy(&number, &from, sizeof number);
  return static_cast<Enum>(number < kFree ? number : kFree);
}

inline VkComponentMapping given(const VkComponentMapping& from) { return {given(from.r), given(from.g), given(from.b), given(from.a)}; }

inline VkStencilOpState given(const VkStencilOpState& from) {
  return {given(from.failOp), given(from.passOp), given(from.depthFailOp), given(from.compareOp),
          from.compareMask,   from.writeMask,     from.reference};
}

inline VkColorBlendEquationEXT given(const VkColorBlendEquationEXT& from) {
  return {given(from.srcColorBlendFactor), given(from.dstColorBlendFactor), given(from.colorBlendOp),
          given(from.srcAlphaBlendFactor), given(from.dstAlphaBlendFactor), given(from.alphaBlendOp)};
}

inline VkPipelineColorBlendAttachmentState given(const VkPipelineColorBlendAttachmentState& from) {
  return {from.blendEnable,
          given(from.srcColorBlendFactor),
          given(from.dstColorBlendFactor),
          given(from.colorBlendOp),
          given(from.srcAlphaBlendFactor),
          given(from.dstAlphaBlendFactor),
          given(from.alphaBlendOp),
          from.colorWriteMask};
}

inline VkVertexInputBindingDescription given(const VkVertexInputBindingDescription& from) {
  return {from.binding, from.stride, given(from.inputRate)};
}

inline VkVertexInputAttributeDescription given(const VkVertexInputAttributeDescription& from) {
  return {from.location, from.binding, given(from.format), from.offset};
}

inline VkColorBlendAdvancedEXT given(const VkColorBlendAdvancedEXT& from) {
  return {given(from.advancedBlendOp), from.srcPremultiplied, from.dstPremultiplied, given(from.blendOverlap), from.clampResults};
}

inline VkVertexInputBindingDescription2EXT given(const VkVertexInputBindingDescription2EXT& from) {
  return {given(from.sType), from.pNext, from.binding, from.stride, given(from.inputRate), from.divisor};
}

inline VkVertexInputAttributeDescription2EXT given(const VkVertexInputAttributeDescription2EXT& from) {
  return {given(from.sType), from.pNext, from.location, from.binding, given(from.format), from.offset};
}

/// What is a number already.
inline uint32_t given(uint32_t from) { return from; }

/// An array of any of these.
template <class T>
std::vector<T> given(const T* from, uint32_t count) {
  std::vector<T> out;
  out.reserve(count);
  for (uint32_t i = 0; i < count; ++i) out.push_back(given(from[i]));
  return out;
}

}  // namespace tilegpu::vk
