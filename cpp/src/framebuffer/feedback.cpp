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
  if (a.resolve_mode == VK_RESOLVE_MODE_NONE || !a.resolve_view) return;
  bytes = target_bytes(*a.resolve_view, aspect, layer_count);
  bytes.target = kFeedbackResolved + target;
  f.targets.push_back(bytes);
  write_from_start(f, bytes.target, "the pass");
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

Error feedback_error(const Feedback& f, uint32_t target) {
  const char* fix = target < kDepth || target >= kFeedbackResolved
                        ? "; read another level or layer, or read it in a later pass"
                        : "; load it and write nothing of it in this pass, or read it in a later pass";
  return {VK_ERROR_VALIDATION_FAILED_EXT, f.pass + ": " + f.reader[target] + " reads " + target_name(target) + " of this pass, " +
                                              part_name(bytes_of(f, target)) + ", which " + f.writer[target] + " writes" + fix};
}

Status check(const Feedback& f) {
  const uint32_t both = f.read & f.written;
  if (!both) return Ok{};
  return feedback_error(f, static_cast<uint32_t>(std::countr_zero(both)));
}

void note(uint32_t& known, std::array<std::string, kFeedbackTargets>& names, uint32_t targets, const std::string& who) {
  for (uint32_t i = 0; i < kFeedbackTargets; ++i)
    if ((targets & ~known) >> i & 1) names[i] = who;
  known |= targets;
}

}  // namespace

std::string target_name(uint32_t target) {
  assert(target < kFeedbackTargets);
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
  return f;
}

namespace {

/// `image`: the view's, or a plane of it.
uint32_t targets_read(const Feedback& f, const ImageViewCreateInfo& info, const Image& image) {
  uint32_t read = 0;
  for (const TargetBytes& t : f.targets) {
    if (t.memory != &image.contents()) continue;
    const VkImageAspectFlagBits aspect = resource::sampled_aspect(info.aspects);
    TargetBytes bytes = t;
    bytes.fields = resource::fields_of(image, aspect);
    for (uint32_t i = 0; i < info.level_count; ++i) {
      const uint32_t level = info.base_level + i;
      const uint32_t layers = info.type == VK_IMAGE_VIEW_TYPE_3D ? image.layer_count(level) : info.layer_count;
      bytes.range = resource::range_of(image, aspect, level, info.base_layer, layers);
      if (overlap(t, bytes)) read |= 1u << t.target;
    }
  }
  return read;
}

}  // namespace

uint32_t targets_read(const Feedback& f, const ImageView& view) {
  const ImageViewCreateInfo& info = view.info();
  if (info.image->planes().empty()) return targets_read(f, info, *info.image);
  uint32_t read = 0;
  for (const Ptr<Image>& plane : info.image->planes()) read |= targets_read(f, info, *plane);
  return read;
}

uint32_t targets_read(const Feedback& f, const resource::MemoryContents& memory, resource::MemoryRange range) {
  uint32_t read = 0;
  for (const TargetBytes& t : f.targets)
    if (t.memory == &memory && resource::overlap(t.range, range)) read |= 1u << t.target;
  return read;
}

Status note_read(Feedback& f, uint32_t targets, const std::string& who) {
  note(f.read, f.reader, targets, who);
  return check(f);
}

void note_may_read(Feedback& f, uint32_t targets, const std::string& who, bool writes) {
  note(f.may_read, f.may_reader, targets, who);
  if (writes) note(f.may_write, f.may_writer, targets, who);
}

std::vector<std::string> possible_feedback(const Feedback& f) {
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < kFeedbackTargets; ++i) {
    const uint32_t bit = 1u << i;
    const bool writes = f.may_write & bit, meets = (f.may_read & f.written & bit) || (writes && ((f.read | f.written) & bit));
    if (!meets) continue;
    const std::string does = f.written & bit ? f.writer[i] + " writes" : f.reader[i] + " reads";
    lines.push_back((writes ? f.may_writer[i] : f.may_reader[i]) + (writes ? " may write " : " may read ") + target_name(i) +
                    " of this pass, " + part_name(bytes_of(f, i)) + ", which " + does +
                    ": by an index that is not constant; if it does, the values are undefined");
  }
  return lines;
}

Status note_part(Feedback& f, const Feedback& part) {
  for (uint32_t i = 0; i < kFeedbackTargets; ++i) {
    if (part.may_read >> i & 1) note_may_read(f, 1u << i, part.may_reader[i], false);
    if (part.may_write >> i & 1) note_may_read(f, 1u << i, part.may_writer[i], true);
    if (part.read >> i & 1)
      if (Status ok = note_read(f, 1u << i, part.reader[i]); !ok) return ok;
    if (part.written >> i & 1)
      if (Status ok = note_written(f, 1u << i, part.writer[i]); !ok) return ok;
  }
  return Ok{};
}

Status note_written(Feedback& f, uint32_t targets, const std::string& who) {
  note(f.written, f.writer, targets, who);
  return check(f);
}

}  // namespace tilegpu::framebuffer
