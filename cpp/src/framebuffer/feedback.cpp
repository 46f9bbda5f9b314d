// framebuffer/feedback.cpp -- see feedback.hpp.
//
// In: attachments as ranges of memory. Out: targets that are both read and written. Two images on one memory meet in its ranges; an image
// without memory has ranges of its own.
#include "framebuffer/feedback.hpp"

#include <bit>

#include "base/field_error.hpp"
#include "resource/view_abi.hpp"

namespace tilegpu::framebuffer {
namespace {

constexpr uint32_t kDepth = kMaxColorAttachments, kStencil = kMaxColorAttachments + 1;

/// The pass starts from other values than the image's.
bool changes_at_load(const RenderingAttachment& a) {
  if (a.load_op == VK_ATTACHMENT_LOAD_OP_LOAD) return false;
  return a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR || a.store_op != VK_ATTACHMENT_STORE_OP_NONE;
}

void write_from_start(Feedback& f, uint32_t target, const char* who) {
  f.written |= 1u << target;
  if (f.writer[target].empty()) f.writer[target] = who;
}

void add(Feedback& f, const RenderingAttachment& a, uint32_t target, VkImageAspectFlagBits aspect, uint32_t layer_count) {
  if (!a.view) return;
  TargetBytes bytes = target_bytes(*a.view, aspect, layer_count);
  bytes.target = target;
  f.targets.push_back(bytes);
  if (changes_at_load(a))
    write_from_start(f, target, a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR ? "its load_op clear" : "its load_op dont_care");
  const Ptr<ImageView>& second = a.pieces ? a.pieces->store_view : a.resolve_view;  // written beside the attachment itself
  if (!second || second == a.view || (!a.pieces && a.resolve_mode == VK_RESOLVE_MODE_NONE)) return;
  bytes = target_bytes(*second, aspect, layer_count);
  bytes.target = kFeedbackResolved + target;
  f.targets.push_back(bytes);
  write_from_start(f, bytes.target, "the pass");
}

/// It is read all the time, and by tiles: what writes it is an error, an attachment of the same bytes too.
void add_shading_rate(Feedback& f, const RenderingInfo& info) {
  const ImageView* view = info.shading_rate.view.get();
  if (!view) return;
  TargetBytes bytes = target_bytes(*view, VK_IMAGE_ASPECT_COLOR_BIT, std::min(info.layer_count, view->info().layer_count));
  bytes.target = kFeedbackShadingRate;
  f.read |= 1u << bytes.target;
  f.reader[bytes.target] = "the pass";
  f.targets.push_back(bytes);
}

/// The image and its part, as the message names them.
std::string part_name(const TargetBytes& t) {
  const ImageViewCreateInfo& view = t.view->info();
  return object_name("image", view.image->info().label) + " (level " + std::to_string(view.base_level) + ", layer " +
         std::to_string(view.base_layer) + ")";
}

const TargetBytes& bytes_of(const Feedback& f, uint32_t target) {
  for (const TargetBytes& t : f.targets)
    if (t.target == target) return t;
  assert(false);
  return f.targets.front();
}

Error feedback_error(const Feedback& f, uint32_t target, const std::string& reader) {
  if (target == kFeedbackShadingRate)
    return {VK_ERROR_VALIDATION_FAILED_EXT, f.pass + ": its shading_rate is " + part_name(bytes_of(f, target)) + ", which " +
                                                f.writer[target] + " writes; write it in an earlier pass or dispatch"};
  const char* fix = target < kDepth || target >= kFeedbackResolved
                        ? "; read another level or layer, or read it in a later pass"
                        : "; load it and write nothing of it in this pass, or read it in a later pass";
  return {VK_ERROR_VALIDATION_FAILED_EXT, f.pass + ": " + reader + " reads " + target_name(target) + " of this pass, " +
                                              part_name(bytes_of(f, target)) + ", which " + f.writer[target] + " writes" + fix};
}

Status check(const Feedback& f) {
  const auto first_of = [](uint32_t targets) { return static_cast<uint32_t>(std::countr_zero(targets)); };
  if (const uint32_t both = f.read & f.written) return feedback_error(f, first_of(both), f.reader[first_of(both)]);
  for (const Feedback::PartsRead& read : f.all_targets)
    if (std::all_of(read.parts.begin(), read.parts.end(), [&](uint32_t targets) { return targets & f.written; }))
      return feedback_error(f, first_of(read.parts.front() & f.written), read.who);
  return Ok{};
}

void note(uint32_t& known, std::array<std::string, kFeedbackTargets>& names, uint32_t targets, const std::string& who) {
  for (uint32_t i = 0; i < kFeedbackTargets; ++i)
    if ((targets & ~known) >> i & 1) names[i] = who;
  known |= targets;
}

void note_possible(PossibleUse& use, uint32_t targets, const std::string& who, PossibleUse::Why why) {
  for (uint32_t i = 0; i < kFeedbackTargets; ++i)
    if ((targets & ~use.targets) >> i & 1) use.why[i] = why;
  note(use.targets, use.who, targets, who);
}

void note_possible(PossibleUse& use, const PossibleUse& part) {
  for (uint32_t i = 0; i < kFeedbackTargets; ++i)
    if (part.targets >> i & 1) note_possible(use, 1u << i, part.who[i], part.why[i]);
}

void note_all_targets(Feedback& f, const ReadParts& parts, const std::string& who) {
  for (const Feedback::PartsRead& known : f.all_targets)
    if (known.parts == parts) return;
  f.all_targets.push_back({parts, who});
}

void note_loop(Feedback& f, uint32_t targets) {
  f.looped |= targets;
  f.read_behind |= targets & f.before_barrier;
}

const char* doubt(PossibleUse::Why why, bool writes) {
  switch (why) {
    case PossibleUse::Why::index:
      return ": by an index that is not constant; if it does, the values are undefined";
    case PossibleUse::Why::condition:
      return ": under a condition; if it does, the values are undefined";
    case PossibleUse::Why::part_of_view:
      return writes ? ": its view has other layers as well; if it writes this one, the values are undefined"
                    : ": its view has other levels or layers as well; if it reads this one, the values are undefined; bind a view of "
                      "those that it reads";
    case PossibleUse::Why::part_of_buffer:
      return ": its range has other bytes as well; if it does, the values are undefined";
  }
  assert(false);
  return "";
}

}  // namespace

std::string target_name(uint32_t target) {
  assert(target < kFeedbackTargets);
  if (target == kFeedbackShadingRate) return "shading_rate";
  if (target >= kFeedbackResolved) return "the resolve of " + target_name(target - kFeedbackResolved);
  if (target == kDepth) return "depth";
  return target == kStencil ? "stencil" : "color" + std::to_string(target);
}

bool overlap(const TargetBytes& a, const TargetBytes& b) {
  return a.memory == b.memory && (a.fields & b.fields) && resource::overlap(a.range, b.range);
}

TargetBytes target_bytes(const ImageView& view, VkImageAspectFlagBits aspect, uint32_t layer_count) {
  const ImageViewCreateInfo& info = view.info();
  assert(layer_count <= info.layer_count);
  TargetBytes bytes;
  bytes.memory = &info.image->contents();
  bytes.range = resource::range_of(*info.image, aspect, info.base_level, info.base_layer, layer_count);
  bytes.fields = resource::fields_of(*info.image, aspect);
  bytes.view = &view;
  return bytes;
}

Feedback begin_feedback(const RenderingInfo& info) {
  Feedback f;
  f.pass = object_name("pass", info.label);
  for (uint32_t i = 0; i < info.color.size(); ++i) add(f, info.color[i], i, VK_IMAGE_ASPECT_COLOR_BIT, info.layer_count);
  add(f, info.depth, kDepth, VK_IMAGE_ASPECT_DEPTH_BIT, info.layer_count);
  add(f, info.stencil, kStencil, VK_IMAGE_ASPECT_STENCIL_BIT, info.layer_count);
  add_shading_rate(f, info);
  return f;
}

namespace {

/// Parts [begin, end) of a row of them that are a target's.
struct TargetParts {
  uint32_t target = 0, begin = 0, end = 0;
};

/// Of parts 0 to `count`, each with its targets.
void add_parts(ReadParts& out, const std::vector<TargetParts>& found, uint32_t count) {
  std::vector<uint32_t> cuts = {0};
  for (const TargetParts& t : found) cuts.push_back(t.begin), cuts.push_back(t.end);
  for (uint32_t cut : cuts) {  // the same targets from here to the next
    uint32_t targets = 0;
    for (const TargetParts& t : found)
      if (t.begin <= cut && cut < t.end) targets |= 1u << t.target;
    if (cut < count && std::find(out.begin(), out.end(), targets) == out.end()) out.push_back(targets);
  }
}

/// `image`: the view's, or a plane of it. The parts are the level's layers.
void find_targets(const Feedback& f, const ImageViewCreateInfo& info, const Image& image, uint32_t level, uint32_t layers,
                  std::vector<TargetParts>& found) {
  const VkImageAspectFlagBits aspect = resource::sampled_aspect(info.aspects);
  const resource::MemoryRange all = resource::range_of(image, aspect, level, info.base_layer, layers);
  const uint64_t layer_B = (all.end_B - all.begin_B) / layers;
  for (const TargetBytes& t : f.targets) {
    TargetBytes bytes = t;
    bytes.memory = &image.contents(), bytes.fields = resource::fields_of(image, aspect), bytes.range = all;
    if (!overlap(t, bytes)) continue;
    const uint64_t begin_B = std::max(t.range.begin_B, all.begin_B), end_B = std::min(t.range.end_B, all.end_B);
    found.push_back({t.target, static_cast<uint32_t>((begin_B - all.begin_B) / layer_B),
                     static_cast<uint32_t>((end_B - 1 - all.begin_B) / layer_B) + 1});
  }
}

}  // namespace

ReadParts targets_read(const Feedback& f, const ImageView& view, LevelRange levels) {
  const ImageViewCreateInfo& info = view.info();
  assert(levels.first < info.level_count);
  ReadParts parts;
  std::vector<TargetParts> found;
  const uint32_t count = std::min(levels.count, info.level_count - levels.first);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t level = info.base_level + levels.first + i;
    const uint32_t layers = info.type == VK_IMAGE_VIEW_TYPE_3D ? info.image->layer_count(level) : info.layer_count;
    found.clear();
    if (info.image->planes().empty()) find_targets(f, info, *info.image, level, layers, found);
    for (const Ptr<Image>& plane : info.image->planes()) find_targets(f, info, *plane, level, layers, found);  // all are read at once
    add_parts(parts, found, layers);
  }
  return parts;
}

