// shader/module/glsl_elements.hpp -- how many numbers, vectors and matrices the arrays and structures of a GLSL text are made of.
//
// In: tokens in their order, macros of one token replaced. Out: the most of any declaration, or that it is not known. What is no
// declaration may be taken for a small one. Source: GLSL 4.60 specification, 4.1.8 "Structures", 4.1.9 "Arrays", 4.3.3 "Constant
// Expressions".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilegpu::shader {

inline constexpr uint64_t kMostOfGlsl = uint64_t{1} << 40;
/// Sums and products that end there.
inline uint64_t sum_of_glsl(uint64_t a, uint64_t b) { return std::min(kMostOfGlsl, a + b); }
inline uint64_t product_of_glsl(uint64_t a, uint64_t b) { return a && b > kMostOfGlsl / a ? kMostOfGlsl : a * b; }

/// Stands for a name whose macro is several tokens, takes arguments, or may not be one.
inline constexpr std::string_view kNoGlslToken = "?";

class GlslElements {
 public:
  using Token = std::string_view;
  void take(Token t);
  uint64_t most() const { return most_; }
  bool known() const { return known_; }

 private:
  /// Braces that are open: a structure's or block's, whose name that is, or others.
  struct Scope {
    Token structure;
    uint64_t members = 0;
  };
  void open();
  void close();
  void end_statement();
  size_t declarators(size_t at, uint64_t of_each, bool is_constant, bool is_parameter);
  size_t lengths(size_t at, uint64_t& product);
  size_t skip_lengths(size_t at) const;
  std::optional<uint64_t> bound(size_t at, size_t end) const;
  uint64_t elements_of(Token type) const;
  bool is_name(size_t at) const;

  std::vector<Token> statement_;
  std::vector<Scope> scopes_;
  std::unordered_map<Token, uint64_t> structures_;
  std::unordered_map<Token, std::optional<uint64_t>> constants_;  // without a value: found at run time, or by glslang alone
  uint64_t most_ = 1;
  bool known_ = true;
};

}  // namespace tilegpu::shader
