// vk/cooperative_matrices.hpp -- which products of cooperative matrices there are: sizes and types of components.
//
// In: nothing. Out: the table that vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR gives, and that shaders are held to.
// Source: Vulkan specification, "Cooperative Matrix Properties" (VK_KHR_cooperative_matrix).
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>

namespace tilegpu::vk {

/// A (m x k) times B (k x n) plus C (m x n), whose components the result has.
struct CooperativeMatrixRow {
  uint32_t size = 0;  // m, n and k
  VkComponentTypeKHR a = VK_COMPONENT_TYPE_FLOAT32_KHR, b = VK_COMPONENT_TYPE_FLOAT32_KHR, c = VK_COMPONENT_TYPE_FLOAT32_KHR;
  bool saturates = false;  // the sum stops at the ends of its type
};

inline constexpr std::array<uint32_t, 2> kCooperativeMatrixSizes = {8, 16};
inline constexpr uint32_t kCooperativeFloats = 3, kCooperativeIntegers = 9;
inline constexpr uint32_t kCooperativeMatrices = 2 * (kCooperativeFloats + 2 * kCooperativeIntegers);

constexpr std::array<CooperativeMatrixRow, kCooperativeMatrices> cooperative_matrices() {
  constexpr auto f16 = VK_COMPONENT_TYPE_FLOAT16_KHR, f32 = VK_COMPONENT_TYPE_FLOAT32_KHR;
  constexpr auto s8 = VK_COMPONENT_TYPE_SINT8_KHR, u8 = VK_COMPONENT_TYPE_UINT8_KHR;
  constexpr auto s16 = VK_COMPONENT_TYPE_SINT16_KHR, u16 = VK_COMPONENT_TYPE_UINT16_KHR;
  constexpr auto s32 = VK_COMPONENT_TYPE_SINT32_KHR, u32 = VK_COMPONENT_TYPE_UINT32_KHR;
  constexpr VkComponentTypeKHR floats[kCooperativeFloats][3] = {{f16, f16, f16}, {f16, f16, f32}, {f32, f32, f32}};
  constexpr VkComponentTypeKHR integers[kCooperativeIntegers][3] = {{s8, s8, s32},   {u8, u8, u32},   {s8, u8, s32},
                                                                    {u8, s8, s32},   {u8, u8, s32},   {s16, s16, s32},
                                                                    {u16, u16, u32}, {s32, s32, s32}, {u32, u32, u32}};
  std::array<CooperativeMatrixRow, kCooperativeMatrices> rows = {};
  uint32_t count = 0;
  for (uint32_t size : kCooperativeMatrixSizes) {
    for (const auto& f : floats) rows[count++] = {size, f[0], f[1], f[2], false};
    for (bool saturates : {false, true})
      for (const auto& i : integers) rows[count++] = {size, i[0], i[1], i[2], saturates};
  }
  return rows;
}

}  // namespace tilegpu::vk
