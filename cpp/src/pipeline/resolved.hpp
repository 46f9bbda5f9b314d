// pipeline/resolved.hpp -- what a draw runs: code, tables, classification. In: a program and its state (resolve.hpp). Out: for draws.
#pragma once

#include <array>
#include <optional>

#include "pipeline/coming_code.hpp"
#include "pipeline/primitive_stages.hpp"
#include "pipeline/stage_list.hpp"
#include "shader/compiler.hpp"

namespace tilegpu::pipeline {

/// What the fixed functions must do for the pipeline's fragments, and when. Source: Vulkan specification, "Fragment Operations"
/// and "Early Fragment Test"; docs/decisions.md, 29, for the split of update and kill.
struct Classification {
  bool early_test = true;     // depth/stencil tests may kill before shading
  bool early_write = true;    // and may write then (else: written after shading)
  bool late_test = false;     // the test itself happens after shading
  bool opaque = false;        // writes all components of every attachment, no blending, logic op copy, no tile read
  bool reads_inputs = false;  // the shader reads input attachments
  bool reads_tile = false;    // blending, logic op, partial write masks, input attachments: order within a pixel matters
  bool pins_order = false;    // reads a depth or stencil value that its own early tests write: each primitive is shaded before the next
  bool side_effects = false;  // memory, or what invocations see of one another: all that the rasterizer covers must run
  bool per_sample = false;
  bool coarse = false;        // fragments may have several pixels (shading_rate.hpp)
  bool writes_color = false;  // any attachment at all
  bool kills = false;         // the shader or its alpha changes coverage
  bool smooth_alpha = false;  // lines are smooth: each fragment's area is multiplied into its alpha
  // The shader decides coverage or what is tested, and is asked before depth and stencil are final: known from its slice.
  bool needs_slice = false;
  uint32_t overwritten_colors = 0;  // bit i: attachment i is written, all components, whatever it held
};

/// A stage as draws run it.
struct ResolvedStage {
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  shader::StageTraits traits;
  shader::ResourceTable resources;
  shader::Code<shader::AnyFunction> code;  // null: it need not run, as what it does has no effect
  Ptr<const ShaderModule> module;          // for messages that name a line
};

/// The stage whose code is called so.
template <class Function>
inline constexpr VkShaderStageFlagBits kStageOf = VK_SHADER_STAGE_FLAG_BITS_MAX_ENUM;
template <>
inline constexpr VkShaderStageFlagBits kStageOf<shader::VertexFunction> = VK_SHADER_STAGE_VERTEX_BIT;
template <>
inline constexpr VkShaderStageFlagBits kStageOf<shader::GeometryFunction> = VK_SHADER_STAGE_GEOMETRY_BIT;
template <>
inline constexpr VkShaderStageFlagBits kStageOf<shader::ComputeFunction> = VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT;
template <>
inline constexpr VkShaderStageFlagBits kStageOf<shader::FragmentFunction> = VK_SHADER_STAGE_FRAGMENT_BIT;

/// Behind the fragment shader, and it together with what is behind it.
struct FragmentOutput {
  shader::Code<shader::FragmentFunction> epilogue;  // null: nothing to write
  shader::Code<shader::BlocksFunction> blocks;      // both over whole blocks; null where they go one by one
  shader::Code<shader::FragmentFunction> pixels;    // both over pixel packets; null where quads are needed, and until wanted
  shader::Code<shader::FragmentFunction> slice;     // the fragment shader up to known coverage; where Classification::needs_slice
  uint32_t written_targets = 0;                     // bit i: colour i may be written; 8: depth, 9: stencil
};

/// The vertex shader cut down to positions: what deferred vertex shading runs before it knows what is seen.
struct PositionShader {
  shader::Code<shader::VertexFunction> code;  // null until a pass first asks for it (position_shader)
  shader::VertexKey key;
};

/// A texture without which nothing of a fragment is seen: where `component` of all texels that its look-up filters is a code of `most` at
/// most, no target changes, and nothing else happens. For the tile phase (tile/plan/clear_texels.hpp); docs/decisions.md, 550 and 552.
struct FaintTexture {
  uint32_t set = 0, offset_B = 0;  // of its CombinedDescriptor
  uint8_t component = 0;           // of the view, behind its swizzle
  uint8_t most = 0;
  bool ends = false;               // the fragment ends with its shader; else blending leaves the targets as they are
  bool neighbours = false;         // it must be so in all of a quad
  std::array<uint32_t, 2> rows{};  // of the varyings that the coordinate is, by axis
};

/// Made once for a program and a state; nothing below the recording asks a pipeline. What fixed functions read beside it stands in the
/// draw's state (command/draw.hpp).
struct Resolved {
  std::string label;  // of the pipeline, for messages
  StageList<ResolvedStage> stages;
  PrimitiveStages primitives;                       // between the vertex shader and the rasterizer
  uint32_t lanes = 0;                               // of geometry shaders
  shader::VaryingLayout varyings;                   // that reach the rasterizer, and what is captured
  bool has_flat = false, has_own_vertices = false;  // some of these: flat; the primitive's (VaryingComponent::of_primitive)
  std::vector<shader::InputSource> inputs;          // input attachments, mapped to planes of the tile
  std::optional<FaintTexture> faint;
  std::vector<shader::BufferSlot> written_buffers;  // by any stage
  std::vector<shader::TextureSlot> written_images;  // by any stage
  FixedList<VertexInputBinding, kMaxVertexBindings> vertex_input;
  PositionShader position;
  FragmentOutput output;
  Classification classification;
  std::array<const char*, kMaxColorAttachments> blend_shader{};   // by colour: why a fixed blend unit can't do it; null: it can
  std::array<uint32_t, kMaxColorAttachments> blend_operations{};  // of a blend shader, if it needs one
  std::array<VkColorComponentFlags, kMaxColorAttachments> blend_constants_asked{};
  std::array<VkFormat, kMaxColorAttachments> blend_formats{};  // of colours that are written
  uint32_t blends = 0;                                         // bit i: colour i
  VkFormat depth_format = VK_FORMAT_UNDEFINED;
  uint32_t samples = 1;
  ComingCode coming;

  /// Of a stage that there is not: nothing of all that a stage can do.
  const shader::StageTraits& traits(VkShaderStageFlagBits stage) const {
    const ResolvedStage* found = stages.find(stage);
    return found ? found->traits : kNoTraits;
  }
  /// Of the stage whose positions are rasterized.
  const shader::StageTraits& last_traits() const {
    const size_t n = stages.size();
    assert(n > 0);
    return stages[n > 1 && stages[n - 1].stage == VK_SHADER_STAGE_FRAGMENT_BIT ? n - 2 : n - 1].traits;
  }
  /// Null where there is no such stage, or it need not run.
  template <class Function>
  shader::Code<Function> code() const {
    const ResolvedStage* found = stages.find(kStageOf<Function>);
    return found ? found->code.template as<Function>() : shader::Code<Function>();
  }
  /// Whether fragments run a shader.
  bool shades() const { return code<shader::FragmentFunction>().identity(); }

 private:
  static const shader::StageTraits kNoTraits;
};

}  // namespace tilegpu::pipeline
