// shader/jit/core_functions.cpp -- see core_functions.hpp. In: a name. Out: an address of this process.
#include "shader/jit/core_functions.hpp"

#include <cassert>
#include <cstring>

#include "shader/jit/checked_code.hpp"

namespace tilegpu::shader {

uint64_t core_function(const char* name) {
  assert(name);
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("memcpy")) return reinterpret_cast<uintptr_t>(&std::memcpy);
  if (is("memmove")) return reinterpret_cast<uintptr_t>(&std::memmove);
  if (is("memset")) return reinterpret_cast<uintptr_t>(&std::memset);
  if (is(kQuickFragmentInputs)) return reinterpret_cast<uintptr_t>(&quick_fragment_inputs);
  if (is(kQuickAttribute)) return reinterpret_cast<uintptr_t>(&quick_attribute);
  return checker_address(name);
}

}  // namespace tilegpu::shader
