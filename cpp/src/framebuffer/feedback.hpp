// framebuffer/feedback.hpp -- what shaders of a pass read of its own attachments: an error where the pass changes the same bytes.
//
// In: the attachments, then in any order what shaders read and what commands write. Out: an error that names both sides. Bytes decide:
// another level, another layer or the other aspect is no feedback, another image on the same memory is. An attachment that is loaded and
// that no command of the pass writes may be read. A descriptor of an array counts if a shader names it by a constant; what it may read by
// another index is no error, but a note. Where it does read bytes that the pass changes, their values are undefined: those before the pass
// or those after it, by bins that other threads may draw, so that they may differ from run to run. Source: Vulkan specification, "Render
// Pass Feedback Loop".
#pragma once

#include <array>
#include <string>
#include <vector>

#include "resource/memory_contents.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::framebuffer {

/// Bit i colour i, then depth, stencil (as pipeline::FragmentOutput::written_targets), then what each of them is resolved to.
inline constexpr uint32_t kFeedbackResolved = kMaxColorAttachments + 2, kFeedbackTargets = 2 * kFeedbackResolved;

/// Bytes of one aspect of an attachment, as the pass uses them.
struct TargetBytes {
  const resource::MemoryContents* memory = nullptr;
  resource::MemoryRange range;
  uint8_t fields = resource::kAllFields;
  uint32_t target = 0;  // its bit's number
  const ImageView* view = nullptr;
};
bool overlap(const TargetBytes& a, const TargetBytes& b);
TargetBytes target_bytes(const ImageView& view, VkImageAspectFlagBits aspect, uint32_t layer_count);
/// "color0", "depth", "stencil", "the resolve of color0".
std::string target_name(uint32_t target);

struct Feedback {
  std::string pass;
  std::vector<TargetBytes> targets;
  uint32_t read = 0, written = 0;                            // targets that shaders read, that the pass changes
  std::array<std::string, kFeedbackTargets> reader, writer;  // the first of each
  // The same of what shaders only may do, by indices that are not constants.
  uint32_t may_read = 0, may_write = 0;
  std::array<std::string, kFeedbackTargets> may_reader, may_writer;
};

/// Load operations and resolves write from the beginning.
Feedback begin_feedback(const RenderingInfo& info);
/// Targets with bytes of the view; of `range` of a memory.
uint32_t targets_read(const Feedback& feedback, const ImageView& view);
uint32_t targets_read(const Feedback& feedback, const resource::MemoryContents& memory, resource::MemoryRange range);
/// `who`: "pipeline 'p': 'albedo' (set 0, binding 1)".
Status note_read(Feedback& feedback, uint32_t targets, const std::string& who);
/// An element of an array that is named by no constant: never an error.
void note_may_read(Feedback& feedback, uint32_t targets, const std::string& who, bool writes);
/// A line for each target where what may be read or written meets what is, with the names of both.
std::vector<std::string> possible_feedback(const Feedback& feedback);
/// What another part of the same pass (suspended, or a secondary) reads and writes of these targets.
Status note_part(Feedback& feedback, const Feedback& part);
/// `who`: "pipeline 'p'".
Status note_written(Feedback& feedback, uint32_t targets, const std::string& who);

}  // namespace tilegpu::framebuffer
