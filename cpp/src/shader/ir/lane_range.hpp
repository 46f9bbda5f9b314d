// shader/ir/lane_range.hpp -- masks of shuffles. In: lanes side by side. Out: their numbers.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace tilegpu::shader {

inline std::vector<int> lane_range(uint32_t first, uint32_t count) {
  std::vector<int> lanes(count);
  std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
  return lanes;
}

}  // namespace tilegpu::shader
