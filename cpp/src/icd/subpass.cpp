// icd/subpass.cpp -- see subpass.hpp. In: subpasses and their dependencies. Out: tile passes.
#include "icd/subpass.hpp"

#include <algorithm>

#include "vk/format.hpp"

namespace tilegpu::icd {
namespace {

// Stages of which a dependency by region is one of the same pixels; and what they may hand over in tile memory.
constexpr VkPipelineStageFlags2 kPixelStages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                               VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |
                                               VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
constexpr VkAccessFlags2 kTileAccess = VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                       VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                       VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

std::string number(uint32_t n) { return std::to_string(n); }

bool is_depth_stencil(const VkRenderPass_T& pass, uint32_t attachment) {
  return vk::find_format(pass.attachments[attachment].format)->is_depth_stencil();
}

/// Of what it draws to; where that is nothing, of its first input. 0: it has no attachments.
VkSampleCountFlags samples_of(const VkRenderPass_T& pass, const Subpass& subpass) {
  std::vector<uint32_t> all = subpass.color;
  all.push_back(subpass.depth_stencil);
  all.insert(all.end(), subpass.inputs.begin(), subpass.inputs.end());
  for (const uint32_t a : all)
    if (a != VK_ATTACHMENT_UNUSED) return samples_of(pass, subpass, a);
  return subpass.single_sampled;
}

bool draws_to(const Subpass& subpass, uint32_t attachment) {
  assert(attachment != VK_ATTACHMENT_UNUSED);
  const auto has = [&](const std::vector<uint32_t>& list) { return std::find(list.begin(), list.end(), attachment) != list.end(); };
  return has(subpass.color) || has(subpass.resolve) || subpass.depth_stencil == attachment || subpass.depth_stencil_resolve == attachment;
}

bool draws_to_any(const Subpass& subpass) {
  return subpass.depth_stencil != VK_ATTACHMENT_UNUSED ||
         std::any_of(subpass.color.begin(), subpass.color.end(), [](uint32_t a) { return a != VK_ATTACHMENT_UNUSED; });
}

/// A subpass that draws to nothing has its pipelines' samples, which are not known here: an input of several may be another's.
bool is_of_unknown_samples(const VkRenderPass_T& pass, const Subpass& subpass, uint32_t input) {
  return !draws_to_any(subpass) && !subpass.single_sampled && samples_of(pass, subpass, input) != 1;
}

// In the tile are the inputs of the subpass's own samples, as far as there are places for them beside what it draws to.
void find_fetched(const VkRenderPass_T& pass, Subpass& subpass) {
  uint32_t depth_stencil = subpass.depth_stencil;
  std::vector<uint32_t> colors;
  const auto holds = [&](uint32_t a) { return std::find(colors.begin(), colors.end(), a) != colors.end(); };
  for (const uint32_t a : subpass.color)
    if (a != VK_ATTACHMENT_UNUSED && !holds(a)) colors.push_back(a);
  for (const uint32_t a : subpass.inputs) {
    if (a == VK_ATTACHMENT_UNUSED || is_fetched(subpass, a) || holds(a) || a == depth_stencil) continue;
    const bool depth = is_depth_stencil(pass, a);
    const bool room = depth ? depth_stencil == VK_ATTACHMENT_UNUSED : colors.size() < kMaxColorAttachments;
    if (!room || is_of_unknown_samples(pass, subpass, a) || samples_of(pass, subpass, a) != samples_of(pass, subpass))
      subpass.fetched.push_back(a);
    else if (depth)
      depth_stencil = a;
    else
      colors.push_back(a);
  }
}

/// What keeps a subpass from a tile pass; empty: nothing.
using Obstacle = std::optional<Apart>;

// The first empty place, or a new one.
void add_color(TilePass& tiles, uint32_t attachment) {
  if (attachment == VK_ATTACHMENT_UNUSED || slot_of(tiles, attachment) != VK_ATTACHMENT_UNUSED) return;
  const auto empty = std::find(tiles.color.begin(), tiles.color.end(), VK_ATTACHMENT_UNUSED);
  if (empty != tiles.color.end()) {
    *empty = attachment;
    return;
  }
  tiles.color.push_back(attachment);
  tiles.resolve.push_back(VK_ATTACHMENT_UNUSED);
}

Obstacle set_depth_stencil(TilePass& tiles, uint32_t attachment) {
  if (attachment == VK_ATTACHMENT_UNUSED || attachment == tiles.depth_stencil) return {};
  if (tiles.depth_stencil != VK_ATTACHMENT_UNUSED)
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_DEPTH_STENCIL_COUNT_EXT, "depth and stencil are attachment " + number(attachment) +
                                                                                 " and attachment " + number(tiles.depth_stencil) +
                                                                                 "; a tile has one of them"};
  tiles.depth_stencil = attachment;
  return {};
}

// A resolve is done when the tile is: what is resolved must stay as it is until then, and nobody may look at the result before.
Obstacle add_resolve(uint32_t& place, uint32_t resolve, uint32_t attachment) {
  if (resolve == VK_ATTACHMENT_UNUSED || resolve == place) return {};
  if (place != VK_ATTACHMENT_UNUSED)
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_RESOLVE_ATTACHMENT_REUSE_EXT,
                 "attachment " + number(attachment) + " is resolved twice"};
  place = resolve;
  return {};
}

