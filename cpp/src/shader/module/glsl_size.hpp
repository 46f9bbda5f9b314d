// shader/module/glsl_size.hpp -- how much a GLSL text is for the compiler once its macros are expanded, without expanding them.
//
// In: a text and definitions. Out: tokens, and the cases of its largest switch. glslang takes some 600 bytes and two microseconds for each
// token, compares each case with all before it, and can't be interrupted; twenty macros of two terms each are a million tokens. Both
// branches of #if are counted, files that are included are not, nor macros that arguments or `##` name. Where a macro's last token takes
// arguments that stand behind it, they are taken for its own. Source: GLSL 4.60 specification, 3.3 "Preprocessor"; C++ 20 [cpp.replace].
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tilegpu::shader {

struct GlslSize {
  uint64_t tokens = 0;   // at most 2^40
  uint64_t cases = 0;    // of the switch that has most, as far as braces say which is whose
  uint64_t visited = 0;  // tokens that were looked at, each macro's body as often as it was defined anew
};
GlslSize measure_glsl(const std::string& text, const std::map<std::string, std::string>& defines);

/// More than any module of kMaxSpirvInstructions takes: each token is an identifier, a number or an operator.
inline constexpr uint64_t kMaxGlslTokens = 1u << 20;
/// SPIR-V's own: (literal, label) pairs of an OpSwitch.
inline constexpr uint64_t kMaxSwitchCases = 16383;

}  // namespace tilegpu::shader
