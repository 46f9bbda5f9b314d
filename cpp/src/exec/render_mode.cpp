// exec/render_mode.cpp -- see render_mode.hpp.
#include "exec/render_mode.hpp"

#include <algorithm>
#include <bit>

#include "shader_abi/abi.hpp"
#include "vk/format.hpp"

namespace tilegpu::exec {

namespace {

uint64_t color_B(VkFormat format) { return vk::find_format(format) ? vk::find_format(format)->texel_B : 0; }
uint64_t depth_B(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  return !info || !info->depth_bits ? 0 : info->depth_bits == 16 ? 2 : 4;
}
// Of D24_S8 the word is the depth's.
uint64_t stencil_B(VkFormat stencil, VkFormat depth) {
  if (stencil == VK_FORMAT_UNDEFINED) return 0;
  return stencil == VK_FORMAT_D24_UNORM_S8_UINT && depth == stencil ? 0 : 1;
}

struct PerPixel {
  uint64_t gmem_B = 0, sysmem_B = 0;
};

void add(PerPixel& sum, const RenderingAttachment& a, uint64_t sample_B, uint32_t samples) {
  if (!a.view) return;
  const uint64_t pixel_B = sample_B * samples;
  if (a.load_op == VK_ATTACHMENT_LOAD_OP_LOAD) sum.gmem_B += pixel_B;
  if (a.store_op == VK_ATTACHMENT_STORE_OP_STORE) sum.gmem_B += pixel_B;
  if (a.load_op == VK_ATTACHMENT_LOAD_OP_CLEAR) sum.sysmem_B += pixel_B;
  if (a.resolve_view) sum.sysmem_B += pixel_B + sample_B;
}

// Reads and writes of a sample that passes.
uint64_t draw_B(const command::Pass& pass, const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  const uint32_t written = resolved.output.written_targets;
  uint64_t sum = 0;
  for (size_t i = 0; i < pass.targets.color.size(); i++) {
    if (!(written >> i & 1)) continue;
    const bool reads = !(resolved.classification.overwritten_colors >> i & 1);  // blending, a logic op, a write mask
    sum += color_B(pass.targets.color[i]) * (reads ? 2 : 1);
  }
  const auto& ds = state.depth_stencil;
  sum += depth_B(pass.targets.depth) * ((ds.depth_test ? 1u : 0u) + (ds.depth_test && ds.depth_write ? 1u : 0u));
  if (ds.stencil_test && pass.targets.stencil != VK_FORMAT_UNDEFINED) sum += 2;
  return sum;
}

}  // namespace

RenderBandwidth render_bandwidth(const command::Pass& pass, std::span<const command::DrawCall> draws, uint64_t samples_passed) {
  PerPixel pixel;
  for (size_t i = 0; i < pass.info.color.size(); i++)
    if (pass.info.color[i].view) add(pixel, pass.info.color[i], color_B(pass.info.color[i].view->info().format), pass.samples);
  const VkFormat depth = pass.info.depth.view ? pass.info.depth.view->info().format : VK_FORMAT_UNDEFINED;
  const VkFormat stencil = pass.info.stencil.view ? pass.info.stencil.view->info().format : VK_FORMAT_UNDEFINED;
  add(pixel, pass.info.depth, depth_B(depth), pass.samples);
  add(pixel, pass.info.stencil, stencil_B(stencil, depth), pass.samples);
  const uint64_t layers =
      pass.info.view_mask ? static_cast<uint64_t>(std::popcount(pass.info.view_mask)) : std::max(1u, pass.info.layer_count);
  const uint64_t pixels = uint64_t{pass.render_area.extent.width} * pass.render_area.extent.height * layers;
  uint64_t sum_B = 0;
  for (const command::DrawCall& draw : draws) sum_B += draw_B(pass, *draw.state);
  const uint64_t draws_B = draws.empty() ? 0 : samples_passed * sum_B / draws.size();
  // Mesa's factors, "randomly chosen": accesses to GMEM and changes of state between tiles are not for nothing.
  return {(pixel.gmem_B * pixels * 11 + draws_B) / 10, pixel.sysmem_B * pixels + draws_B};
}

bool prefers_sysmem_unseen(const command::Pass& pass, size_t draws) { return draws <= 5 && pass.samples == 1; }

std::string render_key(const command::Pass& pass) {
  std::string key = pass.info.label;
  const auto add_number = [&](uint64_t n) { key += '|' + std::to_string(n); };
  for (VkFormat format : pass.targets.color) add_number(static_cast<uint64_t>(format));
  add_number(static_cast<uint64_t>(pass.targets.depth)), add_number(pass.samples), add_number(pass.width_px), add_number(pass.height_px);
  add_number(pass.draws.size());
  return key;
}

}  // namespace tilegpu::exec