ReadParts targets_read(const Feedback& f, const resource::MemoryContents& memory, resource::MemoryRange range) {
  uint32_t read = 0;
  bool within = false;
  for (const TargetBytes& t : f.targets) {
    if (t.memory != &memory || !resource::overlap(t.range, range)) continue;
    read |= 1u << t.target;
    within |= t.range.begin_B <= range.begin_B && range.end_B <= t.range.end_B;
  }
  return within || !read ? ReadParts{read} : ReadParts{0, read};
}

Status note_read(Feedback& f, const ReadParts& parts, const Reader& reader) {
  if (!meets_targets(parts)) return Ok{};
  uint32_t any = 0;
  bool all = reader.certainty == Certainty::certain;
  for (uint32_t targets : parts) any |= targets, all = all && targets;
  if (reader.writes || reader.of_buffer) {
    f.kept_apart |= any;
  } else if (!(any & ~f.loops)) {
    note_loop(f, any);
    return Ok{};
  }
  if (all && (parts.size() == 1 || reader.writes)) {
    const uint32_t targets = parts.size() == 1 ? any : 1u << std::countr_zero(any);
    note(f.read, f.reader, targets, reader.who);
    if (reader.writes) note(f.written, f.writer, targets, reader.who);  // whichever part it is
    return check(f);
  }
  const auto why = reader.certainty == Certainty::by_index       ? PossibleUse::Why::index
                   : reader.certainty == Certainty::by_condition ? PossibleUse::Why::condition
                   : reader.of_buffer                            ? PossibleUse::Why::part_of_buffer
                                                                 : PossibleUse::Why::part_of_view;
  note_possible(f.may_read, any, reader.who, why);
  if (reader.writes) note_possible(f.may_write, any, reader.who, why);
  if (all) note_all_targets(f, parts, reader.who);
  return check(f);
}

