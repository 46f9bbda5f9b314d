// hsr/lrz_pass.hpp -- low-resolution Z of one pass: before the geometry phase the draws are judged in the order of recording and the
// buffers made ready; afterwards they are kept for the next pass on the same depth view.
// In: draws in order. Out: LrzDecisions, buffers.
// The decision needs no depth, so it is serial and cheap; what it decides is used by all threads of both phases.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "hsr/lrz_buffer.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::hsr {

/// What a pass left: the buffers belong to one level and layer of one depth image.
struct LrzView {
  std::weak_ptr<Image> image;
  const Image* key = nullptr;
  uint32_t level = 0, layer = 0, samples = 1;
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint64_t content_version = 0;  // of the bytes when the pass ended
  bool kept = false;             // the pass covered the whole view and stored depth
  LrzState state;
  LrzBuffer buffer[2];  // by lrz_index(direction)
  bool has_buffer[2] = {};
};

/// One pass, ready for both phases.
struct LrzPass {
  LrzView* view = nullptr;             // null: the pass has no low-resolution Z
  std::vector<LrzDecision> decisions;  // by draw; a clear has none
  std::vector<LrzDrawFacts> facts;     // scratch
  LrzBuffer* buffer[2] = {};           // null: nobody tests or writes this direction
  bool feedback = false;               // some draw wrote depth that the buffer does not know
  LrzWriter writer_base;
  LrzWriter writer(const command::DrawCall& draw, uint32_t index) const;
};

struct LrzPassInfo {
  uint32_t generation = 0;
  const RenderingInfo* rendering = nullptr;
  VkFormat depth_format = VK_FORMAT_UNDEFINED;  // of the tile; UNDEFINED: no depth
  bool has_stencil = false;
  uint32_t samples = 1, width_px = 0, height_px = 0;
  VkRect2D render_area{};
};

class LrzCache {
 public:
  /// Judges the draws; out.view is null where low-resolution Z is off for the whole pass (the decisions still say why).
  void begin(const LrzPassInfo& info, std::span<const command::PassCommand> commands, std::span<const command::DrawCall> draws,
             LrzPass& out);
  /// After the tiles: keeps what the next pass may use. `stored`: depth was written to its image.
  void end(const LrzPassInfo& info, LrzPass& pass, bool stored);

 private:
  static constexpr size_t kMostViews = 8;
  LrzView& find(const Ptr<Image>& image);
  std::vector<std::unique_ptr<LrzView>> views_;  // the one used last stands last
};

}  // namespace tilegpu::hsr
