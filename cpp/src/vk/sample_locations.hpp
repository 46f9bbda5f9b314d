// vk/sample_locations.hpp -- Vulkan's standard sample locations, in 1/16 pixel from the pixel's top-left corner.
// In: a count of samples. Out: their places.
// Source: Vulkan specification, section "Multisampling" (standardSampleLocations).
#pragma once

#include <cstdint>

namespace tilegpu::vk {

struct SampleLocation {
  uint8_t x, y;
};

inline constexpr SampleLocation kSampleLocations1[1] = {{8, 8}};
inline constexpr SampleLocation kSampleLocations2[2] = {{12, 12}, {4, 4}};
inline constexpr SampleLocation kSampleLocations4[4] = {{6, 2}, {14, 6}, {2, 10}, {10, 14}};
inline constexpr SampleLocation kSampleLocations8[8] = {{9, 5}, {7, 11}, {13, 9}, {5, 3}, {3, 13}, {1, 7}, {11, 15}, {15, 1}};
inline constexpr SampleLocation kSampleLocations16[16] = {{9, 9},  {7, 5}, {5, 10}, {12, 7}, {3, 6}, {10, 13}, {13, 11}, {11, 3},
                                                          {6, 14}, {8, 1}, {4, 2},  {2, 12}, {0, 8}, {15, 4},  {14, 15}, {1, 0}};

constexpr const SampleLocation* sample_locations(uint32_t samples) {
  switch (samples) {
    case 2:
      return kSampleLocations2;
    case 4:
      return kSampleLocations4;
    case 8:
      return kSampleLocations8;
    case 16:
      return kSampleLocations16;
    default:
      return kSampleLocations1;
  }
}

}  // namespace tilegpu::vk
