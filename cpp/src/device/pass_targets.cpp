// device/pass_targets.cpp -- see pass_targets.hpp. In: targets of passes, pipelines. Out: errors, programs without some of their targets.
//
// Source: Vulkan specification, VUID-vkCmdDraw-dynamicRenderingUnusedAttachments-08910 to 08917, "Fragment Operations".
#include "device/pass_targets.hpp"

#include <algorithm>

#include "pipeline/create.hpp"
#include "pipeline/program.hpp"
#include "pipeline/resolve.hpp"
#include "resource/usage.hpp"

namespace tilegpu::device {

namespace {

constexpr uint32_t kDepthBit = 1u << shader::kInputDepth, kStencilBit = 1u << shader::kInputStencil;

VkFormat color_of(const std::vector<VkFormat>& formats, size_t i) { return i < formats.size() ? formats[i] : VK_FORMAT_UNDEFINED; }

// A format on one side alone: nothing is drawn there. Vulkan forbids it where nobody enabled the feature.
Status forbid_unused(const Recorder& r, const std::string& what) {
  if (r.device->state().info.unused_attachments) return Ok{};
  return forbid(r, invalid(what));
}

struct Checker {
  const Recorder& r;
  const command::Pass& pass;
  const Pipeline& pipeline;
  const GraphicsPipelineCreateInfo& info = pipeline.info();
  std::string who() const { return pass_name(pass) + ", pipeline '" + info.label + "': "; }
  std::string differ(const std::string& name, VkFormat of_pass, VkFormat of_pipeline) const {
    return who() + name + " has format " + format_name(of_pass) + " in the pass and " + format_name(of_pipeline) +
           " in the pipeline; they must be the same";
  }

  Status samples(const MultisampleState& m) const {
    if (static_cast<uint32_t>(m.samples) != pass.samples)
      return invalid(who() + "the pipeline is made for " + std::to_string(m.samples) + " samples, the pass has " +
                     std::to_string(pass.samples) + "; create the pipeline with rasterizationSamples " + std::to_string(pass.samples));
    if (!m.sample_locations_enable) return Ok{};
    if (pass.samples == 1)
      return invalid(who() + "sampleLocationsEnable is true, and the pass has 1 sample; sampleLocationSampleCounts are 2, 4, 8 and 16");
    if (m.sample_locations.count == pass.samples) return Ok{};
    return invalid(who() + "sampleLocationsPerPixel is " + std::to_string(m.sample_locations.count) + ", and the pass has " +
                   std::to_string(pass.samples) + " samples; give a location for each of them");
  }

  Status colors() const {
    const size_t count = std::max(info.color_formats.size(), pass.targets.color.size());
    for (size_t i = 0; i < count; i++) {
      const VkFormat of_pipeline = color_of(info.color_formats, i), of_pass = color_of(pass.targets.color, i);
      if (of_pipeline == of_pass) continue;
      const std::string wrong = differ("color[" + std::to_string(i) + "]", of_pass, of_pipeline);
      const bool unused = of_pipeline == VK_FORMAT_UNDEFINED || of_pass == VK_FORMAT_UNDEFINED;
      if (Status ok = unused ? forbid_unused(r, wrong) : Status(invalid(wrong)); !ok) return ok;
    }
    return Ok{};
  }

  // Of tests: that there is something to test (VUID-vkCmdDraw-pDepthAttachment-07617, -pStencilAttachment-06182, -07618).
  Status tested(const char* name, VkFormat of_pass, VkFormat of_pipeline, VkImageAspectFlagBits aspect, bool tests) const {
    if (tests && of_pass == VK_FORMAT_UNDEFINED)
      return forbid_unused(r, who() + "the pipeline tests " + name + ", but the pass has no " + name +
                                  " attachment; begin rendering with p" + (aspect == VK_IMAGE_ASPECT_DEPTH_BIT ? "Depth" : "Stencil") +
                                  "Attachment, or create the pipeline without " + name + "TestEnable");
    if (of_pass == of_pipeline || info.untested_aspects & aspect) return Ok{};
    const std::string wrong = differ(name, of_pass, of_pipeline);
    if (of_pass == VK_FORMAT_UNDEFINED || of_pipeline == VK_FORMAT_UNDEFINED) return forbid_unused(r, wrong);
    return tests || aspect == VK_IMAGE_ASPECT_DEPTH_BIT ? Status(invalid(wrong)) : forbid(r, invalid(wrong));
  }

