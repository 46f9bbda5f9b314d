// fuzz/common/panels.cpp -- see panels.hpp.
#include "common/panels.hpp"

#include <cassert>
#include <cmath>

namespace tilegpu::fuzz {

PanelVertex Panel::vertex(uint32_t k) const {
  assert(k < kVertices);
  constexpr uint32_t kHalves[2][2][3] = {{{0, 1, 2}, {2, 1, 3}}, {{0, 1, 3}, {0, 3, 2}}};  // corners: right by bit 0, lower by bit 1
  const uint32_t half = k / 3, turn = ways_ >> (half ? 4 : 2) & 3, at = (ways_ & 64 ? 2 - k % 3 : k % 3) + turn;
  const uint32_t corner = kHalves[ways_ >> 1 & 1][half][at % 3];
  PanelVertex v{.right = corner & 1, .lower = corner >> 1};
  const uint32_t how = ways_ >> 9 & 3;
  if (!half || (ways_ & 0x180) != 0x180 || (how != 3 && k != 3 + (ways_ >> 11 & 1))) return v;
  const uint32_t much = ways_ >> 14;
  if (how == 0) (ways_ >> 12 & 1 ? v.moved_x : v.moved_y) = static_cast<float>(1 + much);
  if (how == 1) v.deeper = true;
  if (how >= 2) v.recoloured = much;  // 3: of all three vertices
  return v;
}

uint32_t Panel::step(uint32_t i, const PanelVertex& v) const {
  assert(i < 4 && v.right < 2 && v.lower < 2);
  const uint32_t bits = along_ >> 4 * i;
  return (bits & 1 ? v.right * (1 + (bits >> 2 & 3)) : 0) + (bits & 2 ? v.lower * 3 : 0);
}

std::vector<FlatVertex> flat_panels(Choices& c, const VkViewport& v, VkExtent2D size, bool smooth) {
  constexpr float kFar[] = {1, 1, 2, 0.5f};
  std::vector<FlatVertex> all;
  for (uint32_t count = 1 + c.below(6); count; count--) {
    const Panel panel(c);
    const auto side = [&](uint32_t most) { return static_cast<float>(static_cast<int>(c.half() % ((most + 8) * 16)) - 64) / 16; };
    float x = side(size.width), y = side(size.height);
    if (c.coin()) x = std::floor(x * 2) / 2, y = std::floor(y * 2) / 2;  // where pixels begin, and their centres
    const float right = 8 + static_cast<float>(c.below(256)) / 8, lower = 8 + static_cast<float>(c.below(256)) / 8;
    const float z = static_cast<float>(1 + c.below(15)) / 16, w = smooth ? c.of(kFar) : 1;
    const uint32_t base = c.byte();
    for (uint32_t k = 0; k < Panel::kVertices; k++) {
      const PanelVertex at = panel.vertex(k);
      const float px = x + (at.right ? right : 0) + at.moved_x / 16, py = y + (at.lower ? lower : 0) + at.moved_y / 16;
      FlatVertex vertex{{((px - v.x) / v.width * 2 - 1) * w, ((py - v.y) / v.height * 2 - 1) * w, (at.deeper ? 0.53125f : z) * w, w}, {}};
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t more = (smooth ? 4 * panel.step(i, at) : 0) + (at.recoloured == i ? 4 : 0);
        vertex.color[i] = static_cast<float>(4 * ((base * (2 * i + 3) + i * 17) % 9) + more) / 64;
      }
      all.push_back(vertex);
    }
  }
  return all;
}

}  // namespace tilegpu::fuzz
