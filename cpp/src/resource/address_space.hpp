// resource/address_space.hpp -- the addresses that a device gave to buffers, and what lies there.
//
// In: buffers whose address was asked for, in the order of asking. Out: addresses that are the same on every run, and the table against
// which generated code checks each access (shader_abi/abi.hpp, AddressTable). Calls may come from any thread; the table changes only
// between executions, of which a device runs one at a time.
// Source: Vulkan specification, "Buffer Device Addresses"; how addresses are given out is own.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "resource/memory_contents.hpp"
#include "shader_abi/abi.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::resource {

/// What can be reached by address at one time. Keeps the memory.
struct AddressRanges {
  struct Range {
    Ptr<DeviceMemory> memory;
    MemoryRange bytes;
  };
  std::vector<shader::BufferDescriptor> windows;  // the first one is null
  std::vector<Range> ranges;                      // by address
  uint64_t newest = 0;                            // number of the last range that there was
};

struct AddressLease;

class AddressSpace : public std::enable_shared_from_this<AddressSpace> {
 public:
  AddressSpace();
  /// The buffer's address, from now until it is destroyed. `wanted`: this one, of a capture; 0: any. A buffer without memory has an address
  /// where nothing is yet.
  Expected<uint64_t> assign(const Ptr<Buffer>& buffer, uint64_t wanted = 0);
  /// All that there is now; null: nothing.
  Ptr<const AddressRanges> ranges();
  /// By address.
  std::vector<Ptr<Buffer>> buffers();
  /// The program is through with the buffer, which sets and command buffers may hold for longer: its address, if it has one, is free for
  /// another from now on, and nothing is there for what is submitted later. What was submitted has the memory still (`ranges`).
  static void give_up(const Buffer& buffer);

  /// The address that the buffer has now; 0: none, or no longer.
  static uint64_t address_of(const Buffer& buffer);

  /// Of draws and dispatches, from their recording on.
  const shader::AddressTable* table() const { return &table_; }
  /// An execution begins: there is what there was when it was submitted, and what is new since then.
  void begin(const Ptr<const AddressRanges>& submitted);
  /// The same of what came since: a command may have waited for the host. Between commands.
  void take_new();
  void end();
  /// Code that stores by address ran: any byte may have changed.
  void mark_written() const;

 private:
  friend struct AddressLease;
  friend class tilegpu::Buffer;
  struct Given {
    std::weak_ptr<Buffer> buffer;
    Ptr<DeviceMemory> memory;  // null: not bound yet
    uint8_t* data = nullptr;
    uint64_t offset_B = 0, size_B = 0, windows = 1;
    uint64_t number = 0;  // in the order in which ranges came to be
  };
  void bound(uint64_t window, const Ptr<DeviceMemory>& memory, uint8_t* data, uint64_t offset_B);
  void release(AddressLease& lease);
  bool is_free(uint64_t window, uint64_t count) const;
  uint64_t find_windows(uint64_t count);
  static void place(AddressRanges& ranges, uint64_t window, const Given& given);

  ForkMutex mutex_;
  std::map<uint64_t, Given> given_;  // by first window
  std::deque<uint64_t> freed_;       // single windows, those that are free for longest first
  uint64_t next_ = 1, numbers_ = 0;
  Ptr<const AddressRanges> ranges_;  // null: to be made anew
  shader::AddressTable table_;
  Ptr<const AddressRanges> current_;  // of the execution
};

/// What a buffer holds once it has an address. From then on the buffer's pointer to it never changes; any thread may read it at any time,
/// also while the first one asks for the address.
struct AddressLease {
  std::shared_ptr<AddressSpace> space;
  uint64_t window = 0;
  bool ended = false;  // under the space's lock
  uint64_t address() const { return window << shader::kAddressOffsetBits; }
  AddressLease(std::shared_ptr<AddressSpace> of, uint64_t first) : space(std::move(of)), window(first) {}
  ~AddressLease() { space->release(*this); }
  AddressLease(const AddressLease&) = delete;
  AddressLease& operator=(const AddressLease&) = delete;
};

}  // namespace tilegpu::resource
