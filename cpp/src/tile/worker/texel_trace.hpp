// tile/worker/texel_trace.hpp -- which lines of textures a traced pass reads. In: calls of sampler functions on the threads that shade
// tiles (descriptor/texture_trace.hpp). Out: for each image the different lines of each bin, added up, and those of the pass.
//
// A set, not a sequence: what a tile reads does not depend on how its fragments are packed, which an order would. So it stands for a cache
// that a tile finds empty and that holds what the tile reads.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "descriptor/texture_trace.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::tile::trace {

/// Of one thread.
class TexelLines {
 public:
  void begin_bin();
  void end_bin();
  /// Adds this thread's lines.
  void add_to(std::unordered_set<uint64_t>& pass, std::vector<uint64_t>& of_bins) const;
  void read(uint64_t line) {
    uint64_t& last = recent_[(line ^ line >> 13) % recent_.size()];
    if (last == line) return;
    last = line;
    bin_.insert(line);
  }

 private:
  std::array<uint64_t, 1024> recent_{};  // in the bin; no line is ~0
  std::unordered_set<uint64_t> bin_, pass_;
  std::vector<uint64_t> of_bins_;  // by image
};

/// What TextureTrace tells: of the thread's bin, if it has one.
void note_texels(const shader::TracedSlot* slot, const shader::TexelCall* call);
/// Sums of all threads; `images`: TextureTrace::images.
std::vector<TextureLines> texture_lines(const std::unordered_set<uint64_t>& pass, const std::vector<uint64_t>& of_bins,
                                        const std::vector<uint64_t>& images);

}  // namespace tilegpu::tile::trace
