// base/aligned_buffer.hpp -- 64-byte aligned memory that only grows. In: a size. Out: its bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_memory.hpp"
#include "base/red_zone.hpp"

namespace tilegpu {

class AlignedBuffer {
 public:
  void reserve(size_t size_B) {
    if (size_B <= asked_B_) return;
    if (size_B > size_B_) {
      data_.reset(), size_B_ = asked_B_ = 0;  // where the system refuses, the buffer is empty
      const size_t wanted_B = (size_B + 4095) & ~size_t{4095};
      data_ = host_bytes(wanted_B, "the memory of a tile");
      size_B_ = wanted_B;
    }
    asked_B_ = size_B;
    allow(data_.get(), size_B);
    forbid(data_.get() + size_B, size_B_ - size_B);
  }
  uint8_t* data() const { return data_.get(); }
  size_t size_B() const { return asked_B_; }

 private:
  HostBytes data_;
  size_t size_B_ = 0, asked_B_ = 0;
};

}  // namespace tilegpu
