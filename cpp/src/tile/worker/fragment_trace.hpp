// tile/worker/fragment_trace.hpp -- what the traced tile phase notes. In: calls from its stages, beside their counters. Out: maps, sums for
// each draw, the histories of chosen pixels (tilegpu/trace.hpp).
//
// The calls stand behind `if constexpr (kTraced)` (tile/worker/variant.hpp); a pixel belongs to one bin, a bin to one thread at a time, so
// that maps and histories need no lock, and what is summed over threads is integers.
#pragma once

#include <memory>
#include <unordered_map>

#include "records/records.hpp"
#include "shader/abi/abi.hpp"
#include "tile/worker/variant.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::tile {
struct Worker;
struct WaitingQuad;
}  // namespace tilegpu::tile

namespace tilegpu::tile::trace {

/// A record, and where it lies.
struct Source {
  const records::TriangleRecord* record = nullptr;
  const records::Chunk* chunk = nullptr;
};
struct Id {
  uint32_t draw = ~0u, primitive = 0, instance = 0;  // draw: index in the execution's draws; ~0: nobody
  bool operator==(const Id&) const = default;
};

/// A shaded fragment of which something is left in a pixel.
struct Contributor {
  Id id;
  uint16_t samples[8];  // by colour attachment
};

/// Of the pass.
struct State {
  PassTrace result;
  bool maps = false;
  bool keeps_bins = false;  // the pass is split: bins come again
  uint32_t bin_px = 0, columns = 0;
  int32_t origin_x_px = 0, origin_y_px = 0;
  std::vector<uint32_t> draw_number;                                // by index: in the order of commands
  std::vector<std::vector<std::vector<Contributor>>> contributors;  // [bin][pixel]
};

/// What hid fragments of a draw: for each pair how many.
struct Cover {
  uint32_t draw;
  Id by;
  bool operator==(const Cover&) const = default;
};
struct CoverHash {
  size_t operator()(const Cover& c) const {
    uint64_t h = c.draw * 0x9e3779b97f4a7c15ull;
    for (uint32_t v : {c.by.draw, c.by.primitive, c.by.instance}) h = (h ^ v) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  }
};

struct Covers : std::unordered_map<Cover, uint64_t, CoverHash> {};

struct Watched {
  size_t number;        // in the request
  uint32_t quad, lane;  // tile pixel of its quad, and which of the four
  int32_t x_px, y_px;   // in the bin
  Id pending[16];       // whose number is in the ids
  float depth_before[16];
  uint32_t stencil_before[16];
  std::vector<std::array<double, 4>> color_before[16];
};

/// Of one thread.
struct WorkerTrace {
  State* pass = nullptr;
  std::vector<DrawTrace> draws;
  Covers covers;
  std::unordered_map<const shader::PrimitiveSetup*, Source> sources;
  std::vector<Watched> watched;
  std::vector<std::vector<Contributor>>* pixels = nullptr;
  bool muted = false;  // the pre-pass counted these before

  void add_to(State& pass, Covers& covers) const;
};

/// Before the workers begin, and after the pass.
void begin_pass(State& state, const TraceRequest& request, uint32_t width_px, uint32_t height_px, const records::BinGrid& grid,
                std::vector<uint32_t> draw_number);
void finish_pass(State& state, const Covers& covers);
/// Whether any of the pixels lies in the bin.
bool watches(const State& state, int32_t x_px, int32_t y_px);

// -- called by the stages
void begin_bin(Worker& w, uint32_t bin);
void end_bin(Worker& w, uint32_t bin);
void cleared(Worker& w, const command::ClearCall& clear);
void lrz_primitive(Worker& w, Source source);
void lrz_block(Worker& w, Source source, int32_t block_x, int32_t block_y);
void rasterized(Worker& w, Source source, uint32_t tile_pixel, uint64_t coverage);
void rasterized_block(Worker& w, Source source, uint32_t block, const uint16_t* masks);
void hierarchical_z(Worker& w, Source source, uint32_t block, const uint16_t* masks);
void tested(Worker& w, Source source, uint32_t tile_pixel, uint64_t coverage, uint64_t live);
void tested_block(Worker& w, Source source, uint32_t block, const uint16_t* masks, const uint16_t* live);
void set_up(Worker& w, const shader::PrimitiveSetup* setup, Source source);
/// The main pass: of a quad, samples that a later primitive owns.
void killed_main_pass(Worker& w, Source source, uint32_t tile_pixel, uint64_t live, uint64_t killed);
void killed_waiting(Worker& w, const WaitingQuad& old, uint64_t left, const WaitingQuad& by);
/// What is gathered from the ids will be shaded: not killed.
void seen(Worker& w, uint32_t tile_pixel, uint64_t live);
void flushed(Worker& w);
/// What comes was counted in the pre-pass.
void mute(Worker& w, bool muted);
/// shade.cpp, quad by quad of a packet: before the shader's results count; what each step left; what is written.
void shading(Worker& w, uint32_t quad, uint64_t live);
void left(Worker& w, uint32_t quad, FragmentStep step, uint64_t before, uint64_t after);
void recorded(Worker& w, uint32_t quad, uint64_t live);
/// What is left at the end of all tests.
void finished(Worker& w, uint32_t quad, uint64_t live);
void before_epilogue(Worker& w, uint32_t quad, uint64_t live);
void after_epilogue(Worker& w, uint32_t quad, uint64_t live);
void cleared_ids(Worker& w, uint32_t quad, uint64_t live);

}  // namespace tilegpu::tile::trace