bool is_resolve_target(const TilePass& tiles, uint32_t attachment) {
  return attachment != VK_ATTACHMENT_UNUSED && (attachment == tiles.depth_stencil_resolve ||
                                                std::find(tiles.resolve.begin(), tiles.resolve.end(), attachment) != tiles.resolve.end());
}

Obstacle check_resolved(const TilePass& tiles, const Subpass& subpass) {
  const auto wrong = [](uint32_t attachment, const char* what) {
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_RESOLVE_ATTACHMENT_REUSE_EXT, "attachment " + number(attachment) + what};
  };
  std::vector<uint32_t> used = subpass.color;
  used.insert(used.end(), subpass.inputs.begin(), subpass.inputs.end());
  used.push_back(subpass.depth_stencil);
  for (const uint32_t a : used)
    if (is_resolve_target(tiles, a)) return wrong(a, " is what an earlier subpass resolved to");
  for (const uint32_t a : subpass.color)
    if (a != VK_ATTACHMENT_UNUSED && slot_of(tiles, a) != VK_ATTACHMENT_UNUSED && tiles.resolve[slot_of(tiles, a)] != VK_ATTACHMENT_UNUSED)
      return wrong(a, " is written after an earlier subpass resolved it");
  if (subpass.depth_stencil != VK_ATTACHMENT_UNUSED && tiles.depth_stencil_resolve != VK_ATTACHMENT_UNUSED)
    return wrong(subpass.depth_stencil, " is used after an earlier subpass resolved it");
  return {};
}

Obstacle check_samples(const VkRenderPass_T& pass, const TilePass& tiles) {
  uint32_t samples = 0;
  const auto differ = [&](uint32_t a) {
    if (a == VK_ATTACHMENT_UNUSED) return false;
    const uint32_t own = samples_of(pass, pass.subpasses[tiles.first], a);  // as all others of the tile pass
    if (!samples) samples = own;
    return samples != own;
  };
  if (std::any_of(tiles.color.begin(), tiles.color.end(), differ) || differ(tiles.depth_stencil))
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_SAMPLES_MISMATCH_EXT, "attachments have different numbers of samples"};
  return {};
}

// What a subpass reads from memory is stored before its tile pass begins.
Obstacle check_fetched(const VkRenderPass_T& pass, const TilePass& tiles, const Subpass& subpass) {
  for (const uint32_t a : subpass.fetched)
    for (uint32_t s = tiles.first; s <= tiles.last; ++s)
      if (draws_to(pass.subpasses[s], a))
        return Apart{samples_of(pass, subpass, a) == samples_of(pass, subpass) ? VK_SUBPASS_MERGE_STATUS_NOT_MERGED_TOO_MANY_ATTACHMENTS_EXT
                                                                               : VK_SUBPASS_MERGE_STATUS_NOT_MERGED_SAMPLES_MISMATCH_EXT,
                     "input attachment " + number(a) + " is read from memory (" + why_fetched(pass, subpass, a) + "), and subpass " +
                         number(s) + " writes it"};
  for (uint32_t s = tiles.first; s <= tiles.last; ++s)
    for (const uint32_t a : pass.subpasses[s].fetched)
      if (draws_to(subpass, a))
        return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_UNSPECIFIED_EXT,
                     "attachment " + number(a) + " is what subpass " + number(s) + " reads from memory"};
  return {};
}

bool has_attachments(const Subpass& subpass) {
  const bool reads_tile = std::any_of(subpass.inputs.begin(), subpass.inputs.end(),
                                      [&](uint32_t a) { return a != VK_ATTACHMENT_UNUSED && !is_fetched(subpass, a); });
  return draws_to_any(subpass) || reads_tile;
}

