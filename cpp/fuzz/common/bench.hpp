// fuzz/common/bench.hpp -- devices, objects and comparisons of the fuzzers that draw.
//
// In: how a device is to be. Out: a device that is used for some cases and then made anew (code is kept for a device's life); images and
// buffers with contents that are always the same.
#pragma once

#include "common/finding.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::fuzz {

enum class Code : uint8_t { quick, optimised };

/// One that others may have used before. `info`: without a disk cache, whatever it says.
Ptr<Device> device(DeviceCreateInfo info, Code code);

/// Of 4 bytes a word, all small floats: no word is zero, no two neighbours are equal.
Ptr<Buffer> patterned_buffer(uint64_t size_B, VkBufferUsageFlags usage);
/// Null where there is no such image.
Ptr<ImageView> patterned_view(const ReflectedType& type);
Ptr<Sampler> sampler(bool compares);
/// With several layers: all of them.
Ptr<ImageView> target(VkFormat format, VkSampleCountFlagBits samples, uint32_t width_px, uint32_t height_px, VkImageUsageFlags usage = 0,
                      uint32_t layers = 1);

/// All bytes of an image, or none if it never had memory.
void append(std::vector<uint8_t>& to, const Image& image);
void append(std::vector<uint8_t>& to, const Buffer& buffer);

/// GLSL of the fuzzer's own, compiled once for each text; null where it does not compile.
Ptr<ShaderModule> own_shader(const std::string& text, VkShaderStageFlagBits stage);

/// "word 17 of 64: 3f800000, 00000000 there"; empty: they are equal.
std::string difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

}  // namespace tilegpu::fuzz
