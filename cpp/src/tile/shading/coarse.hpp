// tile/shading/coarse.hpp -- stage: tile phase, fragments of several pixels (fragment shading rate). In: what a record covers and what of
// that passed early tests, by block. Out: packets whose lanes are fragments, shaded once each; their outputs, pixel by pixel, to the late
// tests and the epilogue that all packets have (shade.hpp).
//
// Fragments lie on a grid of their size from the framebuffer's corner, and quads of them on the next coarser one. No side is longer than 4
// pixels, so that a fragment never leaves a block, and a quad of them, of 8x8 pixels at most, neither a bin nor a texel of the attachment.
// Source: Vulkan specification, "Fragment Shading Rates", "Multisampling" (coverage mask); docs/decisions.md, 428 and 429.
#pragma once

#include "records/records.hpp"
#include "tile/shading/shade.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Samples of a block that the record covers, and those that passed.
void gather_block(CoarsePackets& c, uint32_t block, uint32_t samples, const uint16_t* covered, const uint16_t* live);
/// All of the record was gathered: its fragments wait.
void queue_gathered(const TileContext& t, Packets& p, Results& r, const records::TriangleRecord& record,
                    const shader::PrimitiveSetup* primitive);
/// Shades those that wait, all of the draw that is bound.
void drain_coarse(const TileContext& t, Packets& p, Results& r);

}  // namespace tilegpu::TILEGPU_TILE