// The samples of a subpass without attachments are its pipelines', which are not known here: it is alone.
Obstacle check_attachments(const Subpass& before, const Subpass& next) {
  if (has_attachments(before) && has_attachments(next)) return {};
  return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_SAMPLES_MISMATCH_EXT, "a subpass without attachments has its pipelines' samples"};
}

// The tile pass with one more subpass, or what forbids it.
Obstacle add(const VkRenderPass_T& pass, TilePass& tiles, const Subpass& subpass) {
  if (Obstacle why = check_resolved(tiles, subpass); why) return why;
  if (tiles.color.empty()) tiles.color = subpass.color, tiles.resolve.assign(subpass.color.size(), VK_ATTACHMENT_UNUSED);
  for (const uint32_t a : subpass.color) add_color(tiles, a);
  if (Obstacle why = set_depth_stencil(tiles, subpass.depth_stencil); why) return why;
  // Inputs become attachments of the pass: they are read where they lie.
  for (const uint32_t a : subpass.inputs) {
    if (a == VK_ATTACHMENT_UNUSED || is_fetched(subpass, a)) continue;
    if (!is_depth_stencil(pass, a))
      add_color(tiles, a);
    else if (Obstacle why = set_depth_stencil(tiles, a); why)
      return why;
  }
  if (tiles.color.size() > kMaxColorAttachments)
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_TOO_MANY_ATTACHMENTS_EXT,
                 "there are " + number(static_cast<uint32_t>(tiles.color.size())) + " colour and input attachments; a tile has at most " +
                     number(kMaxColorAttachments)};
  for (size_t i = 0; i < subpass.color.size(); ++i)
    if (subpass.color[i] != VK_ATTACHMENT_UNUSED)
      if (Obstacle why = add_resolve(tiles.resolve[slot_of(tiles, subpass.color[i])], subpass.resolve[i], subpass.color[i]); why)
        return why;
  if (Obstacle why = add_resolve(tiles.depth_stencil_resolve, subpass.depth_stencil_resolve, subpass.depth_stencil); why) return why;
  const bool as_stored = subpass.single_sampled && subpass.depth_stencil != VK_ATTACHMENT_UNUSED;
  if (subpass.depth_stencil_resolve != VK_ATTACHMENT_UNUSED || as_stored)
    tiles.depth_resolve_mode = subpass.depth_resolve_mode, tiles.stencil_resolve_mode = subpass.stencil_resolve_mode;
  return check_samples(pass, tiles);
}

// VUID-VkMultisampledRenderToSingleSampledInfoEXT-rasterizationSamples-06878, VUID-VkSubpassDescription2-pNext-06870. What is read from
// memory has the samples of its image, and the shader reads those of the subpass.
Status check_single_sampled(const VkRenderPass_T& pass, const Subpass& subpass) {
  if (!subpass.single_sampled) return Ok{};
  const auto wrong = [](const std::string& text) { return Error{VK_ERROR_VALIDATION_FAILED_EXT, text}; };
  const uint32_t n = subpass.single_sampled;
  if (n != 2 && n != 4 && n != 8 && n != 16)
    return wrong("rasterizationSamples of VkMultisampledRenderToSingleSampledInfoEXT is " + number(n) + "; 2, 4, 8 and 16 are there");
  std::vector<uint32_t> all = subpass.color;
  all.push_back(subpass.depth_stencil);
  for (const uint32_t a : all)
    if (a != VK_ATTACHMENT_UNUSED && samples_of(pass, subpass, a) != n)
      return wrong("attachment " + number(a) + " has " + number(samples_of(pass, subpass, a)) + " samples, and the subpass renders with " +
                   number(n) + "; 1 and " + number(n) + " are allowed");
  for (const uint32_t a : subpass.fetched)
    if (pass.attachments[a].samples == VK_SAMPLE_COUNT_1_BIT)
      return Error{VK_ERROR_FEATURE_NOT_PRESENT, "input attachment " + number(a) + " has one sample and is read with " + number(n) +
                                                     ", for which it must be in the tile: " + why_fetched(pass, subpass, a)};
  return Ok{};
}

