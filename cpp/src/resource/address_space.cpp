// resource/address_space.cpp -- see address_space.hpp.
#include "resource/address_space.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

#include "base/field_error.hpp"

namespace tilegpu::resource {

namespace {

/// Windows are given out in order, and those of destroyed buffers again only after so many: the address of what is gone leads nowhere for
/// long.
constexpr uint64_t kFreshWindows = 1 << 16;
constexpr uint64_t kMostWindows = 1 << 20;  // addresses have 52 bits

constexpr shader::BufferDescriptor kNothing[1] = {};

std::string hexadecimal(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

// So that one byte behind the end of a buffer there never is another one.
uint64_t windows_of(uint64_t size_B) { return (size_B >> shader::kAddressOffsetBits) + 1; }

}  // namespace

AddressSpace::AddressSpace() : table_{kNothing, 1} {}

bool AddressSpace::is_free(uint64_t window, uint64_t count) const {
  const auto behind = given_.lower_bound(window);
  if (behind != given_.end() && behind->first < window + count) return false;
  return behind == given_.begin() || std::prev(behind)->first + std::prev(behind)->second.windows <= window;
}

/// 0: there are none left.
uint64_t AddressSpace::find_windows(uint64_t count) {
  while (count == 1 && next_ >= kFreshWindows && !freed_.empty()) {
    const uint64_t window = freed_.front();
    freed_.pop_front();
    if (is_free(window, 1)) return window;
  }
  while (next_ + count <= kMostWindows && !is_free(next_, count)) next_++;  // an address that was wanted lies there
  if (next_ + count <= kMostWindows) {
    const uint64_t window = next_;
    next_ += count;
    return window;
  }
  uint64_t window = 1;  // a gap
  for (const auto& [first, given] : given_) {
    if (window + count <= first) return window;
    window = first + given.windows;
  }
  return window + count <= kMostWindows ? window : 0;
}

Expected<uint64_t> AddressSpace::assign(const Ptr<Buffer>& buffer, uint64_t wanted) {
  assert(buffer);
  const std::string name = object_name("buffer", buffer->info().label);
  if (buffer->info().usage && !(buffer->info().usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT))
    return field_error(name, "usage", "one without shader_device_address", "one with shader_device_address",
                       "create the buffer with it too");
  const auto elsewhere = [&] {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + " has an address on another device; create a buffer for each device"};
  };
  std::shared_ptr<AddressLease> made;  // before the lock, which its end takes
  std::lock_guard lock(mutex_);
  if (const AddressLease* lease = buffer->lease_.load(std::memory_order_acquire)) {
    if (lease->space.get() != this) return elsewhere();
    const uint64_t address = lease->address();
    if (!wanted || wanted == address) return address;
    return field_error(name, "address", hexadecimal(wanted), "its own, " + hexadecimal(address), "want an address before it has one",
                       VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  }
  const uint64_t count = windows_of(buffer->size_B());
  uint64_t window = wanted >> shader::kAddressOffsetBits;
  if (wanted) {
    const bool whole = wanted == window << shader::kAddressOffsetBits && window + count <= kMostWindows;
    if (!whole || !is_free(window, count))
      return field_error(
          name, "address", hexadecimal(wanted), whole ? "one that no other buffer has" : "one that a device gave to a buffer",
          "replay with a device of its own, whose other buffers have no addresses yet", VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  } else if (window = find_windows(count); window == 0) {
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 name + ": the device has no addresses left: " + std::to_string(given_.size()) + " buffers have one"};
  }
  Given& given = given_[window];
  given.buffer = buffer, given.size_B = buffer->size_B(), given.windows = count;
  if (buffer->data()) {
    given.memory = buffer->memory(), given.data = buffer->data(), given.offset_B = buffer->memory_offset_B();
    given.number = ++numbers_;
  }
  ranges_ = nullptr;
  made = std::make_shared<AddressLease>(shared_from_this(), window);
  AddressLease* none = nullptr;  // another device may be asked at the same time, under another lock
  if (!buffer->lease_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) return elsewhere();
  buffer->address_ = std::move(made);
  return buffer->address_->address();
}

void AddressSpace::bound(uint64_t window, const Ptr<DeviceMemory>& memory, uint8_t* data, uint64_t offset_B) {
  std::lock_guard lock(mutex_);
  Given& given = given_.at(window);
  given.memory = memory, given.data = data, given.offset_B = offset_B;
  given.number = ++numbers_;
  ranges_ = nullptr;
}

uint64_t AddressSpace::address_of(const Buffer& buffer) {
  const AddressLease* lease = buffer.lease_.load(std::memory_order_acquire);
  if (!lease) return 0;
  std::lock_guard lock(lease->space->mutex_);
  return lease->ended ? 0 : lease->address();
}

void AddressSpace::give_up(const Buffer& buffer) {
  if (AddressLease* lease = buffer.lease_.load(std::memory_order_acquire)) lease->space->release(*lease);
}

void AddressSpace::release(AddressLease& lease) {
  std::lock_guard lock(mutex_);
  if (std::exchange(lease.ended, true)) return;  // given up before
  const auto found = given_.find(lease.window);
  assert(found != given_.end());
  if (freed_.size() >= kMostWindows) freed_.clear();  // of windows that were wanted again and again: gaps are found without
  for (uint64_t k = 0; k < found->second.windows; k++) freed_.push_back(lease.window + k);
  given_.erase(found);
  ranges_ = nullptr;
}

void AddressSpace::place(AddressRanges& ranges, uint64_t window, const Given& given) {
  if (!given.memory) return;
  if (ranges.windows.size() < window + given.windows) ranges.windows.resize(window + given.windows);
  for (uint64_t k = 0; k < given.windows; k++) {
    const uint64_t skipped_B = k << shader::kAddressOffsetBits;
    if (skipped_B < given.size_B) ranges.windows[window + k] = {given.data + skipped_B, given.size_B - skipped_B};
  }
  ranges.ranges.push_back({given.memory, {given.offset_B, given.offset_B + given.size_B}});
}

Ptr<const AddressRanges> AddressSpace::ranges() {
  std::lock_guard lock(mutex_);
  if (given_.empty()) return nullptr;
  if (!ranges_) {
    auto made = std::make_shared<AddressRanges>();
    made->windows.resize(1);
    for (const auto& [window, given] : given_) place(*made, window, given);
    made->newest = numbers_;
    ranges_ = std::move(made);
  }
  return ranges_;
}

std::vector<Ptr<Buffer>> AddressSpace::buffers() {
  std::vector<Ptr<Buffer>> found;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [window, given] : given_) found.push_back(given.buffer.lock());
  }
  // Not under the lock: whose last owner is here takes it.
  std::erase_if(found, [](const Ptr<Buffer>& buffer) { return !buffer || !buffer->data(); });
  return found;
}

