// resource/usage.hpp -- whether buffers and images were made for what is done with them.
//
// In: an object and the use that it is put to. Out: Ok, or an error that names object, use and fix. An object whose usage is 0 says nothing
// of itself, and may be used for anything. Source: Vulkan specification, VkBufferUsageFlagBits, VkImageUsageFlagBits.
#pragma once

#include <string>

#include "base/field_error.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu::resource {

inline bool lacks(const Buffer& buffer, VkBufferUsageFlagBits use) { return buffer.info().usage && !(buffer.info().usage & use); }
inline bool lacks(const Image& image, VkImageUsageFlagBits use) { return image.info().usage && !(image.info().usage & use); }

const char* usage_name(VkBufferUsageFlagBits use);
const char* usage_name(VkImageUsageFlagBits use);

inline const char* kind_name(const Buffer&) { return "buffer"; }
inline const char* kind_name(const Image&) { return "image"; }

/// "copy_buffer: usage of buffer 'b' is one without transfer_src, ...".
template <class Object, class Use>
Error usage_error(const std::string& who, const Object& object, Use use) {
  const std::string kind = kind_name(object), name = usage_name(use);
  return field_error(who, "usage of " + object_name(kind.c_str(), object.info().label), "one without " + name, "one with " + name,
                     "create the " + kind + " with that usage");
}

template <class Object, class Use>
Status check_usage(const char* who, const Object& object, Use use) {
  if (!lacks(object, use)) return Ok{};
  return usage_error(who, object, use);
}

}  // namespace tilegpu::resource
