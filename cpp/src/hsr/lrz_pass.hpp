// hsr/lrz_pass.hpp -- low-resolution Z of one pass: before the geometry phase the draws are judged in the order of recording and the
// buffers made ready; afterwards they are kept for the next pass on the same depth view.
// In: draws in order. Out: LrzDecisions, buffers.
// The decision needs no depth, so it is serial and cheap; what it decides is used by all threads of both phases.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "hsr/lrz_caches.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::hsr {

/// What a pass left: the buffers belong to one level and layer of one depth image.
struct LrzView {
  std::weak_ptr<Image> image;
  const Image* key = nullptr;
  uint32_t level = 0, layer = 0, samples = 0;  // 0: no pass yet
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint64_t content_version = 0;  // of the bytes when the pass ended
  bool whole = false;            // the pass came to its end, covered the whole view and stored depth
  std::string label;             // of the pass
  LrzState state;
  bool cleared = false;  // since the last pass a command cleared it, to this depth
  float cleared_to = 0;
  uint32_t pair = 0;       // A7xx: of the buffers below; the other pair is the pass's before, which may still be rendered
  LrzBuffer buffer[2][2];  // of each pair by lrz_index(direction)
  bool has_buffer[2] = {};
  std::vector<uint16_t> memory[2][2];  // texels of the buffers as they lie in memory, where caches are not flushed
};

/// What binning needs of a draw.
struct LrzBinDraw {
  const LrzBuffer* tested = nullptr;  // null: not tested
  LrzWriter writer;                   // its limits hold for the test as well
  bool square = false;                // its records are points
};

/// One pass, ready for both phases.
struct LrzPass {
  LrzView* view = nullptr;             // null: the pass has no low-resolution Z
  std::vector<LrzDecision> decisions;  // by draw; a clear has none
  std::string culprit_pass;            // LrzState::cause_pass as the pass began
  LrzBuffer* buffer[2] = {};           // null: nobody tests or writes this direction
  std::vector<std::string> events;     // of the command stream
  bool feedback = false;               // some draw wrote depth that the buffer does not know
  bool in_order = false;               // sysmem: draws write while they are rendered, by feedback, and only those that follow know
  LrzWriter writer_base;
  std::vector<LrzBinDraw> binning;  // by draw; empty: no draw is tested or written
};

struct LrzPassInfo {
  uint32_t generation = 0;
  const RenderingInfo* rendering = nullptr;
  VkFormat depth_format = VK_FORMAT_UNDEFINED;  // of the tile; UNDEFINED: no depth
  bool has_stencil = false;
  uint32_t samples = 1, width_px = 0, height_px = 0;
  VkRect2D render_area{};
  bool bidirectional = false, flush = true;  // the switches (HiddenSurfaceRemoval, DeviceCreateInfo)
  bool secondaries = false, suspended = false;
  bool sysmem = false;  // nothing is binned
};

/// For people: what the pass left, but for concurrent_binning_off, which is not its own. After end().
LowResolutionZ describe(const LrzPass& pass);

class LrzCache {
 public:
  /// Judges the draws; out.view is null where low-resolution Z is off for the whole pass (the decisions still say why).
  void begin(const LrzPassInfo& info, std::span<const command::PassCommand> commands, std::span<const command::DrawCall> draws,
             LrzPass& out);
  /// After the tiles: keeps what the next pass may use. `stored`: depth was written to its image. `numbers`: what people call the draws;
  /// empty: their indices.
  void end(const LrzPassInfo& info, LrzPass& pass, bool stored, std::span<const uint32_t> numbers);
  /// A command cleared ranges of a depth image: the buffer is cleared for the first of them that has depth, as nobody knows which view
  /// comes next (Turnip, tu_lrz_clear_depth_image).
  void clear_image(const Ptr<Image>& image, float depth, std::span<const VkImageSubresourceRange> ranges);

 private:
  static constexpr size_t kMostViews = 8;
  LrzView& find(const Ptr<Image>& image);
  /// Of a pass that loads depth: the direction byte and the view are the caches'.
  void read_caches(uint32_t level, uint32_t layer, LrzState& state) const;
  std::vector<std::unique_ptr<LrzView>> views_;  // the one used last stands last
  LrzCaches caches_;                             // filled where they are not flushed
};

}  // namespace tilegpu::hsr