void AddressSpace::begin(const Ptr<const AddressRanges>& submitted) {
  {
    std::lock_guard lock(mutex_);
    current_ = submitted;
  }
  take_new();
}

void AddressSpace::take_new() {
  Ptr<const AddressRanges> let_go;  // not under the lock
  std::lock_guard lock(mutex_);
  if (numbers_ > (current_ ? current_->newest : 0)) {
    auto both = current_ ? std::make_shared<AddressRanges>(*current_) : std::make_shared<AddressRanges>();
    if (both->windows.empty()) both->windows.resize(1);
    for (const auto& [window, given] : given_)
      if (given.number > both->newest) place(*both, window, given);
    both->newest = numbers_;
    let_go = std::move(current_);
    current_ = std::move(both);
  }
  table_ = current_ ? shader::AddressTable{current_->windows.data(), current_->windows.size()} : shader::AddressTable{kNothing, 1};
}

void AddressSpace::end() {
  Ptr<const AddressRanges> let_go;
  std::lock_guard lock(mutex_);
  table_ = {kNothing, 1};
  let_go = std::move(current_);
}

void AddressSpace::mark_written() const {
  if (!current_) return;
  for (const AddressRanges::Range& range : current_->ranges) range.memory->contents().write(range.bytes, kAllFields, Writer::shader);
}

}  // namespace tilegpu::resource
