// shader/lower/pixel_slices.hpp -- which fragment shaders can run for single pixels, without the other three of a quad.
//
// In: a Module, its constants, Divergence. Out: for each value that a derivative is taken of (explicitly, or by a texture look-up with a
// computed level), the few instructions that make it from the primitive's attributes. A lane then computes it at three pixels of its own
// quad, and has the differences, bit for bit, that a quad of lanes would have found in its neighbours. Source: Vulkan specification,
// "Derivative Operations" (coarse derivatives); SPIR-V specification 1.6, section 3.32.
#pragma once

#include <optional>
#include <vector>

#include "shader/lower/divergence.hpp"

namespace tilegpu::shader {

/// Instructions beyond this are not computed three more times: helper lanes cost less.
inline constexpr uint32_t kMostSliceInstructions = 16;
/// So many derivatives and look-ups at most: each may look through the whole function.
inline constexpr uint32_t kMostSlices = 64;

struct PixelSlices {
  struct Slice {
    std::vector<uint32_t> instructions;  // indices, in order; stores to local variables among them
    std::set<uint32_t> locals;           // those variables
  };
  std::unordered_map<uint32_t, Slice> of;  // by the id of the value
  /// Input variables that they read.
  std::set<uint32_t> inputs;
};

/// Nothing where some value that a derivative is taken of is not made so, or where a fine derivative is asked.
std::optional<PixelSlices> find_pixel_slices(const Module& m, const Constants& constants, const Divergence& divergence);

}  // namespace tilegpu::shader
