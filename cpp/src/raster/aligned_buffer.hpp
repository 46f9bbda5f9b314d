// raster/aligned_buffer.hpp -- 64-byte aligned memory that only grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilegpu::raster {

class AlignedBuffer {
 public:
  void reserve(size_t size_B) {
    if (size_B <= size_B_) return;
    size_B_ = (size_B + 4095) & ~size_t{4095};
    data_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, size_B_)));
    if (!data_) std::abort();
  }
  uint8_t* data() const { return data_.get(); }
  size_t size_B() const { return size_B_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_B_ = 0;
};

}  // namespace tilegpu::raster
