// capture/bytes.hpp -- numbers and text to bytes and back; the reader never looks behind its end, and never believes a count.
// In, out: numbers and text, bytes.
// Little endian, without padding. A reader that failed gives zeros from then on; who reads asks for ok() before it uses what it got.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tilegpu::capture {

static_assert(std::endian::native == std::endian::little);

class Writer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    put_bytes(&value, sizeof value);
  }
  void put_bool(bool value) { put<uint8_t>(value); }
  void put_count(size_t count) {
    assert(count <= UINT32_MAX);
    put(static_cast<uint32_t>(count));
  }
  void put_text(const std::string& text) {
    put_count(text.size());
    put_bytes(text.data(), text.size());
  }
  void put_bytes(const void* data, size_t size_B) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + size_B);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  // The same names as the reader's: a description of a struct serves both (capture/fields.hpp).
  template <class T>
  void number(T& value, const char*) {
    put(value);
  }
  void flag(bool& value, const char*) { put_bool(value); }
  template <class T>
  void below(T& value, uint64_t limit, const char*) {
    assert(static_cast<uint64_t>(value) < limit);
    (void)limit;
    put(static_cast<uint32_t>(value));
  }
  template <class T>
  void among(T& value, std::initializer_list<T> allowed, const char*) {
    assert(std::find(allowed.begin(), allowed.end(), value) != allowed.end());
    (void)allowed;
    put(static_cast<uint32_t>(value));
  }
  void text(std::string& value, const char*) { put_text(value); }
  template <class T, class Allocator, class Fields>
  void list(std::vector<T, Allocator>& items, size_t least_B, uint64_t most, const char*, Fields fields) {
    assert(items.size() <= most);
    (void)most;
    put_count(items.size());
    [[maybe_unused]] const size_t before_B = bytes_.size();
    for (T& item : items) fields(item);
    assert(bytes_.size() - before_B >= items.size() * least_B);  // or a reader would refuse the count
    (void)least_B;
  }

 private:
  std::vector<uint8_t> bytes_;
};

/// A number or bytes that a reader took: what was left before, and how many. Counted from the end, wherever the bytes lie.
struct Taken {
  size_t left_B = 0, size_B = 0;
};
/// Where readers of this thread note what they take; null: nowhere. For a fuzzer that changes a file number by number.
extern thread_local std::vector<Taken>* noted;

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : left_(bytes) {}
  bool ok() const { return why_.empty(); }
  bool at_end() const { return left_.empty(); }
  size_t left_B() const { return left_.size(); }
  const std::string& why() const { return why_; }
  /// What is not read yet, and back to it: for what is not read in the file's order.
  std::span<const uint8_t> place() const { return left_; }
  void go_to(std::span<const uint8_t> place) {
    if (ok()) left_ = place;
  }
  /// The first failure is the one that is told.
  void fail(std::string why) {
    assert(!why.empty());
    if (why_.empty()) why_ = std::move(why);
    left_ = {};
  }

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value{};
    if (const uint8_t* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  void number(T& value, const char* what) {
    if constexpr (std::is_enum_v<T>) {
      const auto given = get<std::underlying_type_t<T>>();
      if (given > 0x7fffffff) return fail(std::string(what) + " is " + std::to_string(given) + "; no enumerator is as large");
      value = static_cast<T>(given);  // another large one is for who knows the enumeration to refuse
    } else {
      value = get<T>();
    }
  }
  void flag(bool& value, const char* what) {
    const uint8_t byte = get<uint8_t>();
    if (byte > 1) fail(std::string(what) + " is " + std::to_string(byte) + "; it must be 0 or 1");
    value = byte == 1;
  }
  /// A number or an enumerator below `limit`; anything else fails.
  template <class T>
  void below(T& value, uint64_t limit, const char* what) {
    const uint32_t given = get<uint32_t>();
    if (given >= limit) fail(std::string(what) + " is " + std::to_string(given) + "; it must be below " + std::to_string(limit));
    value = static_cast<T>(given < limit ? given : 0);
  }
  template <class T>
  void among(T& value, std::initializer_list<T> allowed, const char* what) {
    const uint32_t given = get<uint32_t>();
    value = *allowed.begin();
    for (T one : allowed)
      if (given == static_cast<uint32_t>(one)) {
        value = one;
        return;
      }
    fail(std::string(what) + " is " + std::to_string(given) + ", which it can't be");
  }
  void text(std::string& value, const char* what) { value = get_text(what); }
  template <class T, class Allocator, class Fields>
  void list(std::vector<T, Allocator>& items, size_t least_B, uint64_t most, const char* what, Fields fields) {
    items.resize(get_count(least_B, most, what));
    for (T& item : items)
      if (ok()) fields(item);
  }
  /// How many things follow that take at least `least_B` bytes each: never more than there can be.
  uint32_t get_count(size_t least_B, uint64_t most, const char* what) {
    assert(least_B > 0);
    const uint32_t count = get<uint32_t>();
    if (ok() && (count > most || count > left_.size() / least_B))
      fail(std::string(what) + ": there can't be " + std::to_string(count) + " of them");
    return ok() ? count : 0;
  }
  std::string get_text(const char* what) {
    const uint32_t size = get_count(1, 1u << 20, what);
    const uint8_t* from = take(size);
    return from ? std::string(reinterpret_cast<const char*>(from), size) : std::string();
  }
  /// Null where there are not as many.
  const uint8_t* take(size_t size_B) {
    if (size_B > left_.size()) {
      fail("the file ends too early");
      return nullptr;
    }
    if (noted) noted->push_back({left_.size(), size_B});
    const uint8_t* at = left_.data();
    left_ = left_.subspan(size_B);
    return at;
  }

 private:
  std::span<const uint8_t> left_;
  std::string why_;
};

}  // namespace tilegpu::capture
