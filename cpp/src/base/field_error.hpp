// base/field_error.hpp -- one way to say what is wrong: object (label), field, value, what is allowed, and the fix.
//
// Out: an Error whose message is one sentence for people. Used by every check of the core.
#pragma once

#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// "image 'albedo'", or "image" without a label.
inline std::string object_name(const char* kind, const std::string& label) {
  return label.empty() ? std::string(kind) : std::string(kind) + " '" + label + "'";
}

/// "image 'albedo': width_px is 0, allowed is 1 to 16384; give the image at least one pixel"
inline Error field_error(const std::string& object, const std::string& field, const std::string& value, const std::string& allowed,
                         const std::string& fix, VkResult code = VK_ERROR_VALIDATION_FAILED_EXT) {
  std::string message = object + ": " + field + " is " + value + ", allowed is " + allowed;
  if (!fix.empty()) message += "; " + fix;
  return {code, std::move(message)};
}

}  // namespace tilegpu
