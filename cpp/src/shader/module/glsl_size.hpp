// shader/module/glsl_size.hpp -- how much a GLSL text is for the compiler once its macros are expanded, without expanding them.
//
// In: a text, definitions, files that it includes. Out: tokens, the cases of its largest switch, the numbers of its largest array or
// structure. glslang takes some 600 bytes and two microseconds for each token, compares each case with all before it, takes arrays and
// structures apart where they are compared or copied, and can't be interrupted; twenty macros of two terms each are a million tokens. Both
// branches of #if are counted, and of macros that either defines the sum. Source: GLSL 4.60 specification, 3.3 "Preprocessor", 4.1.8
// "Structures", 4.1.9 "Arrays"; C++ 20 [cpp.replace].
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tilegpu::shader {

struct GlslSize {
  uint64_t tokens = 0;    // at most 2^40
  uint64_t cases = 0;     // of the switch that has most, as far as braces say which is whose
  uint64_t elements = 0;  // numbers, vectors and matrices of the largest array or structure, at most 2^40
  uint64_t visited = 0;   // tokens that were looked at, each macro's body as often as it was defined anew
  bool known = true;      // false: there may be more, of macros that arguments or `##` name, and of lengths that macros or constants make
  bool exact = true;      // false: `tokens` may be too many, as macros are defined where conditions hold
};
struct IncludedGlsl {
  std::string path, text;
};
/// By the name in "" (local) or <>, the path of the file that includes it, and how deep that is. Nothing: there is none.
using FindInclude = std::function<std::optional<IncludedGlsl>(const std::string& name, bool local, const std::string& from, size_t depth)>;
GlslSize measure_glsl(const std::string& text, const std::map<std::string, std::string>& defines, const FindInclude& find = {},
                      const std::string& path = {});

/// More than any module of kMaxSpirvInstructions takes: each token is an identifier, a number or an operator.
inline constexpr uint64_t kMaxGlslTokens = 1u << 20;
/// SPIR-V's own: (literal, label) pairs of an OpSwitch.
inline constexpr uint64_t kMaxSwitchCases = 16383;

}  // namespace tilegpu::shader
