// framebuffer/feedback.hpp -- what shaders of a pass read of its own attachments: an error where the pass changes the same bytes.
//
// In: the attachments, then in any order what shaders read and what commands write. Out: an error that names both sides. Bytes decide:
// another level, another layer or the other aspect is no feedback, another image on the same memory is. An attachment that is loaded and
// that no command of the pass writes may be read. What a shader accesses counts, not what is bound: of several levels and layers it reads
// some, and nobody knows which before it runs. So it is an error where all that it could read is written, else a note. A descriptor of an
// array counts if a shader names it by a constant; what it may read by another index is a note too. Where it does read bytes that the pass
// changes, their values are undefined: those before the pass or those after it, by bins that other threads may draw, so that they may
// differ from run to run. Feedback loops that a draw is allowed (VK_EXT_attachment_feedback_loop_layout) are no error: at its own pixel a
// fragment reads what the image had before the pass, and behind a barrier the pass is split (device/feedback_loops.hpp).
// Source: Vulkan specification, "Render Pass Feedback Loop".
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "resource/memory_contents.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::framebuffer {

/// Bit i colour i, then depth, stencil (as pipeline::FragmentOutput::written_targets), then what each of them is resolved to, then what
/// tells the sizes of fragments, which the pass itself reads.
inline constexpr uint32_t kFeedbackResolved = kMaxColorAttachments + 2, kFeedbackShadingRate = 2 * kFeedbackResolved,
                          kFeedbackTargets = kFeedbackShadingRate + 1;

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
/// "color0", "depth", "stencil", "the resolve of color0", "shading_rate".
std::string target_name(uint32_t target);

/// Levels of a view, from its first one on.
struct LevelRange {
  uint32_t first = 0, count = ~0u;
};

/// What a shader reads some of: for each part of it (a level of a layer, a slice, bytes of a buffer) the targets that lie there. Parts with
/// the same targets are one.
using ReadParts = std::vector<uint32_t>;
inline bool meets_targets(const ReadParts& parts) {
  return std::any_of(parts.begin(), parts.end(), [](uint32_t targets) { return targets != 0; });
}

/// Whether a shader that is drawn with reads a descriptor: `by_index` of an array, which may be another's; `by_condition`: in code that
/// may not run.
enum class Certainty : uint8_t { certain, by_index, by_condition };

/// Targets that shaders may read, or write: the first to do it, and why it isn't known.
struct PossibleUse {
  enum class Why : uint8_t { index, condition, part_of_view, part_of_buffer };
  uint32_t targets = 0;
  std::array<std::string, kFeedbackTargets> who;
  std::array<Why, kFeedbackTargets> why{};
};

struct Feedback {
  std::string pass;
  std::vector<TargetBytes> targets;
  uint32_t read = 0, written = 0;                            // targets that shaders read, that the pass changes
  std::array<std::string, kFeedbackTargets> reader, writer;  // the first of each
  PossibleUse may_read, may_write;
  /// What is read of several parts that all are targets': feedback as soon as all are written.
  struct PartsRead {
    ReadParts parts;
    std::string who;
  };
  std::vector<PartsRead> all_targets;

  // Feedback loops. Of bits as `read`.
  uint32_t loops = 0;           // what the next draw's shaders may read though the pass writes it
  uint32_t looped = 0;          // what draws read so
  uint32_t kept_apart = 0;      // read as a buffer, or written by a shader: never a loop
  uint32_t before_barrier = 0;  // written before the last barrier in the pass
  bool has_barrier = false;
  uint32_t read_behind = 0;  // of these, what the draw that is recorded reads: it wants another pass
};

/// Who reads, and how.
struct Reader {
  std::string who;  // "pipeline 'p': 'albedo' (set 0, binding 1)"
  bool writes = false;
  Certainty certainty = Certainty::certain;  // else never an error
  bool of_buffer = false;                    // its parts are bytes
};

/// Load operations and resolves write from the beginning.
Feedback begin_feedback(const RenderingInfo& info);
/// `levels`: of the view, that can be read.
ReadParts targets_read(const Feedback& feedback, const ImageView& view, LevelRange levels);
ReadParts targets_read(const Feedback& feedback, const resource::MemoryContents& memory, resource::MemoryRange range);
/// Some of the parts are read.
Status note_read(Feedback& feedback, const ReadParts& parts, const Reader& reader);
/// A line for each target where what may be read or written meets what is, with the names of both.
std::vector<std::string> possible_feedback(const Feedback& feedback);
/// What another part of the same pass (suspended, or a secondary) reads and writes of these targets.
Status note_part(Feedback& feedback, const Feedback& part);
/// After an error of note_read, note_written or note_part: whether all that is in conflict are images that shaders read, as in a feedback
/// loop, and so what Vulkan forbids without being a danger. allow_loops makes loops of them.
bool are_loops(const Feedback& feedback);
void allow_loops(Feedback& feedback);
/// The targets of these aspects of the attachments.
uint32_t targets_of_aspects(VkImageAspectFlags aspects);
/// `who`: "pipeline 'p'".
Status note_written(Feedback& feedback, uint32_t targets, const std::string& who);

}  // namespace tilegpu::framebuffer
