// pipeline/classify.cpp -- stage: resolution. In: state and the traits of the specialised shaders. Out: Classification.
//
// Source: Vulkan specification, "Fragment Operations" (early tests are legal when nobody can tell), docs/decisions.md, 29 (discard
// delays the update, not the kill; side effects forbid the early kill).
#include "pipeline/classify.hpp"

#include <algorithm>

#include "pipeline/dynamic_state.hpp"
#include "pipeline/shading_rate.hpp"
#include "vk/blend_op.hpp"
#include "vk/format.hpp"

namespace tilegpu::pipeline {

namespace {

VkColorComponentFlags components_of(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  assert(info);
  VkColorComponentFlags mask = 0;
  for (uint32_t c = 0; c < 4; c++)
    if (info->rgba[c].bits) mask |= 1u << c;
  return mask;
}

// Enabled blending of the components in `mask`; disabled where it is a copy.
VkPipelineColorBlendAttachmentState blending_of(VkPipelineColorBlendAttachmentState b, VkColorComponentFlags mask, VkFormat format) {
  b.colorWriteMask = mask;
  if (vk::is_advanced(b.colorBlendOp)) return {b.blendEnable, {}, {}, b.colorBlendOp, {}, {}, b.colorBlendOp, mask};  // no factors
  // Alpha that the format has not is one. (Nothing of it is zero only of numbers in a range: zero times infinity is none.)
  const vk::FormatInfo& info = *vk::find_format(format);
  const bool fixed_point = info.numeric == vk::Numeric::unorm || info.numeric == vk::Numeric::srgb;
  if (!info.rgba[3].bits)
    for (VkBlendFactor* factor : {&b.srcColorBlendFactor, &b.dstColorBlendFactor}) {
      if (*factor == VK_BLEND_FACTOR_DST_ALPHA) *factor = VK_BLEND_FACTOR_ONE;
      const bool is_zero = *factor == VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA || *factor == VK_BLEND_FACTOR_SRC_ALPHA_SATURATE;
      if (is_zero && fixed_point) *factor = VK_BLEND_FACTOR_ZERO;
    }
  return vk::blend_is_copy(b) ? VkPipelineColorBlendAttachmentState{} : b;
}

// Outputs that a shader does not write are 0: so are factors of a second source that it has not.
VkPipelineColorBlendAttachmentState without_second_source(VkPipelineColorBlendAttachmentState b) {
  for (VkBlendFactor* factor : {&b.srcColorBlendFactor, &b.dstColorBlendFactor, &b.srcAlphaBlendFactor, &b.dstAlphaBlendFactor}) {
    if (*factor == VK_BLEND_FACTOR_SRC1_COLOR || *factor == VK_BLEND_FACTOR_SRC1_ALPHA) *factor = VK_BLEND_FACTOR_ZERO;
    if (*factor == VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR || *factor == VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA) *factor = VK_BLEND_FACTOR_ONE;
  }
  return b;
}

shader::StageTraits fragment_traits(const Program& program) {
  return program.fragment() ? program.fragment()->traits : shader::StageTraits();
}

}  // namespace

AlphaOutput alpha_output(const Program& program) {
  if (!program.fragment() || !program.fragment()->reflection) return AlphaOutput::none;
  for (const ReflectedVariable& o : program.fragment()->reflection->outputs) {
    const ReflectedType* type = &o.type;
    while (type->kind == ReflectedType::Kind::array) type = &type->members.front().type;
    if (o.location != 0 || o.component + type->rows < 4) continue;
    const bool floats = type->base == ReflectedType::Base::f32 || type->base == ReflectedType::Base::f16;
    return floats ? AlphaOutput::floats : AlphaOutput::integers;
  }
  return AlphaOutput::none;
}

// "If that shader output has an integer or unsigned integer type, then these operations are skipped."
bool alpha_covers(const Program& program, const MultisampleState& state) {
  return state.alpha_to_coverage && alpha_output(program) == AlphaOutput::floats;
}

bool smooth_lines(const Program& program, const GraphicsState& state) {
  return state.rasterization.line_mode == VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT &&
         draws_lines(state, program.primitives.made_vertices());
}

bool shades_coarsely(const Program& program, const GraphicsState& state) {
  const Stage* fragment = program.fragment();
  return sets_shading_rate(state, program.before_rasterization().traits) &&
         !shading_rate_obstacle(state, fragment ? &fragment->traits : nullptr);
}

bool writes_stencil(const DepthStencilState& ds) {
  const auto face = [](const VkStencilOpState& f) {
    return f.writeMask && (f.failOp != VK_STENCIL_OP_KEEP || f.passOp != VK_STENCIL_OP_KEEP || f.depthFailOp != VK_STENCIL_OP_KEEP);
  };
  return ds.stencil_test && (face(ds.front) || face(ds.back));
}

uint32_t written_targets(const Program& program, const GraphicsState& state) {
  const DepthStencilState& ds = state.depth_stencil;
  uint32_t written = 0;
  if (ds.depth_test && ds.depth_write && program.depth_format != VK_FORMAT_UNDEFINED) written |= 1u << shader::kInputDepth;
  if (program.stencil_format != VK_FORMAT_UNDEFINED && writes_stencil(ds)) written |= 1u << shader::kInputStencil;
  if (!program.fragment()) return written;
  const auto blends = blend_attachments(program, state);
  for (size_t i = 0; i < program.color_formats.size(); i++)
    if (program.writes(i) && blends[i].colorWriteMask) written |= 1u << i;
  return written;
}

std::vector<VkPipelineColorBlendAttachmentState> blend_attachments(const Program& program, const GraphicsState& state) {
  const auto& given = state.blend.attachments;
  std::vector<VkPipelineColorBlendAttachmentState> states(program.color_formats.size());
  const bool has_second = program.fragment() && program.fragment()->traits.dual_source;
  for (size_t i = 0; i < states.size(); i++) {
    if (program.color_formats[i] == VK_FORMAT_UNDEFINED || !(state.blend.color_write_enables >> i & 1)) continue;
    const VkColorComponentFlags there = components_of(program.color_formats[i]);
    VkColorComponentFlags mask = (i < given.size() ? given[i].colorWriteMask : 0xf) & there;
    if (logic_op_of(state.blend, program.color_formats[i]) == VK_LOGIC_OP_NO_OP) mask = 0;
    if (i < given.size() && given[i].blendEnable && !state.blend.logic_op_enable)
      states[i] = blending_of(has_second ? given[i] : without_second_source(given[i]), mask, program.color_formats[i]);
    states[i].colorWriteMask = mask;
  }
  return states;
}

VkLogicOp logic_op_of(const ColorBlendState& blend, VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!blend.logic_op_enable || !info) return VK_LOGIC_OP_COPY;
  const bool takes = info->is_integer() || info->numeric == vk::Numeric::unorm || info->numeric == vk::Numeric::snorm;
  return takes ? blend.logic_op : VK_LOGIC_OP_COPY;
}

