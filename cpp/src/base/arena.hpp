// base/arena.hpp -- a growing array of plain data that is never zero-filled and keeps its memory from frame to frame.
// In: a size. Out: memory, its bytes undefined.
// std::vector::resize writes zeros over what the geometry phase is about to write anyway; here resize leaves bytes undefined.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "base/host_memory.hpp"

namespace tilegpu {

template <class T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static constexpr size_t kAlign_B = 64;

 public:
  Arena() = default;
  Arena(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  Arena(const Arena& other) { append(other.data_, other.size_); }
  Arena(Arena&& other) noexcept { swap(other); }
  Arena& operator=(Arena other) noexcept {
    swap(other);
    return *this;
  }
  ~Arena() { free_host(data_, bytes_of(capacity_)); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  T& back() { return (*this)[size_ - 1]; }

  void clear() { size_ = 0; }
  /// New elements are undefined.
  void resize(size_t size) {
    reserve(size);
    size_ = size;
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  /// Room for `count` more; the elements are undefined and belong to the array.
  T* extend(size_t count) {
    reserve(size_ + count);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  /// The same where reserve() has made the room.
  T* extend_reserved(size_t count) {
    assert(size_ + count <= capacity_);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  void push_back(const T& value) {
    const T copy = value;  // may lie in this very array
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = copy;
  }
  void append(const T* values, size_t count) {
    T* first = extend(count);
    if (count) std::memcpy(static_cast<void*>(first), values, count * sizeof(T));
  }

 private:
  static size_t bytes_of(size_t capacity) { return (capacity * sizeof(T) + kAlign_B - 1) / kAlign_B * kAlign_B; }
  void swap(Arena& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  __attribute__((noinline)) void grow(size_t capacity) {
    if (capacity < capacity_ * 2) capacity = capacity_ * 2;
    if (capacity < 64) capacity = 64;
    void* memory = allocate_host(bytes_of(capacity), "records of the geometry phase");
    if (size_) std::memcpy(memory, static_cast<const void*>(data_), size_ * sizeof(T));
    free_host(data_, bytes_of(capacity_));
    data_ = static_cast<T*>(memory);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace tilegpu