  // What the fragment shader reads of the tile is of the pipeline's format; usages of the images
  // (VUID-VkWriteDescriptorSet-descriptorType-00338).
  Status input(const shader::InputSource& input) const {
    const bool of_depth = input.target == shader::kInputDepth, of_stencil = input.target == shader::kInputStencil;
    const VkFormat of_pass = of_depth ? pass.targets.depth : of_stencil ? pass.targets.stencil : VK_FORMAT_UNDEFINED;
    if (of_pass != VK_FORMAT_UNDEFINED && of_pass != input.format)
      return invalid(who() + "the fragment shader reads " + (of_depth ? "depth" : "stencil") + " as an input attachment; its format is " +
                     format_name(of_pass) + " in the pass and " + format_name(input.format) + " in the pipeline; they must be the same");
    const RenderingAttachment* a = of_depth                                ? &pass.info.depth
                                   : of_stencil                            ? &pass.info.stencil
                                   : input.target < pass.info.color.size() ? &pass.info.color[input.target]
                                                                           : nullptr;
    const auto& inputs = pipeline.program().fragment()->traits.input_attachments;
    const auto read_by = std::find_if(inputs.begin(), inputs.end(), [&](const auto& i) { return i.variable == input.variable; });
    if (read_by != inputs.end() && read_by->tile_image) return Ok{};  // no descriptor, and no usage of its own
    if (!a || !a->view || !resource::lacks(*a->view->image(), VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT)) return Ok{};
    return forbid(r, resource::usage_error(who() + "the fragment shader reads an input attachment", *a->view->image(),
                                           VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT));
  }
};

}  // namespace

uint32_t absent_targets(const command::Targets& of_pass, const GraphicsPipelineCreateInfo& info) {
  uint32_t absent = 0;
  for (size_t i = 0; i < info.color_formats.size(); i++)
    if (info.color_formats[i] != VK_FORMAT_UNDEFINED && color_of(of_pass.color, i) == VK_FORMAT_UNDEFINED) absent |= 1u << i;
  for (size_t i = 0; i < of_pass.color.size(); i++)
    if (of_pass.color[i] != VK_FORMAT_UNDEFINED && color_of(info.color_formats, i) == VK_FORMAT_UNDEFINED) absent |= pipeline::kOtherColors;
  if (info.depth_format != VK_FORMAT_UNDEFINED && of_pass.depth == VK_FORMAT_UNDEFINED) absent |= kDepthBit;
  if (info.stencil_format != VK_FORMAT_UNDEFINED && of_pass.stencil == VK_FORMAT_UNDEFINED) absent |= kStencilBit;
  return absent;
}

VkImageAspectFlags unused_aspects(const command::Targets& of_pass, const GraphicsPipelineCreateInfo& info) {
  const auto unused = [](VkFormat a, VkFormat b, VkImageAspectFlags aspect) {
    return (a == VK_FORMAT_UNDEFINED) != (b == VK_FORMAT_UNDEFINED) ? aspect : 0;
  };
  return unused(of_pass.depth, info.depth_format, VK_IMAGE_ASPECT_DEPTH_BIT) |
         unused(of_pass.stencil, info.stencil_format, VK_IMAGE_ASPECT_STENCIL_BIT);
}

Status check_targets(const Recorder& r, const command::Pass& pass, const Pipeline& pipeline, const GraphicsState& state) {
  const Checker check{r, pass, pipeline};
  const DepthStencilState& ds = state.depth_stencil;
  if (!state.rasterization.rasterizer_discard)  // else the state of samples is ignored, and perhaps nobody gave it
    if (Status ok = check.samples(state.multisample); !ok) return ok;
  const command::Targets& has = pass.targets;
  if (Status ok = check.colors(); !ok) return ok;
  if (Status ok = check.tested("depth", has.depth, check.info.depth_format, VK_IMAGE_ASPECT_DEPTH_BIT, ds.depth_test); !ok) return ok;
  if (Status ok = check.tested("stencil", has.stencil, check.info.stencil_format, VK_IMAGE_ASPECT_STENCIL_BIT, ds.stencil_test); !ok)
    return ok;
  for (const shader::InputSource& input : pipeline.program().inputs)
    if (Status ok = check.input(input); !ok) return ok;
  return Ok{};
}

Status check_part_targets(const Recorder& r, const command::Pass& pass, const command::Pass& part) {
  if (part.targets == pass.targets) return Ok{};
  const std::string who = pass_name(pass) + ": execute_commands of a secondary command buffer ('" + part.info.label + "'): ";
  bool other = false;
  const auto compare = [&](VkFormat a, VkFormat b) { other |= a != b && a != VK_FORMAT_UNDEFINED && b != VK_FORMAT_UNDEFINED; };
  for (size_t i = 0; i < std::max(part.targets.color.size(), pass.targets.color.size()); i++)
    compare(color_of(part.targets.color, i), color_of(pass.targets.color, i));
  compare(part.targets.depth, pass.targets.depth);
  compare(part.targets.stencil, pass.targets.stencil);
  const std::string differ = who + "its inheritance info has other formats or samples than the pass; they must be the same";
  return other ? Status(invalid(differ)) : forbid_unused(r, differ);
}

Expected<Refits> refit_states(const Recorder& r, const command::Pass& pass, const command::Pass& part) {
  Refits refits;
  if (part.targets == pass.targets) return refits;
  assert(part.states.size() == part.bound.size());
  DeviceState& device = r.device->state();
  for (size_t i = 0; i < part.states.size(); i++) {
    const command::Bound& bound = part.bound[i];
    const GraphicsPipelineCreateInfo& info = bound.pipeline->info();
    Refit refit{bound.absent | absent_targets(pass.targets, info), unused_aspects(pass.targets, info), nullptr};
    if (refit.absent == bound.absent && !refit.unused_aspects) continue;
    auto program = bound.pipeline->without(refit.absent);
    if (!program) return program.error();
    GraphicsState state = bound.state ? *bound.state : static_cast<const GraphicsState&>(info);
    static_cast<FixedFunctionState&>(state) = part.states[i];
    pipeline::leave_out_tests(info.untested_aspects | refit.unused_aspects, state.depth_stencil);
    auto resolved = device.resolved.find(*device.jit, *program, state, device.threads);
    if (!resolved) return Error{resolved.error().code, pass_name(pass) + ", " + resolved.error().message};
    refit.resolved = std::move(*resolved);
    refits.emplace(i, std::move(refit));
  }
  return refits;
}

}  // namespace tilegpu::device
