// tilegpu/command_traffic.hpp -- what a command outside of passes moves: the other side of a pass's ledger.
//
// Source: the measure of PanVK's framebuffer article ("33 samples being loaded or stored per pixel" by a resolve of its own, 1 in the
// tile).
#pragma once

#include <cstdint>

namespace tilegpu {

/// Bytes of a copy, blit, resolve, clear, fill, update or mip chain: of its regions, each texel or texel block once with all its samples,
/// as the format has them (what block-compressed tiling saves is not counted).
struct CommandTraffic {
  const char* command = "";  ///< as Vulkan names it, without vkCmd: "copy_image", "resolve_image", ...
  uint64_t read_B = 0, written_B = 0;
};

}  // namespace tilegpu
