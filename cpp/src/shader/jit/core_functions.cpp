// shader/jit/core_functions.cpp -- see core_functions.hpp. In: a name. Out: an address of this process.
#include "shader/jit/core_functions.hpp"

#include <atomic>
#include <cassert>
#include <cstring>

#include "shader/jit/checked_code.hpp"
#include "shader/jit/deep_frame.hpp"

namespace tilegpu::shader {

namespace {

std::atomic<uint64_t> fragment_inputs = 0, attribute = 0;

}  // namespace

void set_quick_functions(const QuickFunctions& functions) {
  assert(functions.fragment_inputs && functions.attribute);
  fragment_inputs = reinterpret_cast<uintptr_t>(functions.fragment_inputs);
  attribute = reinterpret_cast<uintptr_t>(functions.attribute);
}

bool is_core_function(const char* name) {
  assert(name);
  return !std::strcmp(name, kQuickFragmentInputs) || !std::strcmp(name, kQuickAttribute) || core_function(name) != 0;
}

uint64_t core_function(const char* name) {
  assert(name);
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("memcpy")) return reinterpret_cast<uintptr_t>(&std::memcpy);
  if (is("memmove")) return reinterpret_cast<uintptr_t>(&std::memmove);
  if (is("memset")) return reinterpret_cast<uintptr_t>(&std::memset);
  if (is(kQuickFragmentInputs)) return fragment_inputs;
  if (is(kQuickAttribute)) return attribute;
  if (is(kRunDeep)) return reinterpret_cast<uintptr_t>(&run_deep);
  return checker_address(name);
}

}  // namespace tilegpu::shader
