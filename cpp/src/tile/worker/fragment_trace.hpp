// tile/worker/fragment_trace.hpp -- what the traced tile phase notes. In: calls from its stages, beside their counters. Out: maps, sums for
// each draw, the histories of chosen pixels (tilegpu/trace.hpp).
//
// The calls stand behind `if constexpr (kTraced)` (tile/worker/variant.hpp); a pixel belongs to one bin, a bin to one thread at a time, so
// that maps and histories need no lock, and what is summed over threads is integers.
#pragma once

#include <unordered_map>

#include "records/records.hpp"
#include "shader_abi/abi.hpp"
#include "tile/plan/pass_trace.hpp"
#include "tile/worker/packets.hpp"
#include "tile/worker/texel_trace.hpp"
#include "tile/worker/variant.hpp"

namespace tilegpu::TILEGPU_TILE {
struct Worker;
}  // namespace tilegpu::TILEGPU_TILE

namespace tilegpu::tile::trace {

/// A record, and where it lies.
struct Source {
  const records::TriangleRecord* record = nullptr;
  const records::Chunk* chunk = nullptr;
};
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
  TexelLines texels;   // where State::texels

  void add_to(State& pass, Covers& covers) const;
};

/// Before the workers begin, and after the pass.
void begin_pass(State& state, const TraceRequest& request, const VkRect2D& held, const records::BinGrid& grid,
                std::vector<uint32_t> draw_number);
void finish_pass(State& state, const Covers& covers);
/// Whether any of the pixels lies in the bin.
bool watches(const State& state, uint32_t layer, int32_t x_px, int32_t y_px);

// -- called by the stages
/// Of the worker, or null: FragmentReads'.
TexelLines* texel_lines(Worker& w);
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
/// Of a packet of coarse fragments.
void coarse_helpers(Worker& w, uint32_t count);
void left(Worker& w, uint32_t quad, FragmentStep step, uint64_t before, uint64_t after);
void recorded(Worker& w, uint32_t quad, uint64_t live);
/// What is left at the end of all tests.
void finished(Worker& w, uint32_t quad, uint64_t live);
void before_epilogue(Worker& w, uint32_t quad, uint64_t live);
void after_epilogue(Worker& w, uint32_t quad, uint64_t live);
void cleared_ids(Worker& w, uint32_t quad, uint64_t live);

}  // namespace tilegpu::tile::trace
