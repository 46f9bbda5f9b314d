// shader/jit/core_functions.hpp -- what generated code may call, by name: so an object means the same in every process, and in one that
// reads it from disk.
//
// In: a symbol of an object. Out: the function's address here. Source: docs/decisions.md, 40 and 490.
#pragma once

#include <cstdint>

#include "shader_abi/abi.hpp"

namespace tilegpu::shader {

/// What quick code calls for its inputs: the lowering's, which says so before it asks for any code.
struct QuickFunctions {
  void (*fragment_inputs)(const FragmentArgs* args, const uint32_t* words, float* out);
  void (*attribute)(const VertexBinding* binding, const uint32_t* index, const uint32_t* words, uint32_t* out);
};
void set_quick_functions(const QuickFunctions& functions);

inline constexpr const char* kQuickFragmentInputs = "tilegpu_quick_fragment_inputs";
inline constexpr const char* kQuickAttribute = "tilegpu_quick_attribute";

/// Whether generated code may call it: also in a compiler's process, which runs none and has no addresses of what is the lowering's.
bool is_core_function(const char* name);
/// 0: generated code has no business with it. memcpy, memmove and memset, those above, and the checker's runtime where code is checked.
uint64_t core_function(const char* name);

}  // namespace tilegpu::shader
