// tile/worker/texel_trace.hpp -- which lines of textures a traced pass reads. In: calls of sampler functions on the threads that shade
// tiles (descriptor/texture_trace.hpp). Out: for each image the different lines of each bin, added up, and those of the pass.
//
// A set, not a sequence: what a tile reads does not depend on how its fragments are packed, which an order would. So it stands for a cache
// that a tile finds empty and that holds what the tile reads.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "descriptor/texture_trace.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::tile::trace {

/// Of one thread. Its tiles are bins; of GPUs without tiles squares of the screen, which every bin is made of.
class TexelLines {
 public:
  static constexpr int32_t kSquare_px = 32;
  /// `packet`: whose quads say in which square of the bin, which begins at (x_px, y_px), a lane is; null: the bin is one tile.
  void begin_bin(const shader::FragmentArgs* packet, int32_t x_px, int32_t y_px);
  void end_bin();
  /// Adds this thread's lines.
  void add_to(std::unordered_set<uint64_t>& pass, std::vector<uint64_t>& of_bins) const;
  void read(uint32_t lane, uint64_t line) {
    const uint32_t square = square_of(lane);
    Recent& last = recent_[(line ^ line >> 13) % recent_.size()];
    if (last.line == line && last.square == square) return;
    last = {line, square};
    tiles_[square].insert(line);
  }

 private:
  static constexpr int32_t kSquares = 4;  // of a bin of 128 pixels, each way
  uint32_t square_of(uint32_t lane) const {
    if (!packet_) return 0;
    const int32_t column = (packet_->x_px[lane / 4] - x_px_) / kSquare_px, row = (packet_->y_px[lane / 4] - y_px_) / kSquare_px;
    assert(column >= 0 && column < kSquares && row >= 0 && row < kSquares);
    return static_cast<uint32_t>(row * kSquares + column);
  }

  const shader::FragmentArgs* packet_ = nullptr;
  int32_t x_px_ = 0, y_px_ = 0;
  struct Recent {
    uint64_t line = ~uint64_t{0};  // none
    uint32_t square = 0;
  };
  std::array<Recent, 1024> recent_;  // in the bin
  std::array<std::unordered_set<uint64_t>, kSquares * kSquares> tiles_;
  std::unordered_set<uint64_t> pass_;
  std::vector<uint64_t> of_bins_;  // by image
};

/// While a fragment shader runs on this thread: what it reads is its bin's. Vertices that are shaded within a tile read for no fragment.
class FragmentReads {
 public:
  /// Null: nobody notes them.
  explicit FragmentReads(TexelLines* lines);
  ~FragmentReads();
  FragmentReads(const FragmentReads&) = delete;
};

/// What TextureTrace tells: of the fragment shader that runs on the thread, if one does.
void note_texels(const shader::TracedSlot* slot, const shader::TexelCall* call);
/// Sums of all threads; `images`: TextureTrace::images.
std::vector<TextureLines> texture_lines(const std::unordered_set<uint64_t>& pass, const std::vector<uint64_t>& of_bins,
                                        const std::vector<uint64_t>& images);

}  // namespace tilegpu::tile::trace
