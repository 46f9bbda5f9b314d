// base/float_text.hpp -- a float in a message, in any locale. In: a float. Out: the shortest digits that mean it, as "64", "0.1", "nan".
#pragma once

#include <charconv>
#include <string>

namespace tilegpu {

/// 64.0f is "64", where std::to_string has "64.000000".
inline std::string float_text(float value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

}  // namespace tilegpu
