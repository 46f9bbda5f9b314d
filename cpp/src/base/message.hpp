// base/message.hpp -- numbers and texts as bytes, for processes of one build that talk to each other, and back.
// In: fields in an order. Out: bytes; or the fields again, each read bounds-checked: the other process may have lost its mind.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tilegpu {

class MessageWriter {
 public:
  std::string bytes;
  template <class T>
  MessageWriter& number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  MessageWriter& text(std::string_view value) {
    number(static_cast<uint64_t>(value.size()));
    bytes += value;
    return *this;
  }
};

/// What is not there reads as 0 and "".
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : left_(bytes) {}
  /// Nothing was read that was not there.
  bool good() const { return good_; }
  bool at_end() const { return good_ && left_.empty(); }
  template <class T>
  T number() {
    static_assert(std::is_integral_v<T>);
    T value{};
    if (const std::string_view from = take(sizeof value); !from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<uint64_t>()); }

 private:
  std::string_view take(uint64_t size_B) {
    if (size_B > left_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view taken = left_.substr(0, size_B);
    left_.remove_prefix(size_B);
    return taken;
  }
  std::string_view left_;
  bool good_ = true;
};

}  // namespace tilegpu