// What lies between two subpasses must be the same pixel's.
Obstacle check_dependencies(const VkRenderPass_T& pass, const TilePass& tiles, uint32_t subpass) {
  for (const VkSubpassDependency2& d : pass.dependencies) {
    if (d.dstSubpass != subpass || d.srcSubpass < tiles.first || d.srcSubpass > tiles.last) continue;
    const std::string who = "its dependency on subpass " + number(d.srcSubpass);
    const auto wrong = [&](const char* what) { return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_DEPENDENCIES_EXT, who + what}; };
    if (!(d.dependencyFlags & VK_DEPENDENCY_BY_REGION_BIT)) return wrong(" is not by region (VK_DEPENDENCY_BY_REGION_BIT)");
    const VkPipelineStageFlags2 stages =
        (d.srcStageMask & ~VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT) | (d.dstStageMask & ~VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT);
    if (stages & ~kPixelStages) return wrong(" names stages that are not of pixels (fragment shader, fragment tests, colour output)");
    if ((d.srcAccessMask | d.dstAccessMask) & ~kTileAccess)
      return wrong(
          " names accesses beside those of attachments (a sampled image or a buffer is not in the tile; inputs are "
          "VK_ACCESS_INPUT_ATTACHMENT_READ_BIT)");
  }
  return {};
}

Obstacle check_aliases(const VkRenderPass_T& pass) {
  for (size_t i = 0; i < pass.attachments.size(); ++i)
    if (pass.attachments[i].flags & VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT)
      return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_ALIASING_EXT,
                   "attachment " + number(static_cast<uint32_t>(i)) + " may share memory with another one"};
  return {};
}

Obstacle disallowed(bool keeps_apart) {
  if (!keeps_apart) return {};
  return Apart{VK_SUBPASS_MERGE_STATUS_DISALLOWED_EXT, "VkRenderPassCreationControlEXT::disallowMerging"};
}

// Why a first subpass joins none.
Obstacle first_of(const VkRenderPass_T& pass) {
  if (pass.keeps_apart) return disallowed(true);  // as all others
  if (pass.subpasses.size() == 1) return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_SINGLE_SUBPASS_EXT, "there is no other subpass"};
  return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_UNSPECIFIED_EXT, "it is the first"};
}

// Subpass `s` behind those of the tile pass.
Obstacle add_next(const VkRenderPass_T& pass, const Obstacle& aliases, TilePass& joined, uint32_t s) {
  assert(s > 0 && s < pass.subpasses.size() && joined.last + 1 == s);
  const Subpass& subpass = pass.subpasses[s];
  if (Obstacle why = disallowed(pass.keeps_apart || subpass.keeps_apart); why) return why;
  if (aliases) return aliases;
  if (Obstacle why = check_dependencies(pass, joined, s); why) return why;
  if (subpass.view_mask != pass.subpasses[joined.first].view_mask)
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_VIEWS_MISMATCH_EXT, "it has other views (viewMask) than the subpass before it"};
  const Subpass& first = pass.subpasses[joined.first];
  if (subpass.single_sampled != first.single_sampled)
    return Apart{
        VK_SUBPASS_MERGE_STATUS_NOT_MERGED_SAMPLES_MISMATCH_EXT,
        "it renders to attachments of one sample with others (VkMultisampledRenderToSingleSampledInfoEXT) than the subpass before it"};
  if (subpass.shading_rate != first.shading_rate || subpass.shading_rate_texel.width != first.shading_rate_texel.width ||
      subpass.shading_rate_texel.height != first.shading_rate_texel.height)
    return Apart{VK_SUBPASS_MERGE_STATUS_NOT_MERGED_UNSPECIFIED_EXT,
                 "it has another attachment of shading rates than the subpass before it"};
  if (Obstacle why = check_attachments(pass.subpasses[s - 1], subpass); why) return why;
  if (Obstacle why = check_fetched(pass, joined, subpass); why) return why;
  return add(pass, joined, subpass);
}

}  // namespace

uint32_t samples_of(const VkRenderPass_T& pass, const Subpass& subpass, uint32_t attachment) {
  assert(attachment < pass.attachments.size());
  const auto own = static_cast<uint32_t>(pass.attachments[attachment].samples);
  return own == 1 && subpass.single_sampled ? subpass.single_sampled : own;
}

std::string explain_single_sampled(const VkRenderPass_T& pass) {
  std::string text;
  for (size_t s = 0; s < pass.subpasses.size(); ++s) {
    const Subpass& subpass = pass.subpasses[s];
    if (!subpass.single_sampled) continue;
    uint32_t texel_B = 0;
    std::vector<uint32_t> all = subpass.color;
    all.push_back(subpass.depth_stencil);
    for (const uint32_t a : all)
      if (a != VK_ATTACHMENT_UNUSED && pass.attachments[a].samples == VK_SAMPLE_COUNT_1_BIT)
        texel_B += vk::find_format(pass.attachments[a].format)->texel_B;
    text += "; subpass " + number(static_cast<uint32_t>(s)) + " renders with " + number(subpass.single_sampled) +
            " samples to attachments of one: of each pixel " + number(texel_B * (subpass.single_sampled - 1)) +
            " bytes stay in the tile that images of as many samples would have";
  }
  return text;
}

