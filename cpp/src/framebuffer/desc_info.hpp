// framebuffer/desc_info.hpp -- fifth piece: what a pass needs that is neither layout nor operation.
// In: a pass. Out: for executor and profiles.
#pragma once

#include <cstdint>

#include "vk/sample_locations.hpp"

namespace tilegpu::framebuffer {

struct DescInfo {
  uint64_t tiler_heap_B = 0;                             // beyond it the pass is split
  bool own_heap = false;                                 // the pass says so, not its profile
  uint32_t draws_a_part = 0;                             // after so many draws it is split as well; 0: never
  const vk::SampleLocation* sample_positions = nullptr;  // sample_count of them, in 1/16 pixel
  uint32_t sample_count = 1;
  bool allow_hsr_prepass = false;  // the profile has a pre-pass, and what its driver asks of the layout holds (allowed_hsr)
  bool refuses_prepass = false;    // the pass says so
  bool transaction_elimination = false;
  uint32_t layer_count = 1;
};

}  // namespace tilegpu::framebuffer