std::vector<std::string> possible_feedback(const Feedback& f) {
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < kFeedbackTargets; ++i) {
    const uint32_t bit = 1u << i;
    const bool writes = f.may_write.targets & bit, meets = writes || (f.may_read.targets & f.written & bit);
    if (!meets) continue;
    const PossibleUse& use = writes ? f.may_write : f.may_read;
    const std::string does = f.written & bit ? f.writer[i] + " writes" : f.read & bit ? f.reader[i] + " reads" : "the pass loads";
    lines.push_back(use.who[i] + (writes ? " may write " : " may read ") + target_name(i) + " of this pass, " + part_name(bytes_of(f, i)) +
                    ", which " + does + doubt(use.why[i], writes));
  }
  return lines;
}

Status note_part(Feedback& f, const Feedback& part) {
  note_possible(f.may_read, part.may_read);
  note_possible(f.may_write, part.may_write);
  for (const Feedback::PartsRead& read : part.all_targets) note_all_targets(f, read.parts, read.who);
  f.looped |= part.looped, f.kept_apart |= part.kept_apart;
  for (uint32_t i = 0; i < kFeedbackTargets; ++i) {
    if (part.read >> i & 1) note(f.read, f.reader, 1u << i, part.reader[i]);
    if (part.written >> i & 1) note(f.written, f.writer, 1u << i, part.writer[i]);
  }
  return check(f);
}

bool are_loops(const Feedback& f) {
  const uint32_t both = f.read & f.written;
  return !(both >> kFeedbackResolved) && !(both & f.kept_apart);
}

void allow_loops(Feedback& f) {
  assert(are_loops(f));
  const uint32_t both = f.read & f.written;
  f.read &= ~both;
  note_loop(f, both);
  std::erase_if(f.all_targets, [&](const Feedback::PartsRead& read) {
    if (!std::all_of(read.parts.begin(), read.parts.end(), [&](uint32_t targets) { return targets & f.written; })) return false;
    for (const uint32_t targets : read.parts) note_loop(f, targets & f.written);
    return true;
  });
}

uint32_t targets_of_aspects(VkImageAspectFlags aspects) {
  constexpr uint32_t kColors = (1u << kMaxColorAttachments) - 1;
  return (aspects & VK_IMAGE_ASPECT_COLOR_BIT ? kColors : 0) | (aspects & VK_IMAGE_ASPECT_DEPTH_BIT ? 1u << kDepth : 0) |
         (aspects & VK_IMAGE_ASPECT_STENCIL_BIT ? 1u << kStencil : 0);
}

Status note_written(Feedback& f, uint32_t targets, const std::string& who) {
  note(f.written, f.writer, targets, who);
  return check(f);
}

}  // namespace tilegpu::framebuffer
