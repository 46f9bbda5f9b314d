// pipeline/program.hpp -- a program: stages in the order that data goes through them, and what lies between each two neighbours.
//
// In: shader modules and a layout. Out: traits, interfaces and tables, all that does not depend on state. A stage is asked for by its
// VkShaderStageFlagBits, so that another kind of it is a row in kOrder (program.cpp) and code that knows it. Source: Vulkan
// specification, "Shader Interfaces", "Graphics Pipelines".
#pragma once

#include <functional>
#include <string>

#include "base/memory_budget.hpp"
#include "pipeline/primitive_stages.hpp"
#include "pipeline/stage_list.hpp"
#include "shader/compiler.hpp"
#include "tilegpu/compute.hpp"

namespace tilegpu::pipeline {

struct Stage {
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  Ptr<ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  Ptr<const Reflection> reflection;  // as specialised
  shader::StageTraits traits;
  shader::ResourceTable resources;  // descriptors, with their places in the sets
};

/// What one stage writes and the next reads: each component's row in memory between the two. What nobody reads is not stored.
struct StageInterface {
  VkShaderStageFlagBits writer = VK_SHADER_STAGE_VERTEX_BIT, reader = VK_SHADER_STAGE_FRAGMENT_BIT;
  shader::VaryingLayout layout;
};

/// A texture, and what the stages' variables say of the views that it may be.
struct TextureUse {
  shader::TextureSlot slot;
  std::vector<const ReflectedType*> types;  // of the stages' reflections
};

/// Descriptors that are checked together: those of one set, or images of one set with samplers of another.
struct SetGroup {
  uint32_t set = 0, sampler_set = 0;        // equal, but for such images
  std::vector<shader::BufferSlot> buffers;  // dynamic ones are the draw's own (Program::dynamic_buffers)
  std::vector<TextureUse> textures;
  uint32_t elements = 0;  // of all of them
};

/// Beside the bits of targets: the pass has colours that the pipeline lacks.
inline constexpr uint32_t kOtherColors = 1u << 31;

/// What a device takes though Vulkan forbids it, or only where a feature is enabled: DeviceCreateInfo's.
struct Leniency {
  std::function<void(const std::string&)> tolerate;
  bool robust_attributes = false;  // an input that nothing feeds is 0
  bool legacy_attributes = false;  // an input of another numeric type than its attribute's has its bits
};

struct Program {
  uint64_t id = 0;  // never that of another one
  std::string label;
  bool leaves_colors = false;              // the pass has colours that the pipeline lacks: whatever it draws, these stay
  StageList<Stage> stages;                 // in order
  std::vector<StageInterface> interfaces;  // [i]: between stages[i] and stages[i + 1]
  PrimitiveStages primitives;              // graphics: what goes on before the rasterizer
  Ptr<const PipelineLayout> layout;
  shader::ResourceTable resources;  // of all stages together
  uint32_t used_sets = 0;           // a bit for each set in `resources`
  bool uses_addresses = false;      // of buffers, in some stage
  bool writes_addresses = false;
  std::vector<SetGroup> set_groups;                 // of `resources`
  std::vector<shader::BufferSlot> dynamic_buffers;  // of `resources`
  std::vector<shader::InputSource> inputs;          // input attachments, mapped to planes of the tile
  std::vector<shader::BufferSlot> written_buffers;  // by any stage (hsr/vertex_deferral.hpp)
  std::vector<shader::TextureSlot> written_images;  // the same: storage images and texel buffers
  std::vector<VkFormat> color_formats;
  std::array<uint32_t, kMaxColorAttachments> attachment_locations{};  // of the fragment shader, by attachment
  VkFormat depth_format = VK_FORMAT_UNDEFINED, stencil_format = VK_FORMAT_UNDEFINED;
  Leniency leniency;
  MemoryShare memory;  // with what is resolved of it

  /// Does code read `args.sets`?
  bool reads_sets() const { return used_sets || uses_addresses; }
  /// Is the image of the binding read as a texture (of input attachments: from memory)?
  bool fetches(uint32_t set, uint32_t binding) const;
  /// Null: it has none.
  const Stage* find(VkShaderStageFlagBits stage) const { return stages.find(stage); }
  /// A colour attachment that is there, by the fragment shader.
  bool writes(size_t attachment) const;
  const Stage* fragment() const { return find(VK_SHADER_STAGE_FRAGMENT_BIT); }
  /// The stage whose positions are rasterized.
  const Stage& before_rasterization() const;
  /// What the stage writes for the next one; empty for the last.
  const shader::VaryingLayout& written_by(VkShaderStageFlagBits stage) const;
};

/// Stages, interfaces, targets and layout checked; a null layout of `info` is made
/// from the shaders (one set layout for each set number used). State is not looked at. `absent`: targets that the pass lacks
/// (Pipeline::without), kOtherColors.
Expected<Ptr<const Program>> make_program(GraphicsPipelineCreateInfo& info, const Leniency& leniency, uint32_t absent = 0);

/// The same of one compute shader.
Expected<Ptr<const Program>> make_compute_program(ComputePipelineCreateInfo& info, const Leniency& leniency);

/// Targets and layout; makes the layout where there is none.
Status check_program(Program& program);

/// Everything in a state that a program can not be drawn with: vertex input, targets, samples.
Status check_state(const Program& program, const GraphicsState& state);

/// Whether each input of the vertex shader has an attribute.
bool feeds_all_inputs(const Program& program, const GraphicsState& state);

/// A topology that the program's stages don't take. Asked at draws: it may be dynamic.
Status check_topology(const Program& program, const FixedFunctionState& state);

/// Line modes and stipples of a new pipeline that don't go with the rest of it; what is dynamic is not looked at.
Status check_lines(const Program& program, const GraphicsState& state, DynamicStates dynamic);

/// A stipple that is out of range, or that the mode of lines has not.
Status check_line_state(const Program& program, const FixedFunctionState& state);

/// The same, and what lines that are drawn don't go with. Asked at draws: all of it may be dynamic.
Status check_drawn_lines(const Program& program, const GraphicsState& state);

/// "vertex", "tessellation_control", ...
const char* stage_name(VkShaderStageFlagBits stage);

/// Checks that `writer` feeds all that `reader` uses, and lays it out.
Expected<StageInterface> connect(const Stage& writer, const Stage& reader);

}  // namespace tilegpu::pipeline
