// hsr/lrz_caches.cpp -- see lrz_caches.hpp.
#include "hsr/lrz_caches.hpp"

namespace tilegpu::hsr {

namespace {

template <class F>
void each_texel(const LrzBuffer& b, F&& f) {
  for (uint32_t row = 0; row < b.rows; row++)
    for (uint32_t column = 0; column < b.columns; column++) f(size_t{row} * b.pitch + column, b.clear_bit(column, row));
}

}  // namespace

void lrz_leave_in_cache(LrzCaches& caches, const LrzBuffer& b, std::vector<uint16_t>& memory) {
  caches.modified = b.touched;
  if (memory.size() != b.texels.size()) memory.assign(b.texels.size(), b.cleared);
  each_texel(b, [&](size_t at, uint32_t bit) {
    if (b.touched[bit >> 6] >> (bit & 63) & 1) memory[at] = b.texels[at];
  });
}

void lrz_read_through_cache(const LrzCaches& caches, const std::vector<uint16_t>& memory, LrzBuffer& b) {
  if (memory.size() != b.texels.size()) return;
  std::vector<uint64_t> bits = caches.modified;
  bits.resize(b.touched.size(), 0);
  b.touched = std::move(bits);
  each_texel(b, [&](size_t at, uint32_t bit) { b.texels[at] = b.touched[bit >> 6] >> (bit & 63) & 1 ? memory[at] : b.cleared; });
}

}  // namespace tilegpu::hsr
