// fuzz/common/finding.hpp -- what every fuzzer needs: how it says that something is wrong, and a reader that turns bytes into choices.
//
// In: the bytes of a case. Out: numbers for any bytes (zeros behind the end), a process that ends with a sentence.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu::fuzz {

/// Ends the process, which libFuzzer takes for a crash and keeps the case.
[[noreturn]] void finding(const std::string& what);

/// What the fuzzer itself makes and that no case may make fail.
template <class T>
T take(Expected<T> result, const char* what) {
  if (!result) finding(std::string(what) + ": " + result.error().message);
  return std::move(*result);
}

/// Something about the bytes that is as good as random and always the same: which of several ways a case is run.
uint64_t hash_of(const uint8_t* data, size_t size_B);

/// Choices out of bytes.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size_B) : at_(data), end_(data + size_B) {}
  bool at_end() const { return at_ == end_; }
  size_t left_B() const { return static_cast<size_t>(end_ - at_); }
  uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  uint16_t half() {
    const uint16_t low = byte();
    return static_cast<uint16_t>(low | byte() << 8);
  }
  uint32_t word() {
    const uint32_t low = half();
    return low | uint32_t{half()} << 16;
  }
  /// 0 to n - 1; n is at most 65,536.
  uint32_t below(uint32_t n) { return n <= 1 ? 0 : (n <= 256 ? byte() : half()) % n; }
  bool coin() { return byte() & 1; }
  /// One of `n`.
  bool seldom(uint32_t n) { return below(n) == n - 1; }
  template <class T, size_t N>
  T of(const T (&list)[N]) {
    return list[below(static_cast<uint32_t>(N))];
  }
  /// 0 to 1, in steps of 1/255.
  float unit() { return static_cast<float>(byte()) / 255.0f; }
  std::string_view rest() { return {reinterpret_cast<const char*>(at_), left_B()}; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

/// A folder of this process's own below the system's for temporary files; removed when the process ends as it should.
const std::string& scratch_folder();
void write_bytes(const std::string& path, std::string_view bytes);

}  // namespace tilegpu::fuzz
