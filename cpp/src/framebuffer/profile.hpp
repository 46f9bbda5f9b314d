// framebuffer/profile.hpp -- GPU profiles: data, one row each; no branch in the code knows a GPU by name.
//
// In: a name. Out: the row. Sources: docs/decisions.md, 21 (Mali tile buffers), 29 (G925), 31 (Adreno), 141 (GMEM).
#pragma once

#include <cstdint>
#include <string>

namespace tilegpu::framebuffer {

enum class TileModel : uint8_t {
  host,      // bins sized for the caches of this CPU
  buffer,    // a tile buffer of fixed size: tiles shrink with bytes a pixel
  gmem,      // a large memory that a driver cuts the framebuffer to fit (adreno): few tiles, multiples of an alignment
  immediate  // no tiles: attachments lie in memory behind caches; the host's bins are its own business
};

/// GMEM and what a tile in it must be a multiple of, and at most.
struct Gmem {
  uint32_t size_B = 0;
  uint32_t align_x_px = 0, align_y_px = 0, most_x_px = 0, most_y_px = 0;
};

/// Whether the GPU shades fragments of several pixels (VK_KHR_fragment_shading_rate), and who says so.
struct ShadingRateFact {
  bool has = true;
  const char* source = "";
};

struct Profile {
  const char* name;
  const char* description;  // for people: what is modelled
  TileModel tile_model;
  uint32_t tile_rt_B;            // colour tile buffer
  uint32_t tile_z_B;             // depth tile buffer
  uint32_t budget_divisor;       // 2: half is kept for the next tile (pipelining)
  uint32_t max_tile_px;          // pixels of the largest tile
  uint32_t lrz_generation;       // 0: no LRZ; Adreno 6xx generations 1 to 3, 7xx 4
  bool fragment_prepass;         // two-pass hidden-surface removal (Arm)
  uint32_t fpk_quads;            // forward pixel kill's queue, in quads; 0: none
  bool deferred_vertices;        // deferred vertex shading (Arm)
  float deferred_triangle_px2;   // of triangles whose bounding box is not larger, where it is on
  bool transaction_elimination;  // per-tile signatures
  uint64_t heap_B;               // tiler heap
  uint32_t vertex_batch;         // vertices shaded together, the reach of the reuse of vertices; 0: whole ranges of indices (host)
  uint32_t vertex_group;         // vertices of a request to a cache of vertices, from an aligned index on; 0: batches that begin empty
  const char* source;
  Gmem gmem = {};
  ShadingRateFact shading_rate = {};
};

/// Whether passes go tile by tile on the GPU that is modelled: then bins are its tiles, or parts of them.
inline bool has_tiles(const Profile& profile) { return profile.tile_model == TileModel::buffer || profile.tile_model == TileModel::gmem; }

/// Null for unknown names.
const Profile* find_profile(const std::string& name);

}  // namespace tilegpu::framebuffer