std::string why_fetched(const VkRenderPass_T& pass, const Subpass& subpass, uint32_t attachment) {
  const uint32_t own = samples_of(pass, subpass), other = samples_of(pass, subpass, attachment);
  if (is_of_unknown_samples(pass, subpass, attachment))
    return "it has " + number(other) + " samples, and a subpass that draws to nothing has those of its pipelines";
  if (own != other) return "it has " + number(other) + " samples, and what the subpass draws to has " + number(own);
  return is_depth_stencil(pass, attachment)
             ? std::string("the tile has another depth and stencil attachment")
             : "a tile has at most " + number(kMaxColorAttachments) + " colours, and those before it are as many";
}

Status group_subpasses(VkRenderPass_T& pass, std::vector<std::optional<Apart>>& apart) {
  const Obstacle aliases = check_aliases(pass);
  for (Subpass& subpass : pass.subpasses) find_fetched(pass, subpass);
  for (uint32_t s = 0; s < pass.subpasses.size(); ++s) {
    Subpass& subpass = pass.subpasses[s];
    TilePass joined = s ? pass.tile_passes.back() : TilePass{};
    Obstacle why = s ? add_next(pass, aliases, joined, s) : first_of(pass);
    if (!why) {
      joined.last = s;
      pass.tile_passes.back() = std::move(joined);
    } else {
      TilePass& alone = pass.tile_passes.emplace_back(TilePass{s, s, {}, {}});
      alone.single_sampled = subpass.single_sampled;
      if (Status ok = check_single_sampled(pass, subpass); !ok)
        return Error{ok.error().code, "subpass " + number(s) + ": " + ok.error().message};
      if (Obstacle wrong = add(pass, alone, subpass); wrong)
        return Error{VK_ERROR_FEATURE_NOT_PRESENT, "subpass " + number(s) + ": " + wrong->why};
    }
    apart.push_back(std::move(why));
    subpass.tile_pass = static_cast<uint32_t>(pass.tile_passes.size()) - 1;
  }
  return Ok{};
}

SubpassTargets targets_of(const VkRenderPass_T& pass, uint32_t subpass) {
  assert(subpass < pass.subpasses.size());
  const TilePass& tiles = pass.tile_passes[pass.subpasses[subpass].tile_pass];
  SubpassTargets out;
  for (const uint32_t a : tiles.color) {
    out.color.push_back(a == VK_ATTACHMENT_UNUSED ? VK_FORMAT_UNDEFINED : pass.attachments[a].format);
    if (a != VK_ATTACHMENT_UNUSED) out.samples = samples_of(pass, pass.subpasses[subpass], a);
  }
  if (tiles.single_sampled) out.samples = tiles.single_sampled;
  if (tiles.depth_stencil == VK_ATTACHMENT_UNUSED) return out;
  const VkAttachmentDescription2& a = pass.attachments[tiles.depth_stencil];
  const vk::FormatInfo& info = *vk::find_format(a.format);
  if (info.depth_bits) out.depth = a.format;
  if (info.stencil_bits) out.stencil = a.format;
  out.samples = samples_of(pass, pass.subpasses[subpass], tiles.depth_stencil);
  return out;
}

namespace {

uint32_t place_in(const std::vector<uint32_t>& list, uint32_t attachment) {
  assert(attachment != VK_ATTACHMENT_UNUSED);
  const auto found = std::find(list.begin(), list.end(), attachment);
  return found == list.end() ? VK_ATTACHMENT_UNUSED : static_cast<uint32_t>(found - list.begin());
}

}  // namespace

uint32_t location_of(const Subpass& subpass, uint32_t attachment) { return place_in(subpass.color, attachment); }
uint32_t input_of(const Subpass& subpass, uint32_t attachment) { return place_in(subpass.inputs, attachment); }
uint32_t input_of(const Subpass& subpass, uint32_t attachment, VkImageAspectFlagBits aspect) {
  assert(subpass.inputs.size() == subpass.input_aspects.size());
  for (uint32_t i = 0; i < subpass.inputs.size(); ++i)
    if (subpass.inputs[i] == attachment && subpass.input_aspects[i] & aspect) return i;
  return input_of(subpass, attachment);  // whatever was said
}
bool is_fetched(const Subpass& subpass, uint32_t attachment) { return place_in(subpass.fetched, attachment) != VK_ATTACHMENT_UNUSED; }
uint32_t slot_of(const TilePass& tiles, uint32_t attachment) { return place_in(tiles.color, attachment); }

}  // namespace tilegpu::icd