bool reads_color(const VkPipelineColorBlendAttachmentState& blend, VkLogicOp op) {
  switch (op) {
    case VK_LOGIC_OP_COPY:
      return blend.blendEnable && vk::blend_reads_destination(blend);
    case VK_LOGIC_OP_CLEAR:
    case VK_LOGIC_OP_COPY_INVERTED:
    case VK_LOGIC_OP_SET:
      return false;
    default:
      return true;
  }
}

std::array<AdvancedBlend, kMaxColorAttachments> advanced_blends(const Program& program, const GraphicsState& state) {
  std::array<AdvancedBlend, kMaxColorAttachments> advanced{};
  const auto blends = blend_attachments(program, state);
  for (size_t i = 0; i < blends.size(); i++)
    if (blends[i].blendEnable && vk::is_advanced(blends[i].colorBlendOp)) advanced[i] = state.blend.advanced[i];
  return advanced;
}

Classification classify(const Program& program, const GraphicsState& state) {
  Classification c;
  const shader::StageTraits fragment = fragment_traits(program);
  const bool shaded = program.fragment() != nullptr;
  const bool kills = shaded && (fragment.discards || fragment.writes_sample_mask || alpha_covers(program, state.multisample));
  c.kills = kills;
  c.needs_slice = kills || (shaded && !fragment.early_fragment_tests && (fragment.writes_depth || fragment.writes_stencil));
  c.side_effects = shaded && (fragment.writes_memory || fragment.asks_who_runs);
  c.per_sample = shaded && state.multisample.samples > 1 &&
                 (fragment.per_sample || (state.multisample.sample_shading && state.multisample.min_sample_shading > 0));
  c.coarse = shades_coarsely(program, state);
  if (!fragment.early_fragment_tests) {
    c.late_test = shaded && (fragment.writes_depth || fragment.writes_stencil || c.side_effects);
    c.early_test = !c.late_test;
    c.early_write = c.early_test && !kills;
  }
  // Depth or stencil that the draw both reads and writes: written after shading, so that a fragment sees what earlier primitives
  // left and not its own. Where the shader asks for early tests it sees its own, and primitives go one by one.
  const DepthStencilState& ds = state.depth_stencil;
  for (const shader::InputSource& input : program.inputs) {
    const bool depth = input.target == shader::kInputDepth && ds.depth_test && ds.depth_write;
    const bool stencil = input.target == shader::kInputStencil && writes_stencil(ds);
    if (!depth && !stencil) continue;
    if (fragment.early_fragment_tests)
      c.pins_order = true;
    else
      c.early_write = false;
  }
  c.reads_inputs = shaded && fragment.reads_tile;
  c.reads_tile = c.reads_inputs;
  c.opaque = shaded && !c.reads_tile && !program.leaves_colors;
  const auto blends = blend_attachments(program, state);
  for (size_t i = 0; i < program.color_formats.size(); i++) {
    if (program.color_formats[i] == VK_FORMAT_UNDEFINED) continue;
    const VkColorComponentFlags all = components_of(program.color_formats[i]);
    const bool written = program.writes(i) && blends[i].colorWriteMask;
    const bool reads = reads_color(blends[i], logic_op_of(state.blend, program.color_formats[i])) || blends[i].colorWriteMask != all;
    if (written) c.writes_color = true;
    if (written && reads) c.reads_tile = true;
    if (written && !reads) c.overwritten_colors |= 1u << i;
    if (!written || reads) c.opaque = false;
  }
  if (c.reads_tile) c.opaque = false;
  // What is seen of smooth lines is not known from their numbers alone: they are shaded in order.
  c.smooth_alpha = smooth_lines(program, state) && alpha_output(program) == AlphaOutput::floats;
  if (c.smooth_alpha) c.opaque = false, c.overwritten_colors = 0;
  return c;
}

shader::EpilogueKey epilogue_key(const Program& program, const GraphicsState& state, const Classification& classification) {
  shader::EpilogueKey key;
  key.samples = static_cast<uint32_t>(state.multisample.samples);
  const auto blends = blend_attachments(program, state);
  const auto advanced = advanced_blends(program, state);
  for (size_t i = 0; i < program.color_formats.size(); i++) {
    // An attachment that the shader does not write keeps its value (Vulkan: undefined; ours: unchanged).
    if (!program.writes(i) || blends[i].colorWriteMask == 0) continue;
    key.formats[i] = program.color_formats[i];
    key.locations[i] = static_cast<uint8_t>(program.attachment_locations[i]);
    key.blend[i] = blends[i];
    key.advanced[i] = advanced[i];
  }
  key.logic_op_enable = state.blend.logic_op_enable;
  key.logic_op = state.blend.logic_op_enable ? state.blend.logic_op : VK_LOGIC_OP_COPY;
  key.alpha_to_one = state.multisample.alpha_to_one;
  key.per_sample = classification.per_sample;
  return key;
}

}  // namespace tilegpu::pipeline
