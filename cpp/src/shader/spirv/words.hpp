// shader/spirv/words.hpp -- a module as the words that it is, for what reads or rewrites them before anybody parses it.
// In: words. Out: instructions, as spans of them. Source: SPIR-V specification, "Physical Layout of a SPIR-V Module and Instruction".
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string_view>

namespace tilegpu::shader {

inline constexpr size_t kHeader_words = 5;

/// An instruction's first word.
inline uint32_t head(spv::Op op, size_t words) {
  assert(words > 0 && words <= 0xffff);
  return static_cast<uint32_t>(words) << spv::WordCountShift | static_cast<uint32_t>(op);
}
inline spv::Op op_of(std::span<const uint32_t> instruction) {
  assert(!instruction.empty());
  return static_cast<spv::Op>(instruction[0] & 0xffff);
}
/// A literal string that begins with these words; it ends at its zero, or with them.
inline std::string_view text_of(std::span<const uint32_t> words) {
  const auto* const text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, words.size_bytes())};
}

/// f(words of it) for each instruction, as long as it returns true. False: one has no length, or more words than there are.
template <class F>
bool each_instruction(std::span<const uint32_t> words, F&& f) {
  for (size_t at = kHeader_words; at < words.size();) {
    const size_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) return false;
    if (!f(words.subspan(at, length))) return true;
    at += length;
  }
  return true;
}

}  // namespace tilegpu::shader
