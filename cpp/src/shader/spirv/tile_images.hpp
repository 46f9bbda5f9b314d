// shader/spirv/tile_images.hpp -- SPV_EXT_shader_tile_image: colour, depth and stencil of the tile that a fragment shader reads at its own
// pixel, as the input attachments that they are here.
//
// In: words of a module. Out: words in which each tile image is a subpass image of several samples whose InputAttachmentIndex names a
// location (kTileColor), depth or stencil, and which has no descriptor; what is wrong with the extension's own instructions, which a
// validator of SPIRV-Tools 2023.1 does not know. Source: SPV_EXT_shader_tile_image, revision 1; GL_EXT_shader_tile_image ("sample 0 is
// returned if a sample is not specified"); Vulkan specification, "Fragment Tile Image Interface", "Fragment Shader Tile Image Reads".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// InputAttachmentIndex of what has no descriptor: the first location; depth, stencil.
inline constexpr uint32_t kTileColor = 0xff000000, kTileDepth = 0xff000100, kTileStencil = 0xff000101;

/// Words of modules without the extension stay. `with_sets`: with the sets and bindings that the validator wants of such variables.
std::vector<uint32_t> tile_images_as_inputs(std::vector<uint32_t> words, bool with_sets);

/// Empty, or what is wrong with tile images that tile_images_as_inputs would hide from the validator.
std::string check_tile_images(const std::vector<uint32_t>& words);

/// Whether the variable is a tile image: only those have no descriptor.
inline bool is_tile_image(const Module& m, uint32_t variable) {
  const Decorations& of = m.decoration(variable);
  return of.set == kNone && of.input_attachment != kNone && of.input_attachment >= kTileColor;
}

}  // namespace tilegpu::shader
