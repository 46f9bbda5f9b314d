// pipeline/faint_texture.hpp -- a texture without which nothing of a fragment is seen. In: stages, state (resolve.cpp). Out: for the tile
// phase (tile/plan/clear_texels.hpp). Source: docs/decisions.md, 550.
#pragma once

#include <optional>

#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

/// Where `component` of all texels that its look-up filters is 0, no target changes, and nothing else happens.
struct FaintTexture {
  uint32_t set = 0, offset_B = 0;  // of its CombinedDescriptor
  uint32_t component = 0;          // of the view, behind its swizzle
  std::array<uint32_t, 2> rows{};  // of the varyings that the coordinate is, by axis
};

/// As resolve() makes all of them.
struct ResolvedWithTexture : Resolved {
  std::optional<FaintTexture> faint;
};
inline const std::optional<FaintTexture>& faint_texture(const Resolved& resolved) {
  return static_cast<const ResolvedWithTexture&>(resolved).faint;
}

}  // namespace tilegpu::pipeline
