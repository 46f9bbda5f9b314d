// resource/buffer_view.cpp -- views of buffers as texels: checks at creation, defaults resolved.
//
// In: BufferViewCreateInfo. Out: BufferView. Source: Vulkan specification, "Buffer Views".
#include "base/field_error.hpp"
#include "tilegpu/resource.hpp"
#include "vk/format.hpp"

namespace tilegpu {

Expected<Ptr<BufferView>> BufferView::create(const BufferViewCreateInfo& info) {
  if (!info.buffer) return field_error("buffer view", "buffer", "null", "a buffer", "give the view its buffer");
  const Buffer& buffer = *info.buffer;
  const std::string name = "view of " + object_name("buffer", buffer.info().label);
  const auto number = [](uint64_t value) { return std::to_string(value); };
  if (!buffer.data()) return field_error(name, "buffer", "one without memory", "a buffer with memory", "bind memory to it first");
  constexpr VkBufferUsageFlags kTexels = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
  if (buffer.info().usage && !(buffer.info().usage & kTexels))
    return field_error(name, "usage of its buffer", "one without texel buffers", "uniform_texel_buffer or storage_texel_buffer",
                       "create the buffer with that usage");
  const vk::FormatInfo* format = vk::find_format(info.format);
  if (!format || !format->is_texel_buffer())
    return field_error(name, "format", format ? format->name : number(static_cast<uint32_t>(info.format)), "a format of texel buffers",
                       "formats of colours with 1, 2 or 4 components, but for sRGB, are, and those of three with 32 bits",
                       VK_ERROR_FORMAT_NOT_SUPPORTED);
  if (info.offset_B % kTexelBufferAlignment_B || info.offset_B >= buffer.size_B())
    return field_error(name, "offset_B", number(info.offset_B),
                       "a multiple of " + number(kTexelBufferAlignment_B) + " below the buffer's " + number(buffer.size_B()), "");
  const uint64_t room_B = buffer.size_B() - info.offset_B;
  auto view = std::make_shared<BufferView>();
  view->info_ = info;
  uint64_t& range_B = view->info_.range_B;
  if (range_B == VK_WHOLE_SIZE) range_B = room_B / format->texel_B * format->texel_B;
  if (range_B == 0 || range_B > room_B || range_B % format->texel_B || range_B / format->texel_B > kMaxTexelBufferElements)
    return field_error(name, "range_B", number(range_B),
                       "a multiple of the texel's " + number(format->texel_B) + " bytes, at most " + number(room_B) + " bytes and " +
                           number(kMaxTexelBufferElements) + " texels",
                       "view a part of the buffer");
  return view;
}

}  // namespace tilegpu
