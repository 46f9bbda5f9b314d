// pipeline/validate.cpp -- stage: pipeline creation, resolution. In: a program, and a state to draw it with. Out: the first thing that
// is wrong with them, said so that it can be mended: object, field, value, what is allowed. Source: Vulkan specification, VUIDs of
// VkGraphicsPipelineCreateInfo and its parts, and "Shader Interfaces".
#include <algorithm>
#include <map>
#include <tuple>

#include "base/float_text.hpp"
#include "base/replaying.hpp"
#include "descriptor/set_memory.hpp"
#include "pipeline/classify.hpp"
#include "pipeline/create.hpp"
#include "pipeline/dynamic_state.hpp"
#include "pipeline/input_attachments.hpp"
#include "pipeline/program.hpp"
#include "tilegpu/resource.hpp"
#include "vk/blend_op.hpp"
#include "vk/format.hpp"

namespace tilegpu::pipeline {

namespace {

/// Of 16 bits what an interface makes of them.
ReflectedType::Base widened(ReflectedType::Base base) {
  using Base = ReflectedType::Base;
  return base == Base::f16 ? Base::f32 : base == Base::i16 ? Base::i32 : base == Base::u16 ? Base::u32 : base;
}

ReflectedType::Base base_of_format(const vk::FormatInfo& format) {
  if (format.numeric == vk::Numeric::uint) return ReflectedType::Base::u32;
  if (format.numeric == vk::Numeric::sint) return ReflectedType::Base::i32;
  return ReflectedType::Base::f32;
}

bool is_long(ReflectedType::Base base) { return base_size_B(base) == 8; }
bool is_float(ReflectedType::Base base) {
  return base == ReflectedType::Base::f16 || base == ReflectedType::Base::f32 || base == ReflectedType::Base::f64;
}

/// The location whose attribute feeds one of an input's locations: a vector of 64 bits may take two, and has one attribute.
uint32_t fed_by(const ReflectedType& type, uint32_t first, uint32_t location) {
  assert(location >= first && location < first + locations_of(type));
  switch (type.kind) {
    case ReflectedType::Kind::structure:
      for (const auto& member : type.members) {
        if (location < first + locations_of(member.type)) return fed_by(member.type, first, location);
        first += locations_of(member.type);
      }
      return location;
    case ReflectedType::Kind::array: {
      if (type.members.empty()) return location;
      const uint32_t each = locations_of(type.members[0].type);
      return fed_by(type.members[0].type, first + (location - first) / each * each, location);
    }
    default: {
      const uint32_t of_vector = base_size_B(type.base) * type.rows > 16 ? 2 : 1;
      return location - (location - first) % of_vector;
    }
  }
}

const ReflectedType& innermost(const ReflectedType& type) {
  return type.kind == ReflectedType::Kind::array && !type.members.empty() ? innermost(type.members[0].type) : type;
}

bool uses_second_source(const VkPipelineColorBlendAttachmentState& blend) {
  if (vk::is_advanced(blend.colorBlendOp)) return false;  // it has no factors
  const VkBlendFactor factors[] = {blend.srcColorBlendFactor, blend.dstColorBlendFactor, blend.srcAlphaBlendFactor,
                                   blend.dstAlphaBlendFactor};
  return std::any_of(std::begin(factors), std::end(factors),
                     [](VkBlendFactor f) { return f >= VK_BLEND_FACTOR_SRC1_COLOR && f <= VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA; });
}

/// "Shader Resource and Descriptor Type Correspondence".
bool may_be(VkDescriptorType of_shader, VkDescriptorType of_layout) {
  if (of_shader == of_layout) return true;
  switch (of_layout) {
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      return of_shader == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || of_shader == VK_DESCRIPTOR_TYPE_SAMPLER;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
      return of_shader == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      return of_shader == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    default:
      return false;
  }
}

struct Topology {
  VkPrimitiveTopology topology;
  const char* name;
  uint32_t vertices;  // of a primitive, with its neighbours'
};
constexpr Topology kTopologies[] = {
    {VK_PRIMITIVE_TOPOLOGY_POINT_LIST, "POINT_LIST", 1},
    {VK_PRIMITIVE_TOPOLOGY_LINE_LIST, "LINE_LIST", 2},
    {VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, "LINE_STRIP", 2},
    {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, "TRIANGLE_LIST", 3},
    {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, "TRIANGLE_STRIP", 3},
    {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN, "TRIANGLE_FAN", 3},
    {VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY, "LINE_LIST_WITH_ADJACENCY", 4},
    {VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY, "LINE_STRIP_WITH_ADJACENCY", 4},
    {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY, "TRIANGLE_LIST_WITH_ADJACENCY", 6},
    {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY, "TRIANGLE_STRIP_WITH_ADJACENCY", 6},
    {VK_PRIMITIVE_TOPOLOGY_PATCH_LIST, "PATCH_LIST", 0},
};

std::string topology_name(VkPrimitiveTopology topology) {
  for (const Topology& known : kTopologies)
    if (known.topology == topology) return known.name;
  return "number " + std::to_string(topology);
}
uint32_t vertices_of(VkPrimitiveTopology topology) {
  for (const Topology& known : kTopologies)
    if (known.topology == topology) return known.vertices;
  return 0;
}

struct Checker {
  const Program& program;
  Error error(const std::string& text, VkResult code = VK_ERROR_INITIALIZATION_FAILED) const {
    return {code, "pipeline '" + program.label + "': " + text};
  }
  const Reflection* fragment() const { return program.fragment() ? program.fragment()->reflection.get() : nullptr; }

  /// The attribute is of the input's kind, and of 64 bits where that is, with all of its components. Of another one the input gets the
  /// bits; `legacy`: the kind may be another.
  Status input_type(const ReflectedVariable& input, const VkVertexInputAttributeDescription& attribute, bool legacy) const {
    const vk::FormatInfo& format = *vk::find_format(attribute.format);
    const ReflectedType& type = innermost(input.type);
    const bool longs = format.rgba[0].bits == 64;
    const std::string given = "vertex attribute at location " + std::to_string(attribute.location) + " has format " +
                              format_name(attribute.format) + ", but the shader's '" + input.name + "' is of base type " +
                              base_name(type.base);
    if (longs != is_long(type.base)) return error(given + "; use a format of as many bits");
    if (!legacy && (base_of_format(format) == ReflectedType::Base::f32) != is_float(type.base))
      return error(given + "; use a format of that kind");
    const uint32_t components = input.component / 2 + type.rows;
    if (longs && components > format.component_count)
      return error(given + " and reads " + std::to_string(components) + " components; use a format with as many");
    return Ok{};
  }

  Status vertex_input(const GraphicsState& info) const {
    if (info.vertex_bindings.wanted() > kMaxVertexBindings)
      return error("vertex_bindings has " + std::to_string(info.vertex_bindings.wanted()) + " entries; at most " +
                   std::to_string(kMaxVertexBindings) + " are allowed");
    if (info.vertex_attributes.wanted() > kMaxVertexAttributes)
      return error("vertex_attributes has " + std::to_string(info.vertex_attributes.wanted()) + " entries; at most " +
                   std::to_string(kMaxVertexAttributes) + " are allowed");
    std::map<uint32_t, const VkVertexInputAttributeDescription*> by_location;
    for (const auto& b : info.vertex_bindings)
      if (b.binding >= kMaxVertexBindings)
        return error("vertex binding " + std::to_string(b.binding) + ": numbers go from 0 to " + std::to_string(kMaxVertexBindings - 1));
    for (const auto& a : info.vertex_attributes) {
      const std::string name = "vertex attribute at location " + std::to_string(a.location);
      if (!by_location.emplace(a.location, &a).second) return error(name + " is given twice");
      if (std::none_of(info.vertex_bindings.begin(), info.vertex_bindings.end(), [&](const auto& b) { return b.binding == a.binding; }))
        return error(name + ": binding " + std::to_string(a.binding) + " is not among vertex_bindings");
      const vk::FormatInfo* format = vk::find_format(a.format);
      if (!format || !format->vertex) return error(name + ": format " + format_name(a.format) + " can't be a vertex format");
    }
    const Stage* vertex = program.find(VK_SHADER_STAGE_VERTEX_BIT);
    if (!vertex) return Ok{};
    for (const ReflectedVariable& input : vertex->reflection->inputs) {
      if (!input.used) continue;
      const uint32_t count = locations_of(input.type);
      for (uint32_t l = input.location; l < input.location + count; l++) {
        const auto found = by_location.find(fed_by(input.type, input.location, l));
        if (found == by_location.end()) {
          if (program.leniency.robust_attributes) continue;
          const Error missing = error("the vertex shader reads '" + input.name + "' (location " + std::to_string(l) +
                                      "), but no vertex attribute feeds that location");
          if (Status ok = forbid(program.leniency.tolerate, missing); !ok) return ok;
          continue;
        }
        const Status agrees = input_type(input, *found->second, program.leniency.legacy_attributes);
        if (Status ok = forbid(program.leniency.tolerate, agrees); !ok) return ok;
      }
    }
    return Ok{};
  }

  Error no_attachment(const std::string& name, VkFormat format, const std::string& why) const {
    return error(name + ": format " + format_name(format) + why);
  }

  Status targets() const {
    const auto& formats = program.color_formats;
    if (formats.size() > kMaxColorAttachments)
      return error("color has " + std::to_string(formats.size()) + " formats; at most " + std::to_string(kMaxColorAttachments) +
                   " attachments are allowed");
    uint32_t taken = 0;  // locations
    for (size_t i = 0; i < formats.size(); i++) {
      if (formats[i] == VK_FORMAT_UNDEFINED) continue;
      const std::string name = "color[" + std::to_string(i) + "]";
      const uint32_t location = program.attachment_locations[i];
      if (location != VK_ATTACHMENT_UNUSED && location >= kMaxColorAttachments)
        return error("attachment_locations of " + name + " is " + std::to_string(location) + "; locations go from 0 to " +
                     std::to_string(kMaxColorAttachments - 1));
      if (location != VK_ATTACHMENT_UNUSED && (taken >> location & 1))
        return error("attachment_locations of " + name + " is " + std::to_string(location) +
                     ", as of another attachment; give each its own");
      if (location != VK_ATTACHMENT_UNUSED) taken |= 1u << location;
      if (const std::string why = vk::why_no_attachment(formats[i], VK_IMAGE_ASPECT_COLOR_BIT); !why.empty())
        return no_attachment(name, formats[i], why);
      if (Status ok = forbid(program.leniency.tolerate, output_type(i)); !ok) return ok;
    }
    for (const auto& [name, aspect, format] : {std::tuple("depth", VK_IMAGE_ASPECT_DEPTH_BIT, program.depth_format),
                                               std::tuple("stencil", VK_IMAGE_ASPECT_STENCIL_BIT, program.stencil_format)})
      if (const std::string why = format ? vk::why_no_attachment(format, aspect) : ""; !why.empty())
        return no_attachment(name, format, why);
    return Ok{};
  }

  /// What the fragment shader writes to the attachment is of its kind. Of another one it gets the bits.
  Status output_type(size_t i) const {
    const vk::FormatInfo* format = vk::find_format(program.color_formats[i]);
    if (!fragment() || !format) return Ok{};
    for (const ReflectedVariable& output : fragment()->outputs)
      if (const auto base = widened(innermost(output.type).base); output.location == program.attachment_locations[i] &&
                                                                  base != base_of_format(*format) &&
                                                                  (format->is_integer() || base != ReflectedType::Base::f32))
        return error("color[" + std::to_string(i) + "] has format " + format->name + ", but the fragment shader's '" + output.name +
                     "' is of base type " + base_name(innermost(output.type).base));
    return Ok{};
  }

  Status operation(size_t i, const VkPipelineColorBlendAttachmentState& blend, const AdvancedBlend& advanced) const {
    if (!blend.blendEnable) return Ok{};
    const std::string who = "blend of color[" + std::to_string(i) + "]: ";
    for (const auto& [name, op] : {std::pair("colorBlendOp", blend.colorBlendOp), std::pair("alphaBlendOp", blend.alphaBlendOp)})
      if (!vk::is_blend_op(op))
        return error(who + name + " is " + vk::blend_op_name(op) + ", which is no VkBlendOp; give one of VK_BLEND_OP_ADD to " +
                     "VK_BLEND_OP_MAX, or of VK_EXT_blend_operation_advanced");
    if (!vk::is_advanced(blend.colorBlendOp) && !vk::is_advanced(blend.alphaBlendOp)) return Ok{};
    if (blend.colorBlendOp != blend.alphaBlendOp)
      return error(who + "colorBlendOp is " + vk::blend_op_name(blend.colorBlendOp) + " and alphaBlendOp is " +
                   vk::blend_op_name(blend.alphaBlendOp) + "; where one is an advanced operation, both must be the same");
    if (advanced.overlap < VK_BLEND_OVERLAP_UNCORRELATED_EXT || advanced.overlap > VK_BLEND_OVERLAP_CONJOINT_EXT)
      return error(who + "blendOverlap is number " + std::to_string(advanced.overlap) +
                   "; allowed are VK_BLEND_OVERLAP_UNCORRELATED_EXT, _DISJOINT_EXT and _CONJOINT_EXT");
    return Ok{};
  }

  Status blending(const GraphicsState& state) const {
    const auto& formats = program.color_formats;
    const auto& attachments = state.blend.attachments;
    if (attachments.wanted() > formats.size())
      return error("blend has " + std::to_string(attachments.wanted()) + " entries for " + std::to_string(formats.size()) +
                   " colour attachments");
    for (size_t i = 0; i < attachments.size(); i++) {
      const vk::FormatInfo* format = vk::find_format(formats[i]);
      if (format && attachments[i].blendEnable && format->is_integer())
        return error("color[" + std::to_string(i) + "]: blending is enabled, but format " + std::string(format->name) +
                     " holds integers; Vulkan blends only normalised and float formats");
      if (Status ok = operation(i, attachments[i], state.blend.advanced[i]); !ok) return ok;
      const bool blends = format && attachments[i].blendEnable && attachments[i].colorWriteMask;
      if (blends && program.fragment() && !program.fragment()->traits.dual_source && uses_second_source(attachments[i]))
        // Undefined in Vulkan: it is 0 (classify.cpp).
        if (Status ok =
                forbid(program.leniency.tolerate, error("blend of color[" + std::to_string(i) +
                                                        "] has a factor of a second source, which the fragment shader does not write; "
                                                        "declare an output with index = 1"));
            !ok)
          return ok;
    }
    return Ok{};
  }

  Status multisampling(const GraphicsState& all) const {
    const MultisampleState& state = all.multisample;
    const uint32_t samples = static_cast<uint32_t>(state.samples);
    if (samples != 1 && samples != 2 && samples != 4 && samples != 8 && samples != 16)
      return error("samples is " + std::to_string(samples) + "; allowed are 1, 2, 4, 8 and 16");
    // VUID-VkGraphicsPipelineCreateInfo-alphaToCoverageEnable-08891: without colour attachments, too.
    const bool covers = state.alpha_to_coverage && fragment() && !all.rasterization.rasterizer_discard;
    if (covers && alpha_output(program) == AlphaOutput::none)
      return error("alpha_to_coverage needs a fragment shader output with an alpha component at location 0");
    if (program.fragment())
      if (Status ok = check_input_samples(program, samples); !ok) return error(ok.error().message);
    return Ok{};
  }

  Status layout() const {
    assert(program.layout);
    for (const Stage& of : program.stages) {
      const Reflection* stage = of.reflection.get();
      for (const ReflectedBinding& b : stage->bindings) {
        if (!b.used) continue;
        const std::string name = "'" + b.name + "' (set " + std::to_string(b.set) + ", binding " + std::to_string(b.binding) + ")";
        const DescriptorBinding* found = nullptr;
        if (b.set < program.layout->sets.size() && program.layout->sets[b.set]) found = program.layout->sets[b.set]->find(b.binding);
        if (!found) return error("the shader uses " + name + ", which the pipeline layout does not have");
        const bool is_mutable = found->type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT;
        if (is_mutable && !descriptor::may_be_written_as(*found, b.descriptor))
          return error("the shader's " + name + " is a " + descriptor::name_of(b.descriptor) +
                       ", which is not among the types that the layout's mutable descriptor may have");
        if (!is_mutable && !may_be(b.descriptor, found->type))
          return error("the shader's " + name + " is a " + descriptor::name_of(b.descriptor) + ", the layout has a " +
                       descriptor::name_of(found->type));
        if (b.count > (found->type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK ? 1 : found->count))
          return error("the shader's " + name + " is an array of " + std::to_string(b.count) + ", the layout has " +
                       std::to_string(found->count));
      }
      if (stage->has_push_constants) {
        const auto& block = stage->push_constants.type;
        const Error wrong = error("the shader's push constants take " + std::to_string(block.size_B) + " bytes, the layout has " +
                                  std::to_string(program.layout->push_constants_B));
        if (block.size_B > kMaxPushConstants_B) return wrong;
        // Compilers round blocks up. Beyond the layout's there is what was pushed there, or zeros.
        if (block.size_B > program.layout->push_constants_B)
          if (Status ok = forbid(program.leniency.tolerate, wrong); !ok) return ok;
      }
    }
    return Ok{};
  }
};

std::string use_text(const Reflection& stage, const ReflectedBinding& b) {
  return std::string(descriptor::name_of(b.descriptor)) + " '" + b.name + "' in the " + stage_name(stage.stage) + " shader";
}

/// What the first variable at the place of `b` is.
std::string first_use(const Program& program, const ReflectedBinding& b) {
  for (const Stage& stage : program.stages)
    for (const ReflectedBinding& other : stage.reflection->bindings)
      if (other.used && other.set == b.set && other.binding == b.binding) return use_text(*stage.reflection, other);
  return "";
}

bool is_of_pair(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER || type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
         type == VK_DESCRIPTOR_TYPE_SAMPLER;
}

/// Set layouts that satisfy all stages; those of `given` stay.
Expected<Ptr<const PipelineLayout>> layout_from_reflection(const Program& program, const PipelineLayout& given) {
  std::map<uint32_t, std::map<uint32_t, DescriptorBinding>> sets;
  auto layout = std::make_shared<PipelineLayout>();
  layout->sets = given.sets;
  const auto is_given = [&](uint32_t set) { return set < given.sets.size() && given.sets[set]; };
  const VkShaderStageFlags seen_by = program.find(VK_SHADER_STAGE_COMPUTE_BIT) ? VK_SHADER_STAGE_COMPUTE_BIT : VK_SHADER_STAGE_ALL_GRAPHICS;
  for (const Stage& of : program.stages) {
    const Reflection* stage = of.reflection.get();
    for (const ReflectedBinding& b : stage->bindings) {
      if (!b.used || is_given(b.set)) continue;
      const std::string name = "(set " + std::to_string(b.set) + ", binding " + std::to_string(b.binding) + ")";
      if (b.set >= kMaxDescriptorSets)
        return Error{VK_ERROR_INITIALIZATION_FAILED,
                     "'" + b.name + "' " + name + ": set numbers go from 0 to " + std::to_string(kMaxDescriptorSets - 1)};
      if (!b.count)
        return Error{VK_ERROR_INITIALIZATION_FAILED,
                     "'" + b.name + "' " + name +
                         " is an array without a length; give it one in the shader, or create the pipeline with a layout of the set that "
                         "says how many (set_layouts)"};
      // No set has them; what the shader does with it is named when it is compiled.
      if (descriptor::kind_of(b.descriptor) == descriptor::Kind::unsupported) continue;
      const auto [entry, fresh] = sets[b.set].try_emplace(b.binding, DescriptorBinding{b.binding, b.descriptor, b.count, seen_by, 0, {}});
      // A texture and a sampler at one place are one descriptor of both (as DXC and slangc write every Sampler2D).
      if (!fresh && is_of_pair(entry->second.type) && is_of_pair(b.descriptor) && entry->second.type != b.descriptor)
        entry->second.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
      else if (!fresh && entry->second.type != b.descriptor)
        return Error{VK_ERROR_INITIALIZATION_FAILED,
                     name + " is " + first_use(program, b) + " and " + use_text(*stage, b) + "; give them different bindings"};
      entry->second.count = std::max(entry->second.count, b.count);
    }
    if (stage->has_push_constants) layout->push_constants_B = std::max(layout->push_constants_B, stage->push_constants.type.size_B);
  }
  for (const auto& [number, bindings] : sets) {
    layout->sets.resize(std::max<size_t>(layout->sets.size(), number + 1));
    std::vector<DescriptorBinding> all;
    for (const auto& [binding, description] : bindings) all.push_back(description);
    auto set = DescriptorSetLayout::create(std::move(all));
    if (!set) return Error{set.error().code, "set " + std::to_string(number) + ", " + set.error().message};
    layout->sets[number] = *set;
  }
  return Ptr<const PipelineLayout>(layout);
}

}  // namespace

Status check_program(Program& program) {
  const Checker check{program};
  if (Status ok = check.targets(); !ok) return ok;
  const bool given = program.layout != nullptr;
  if (!given || program.layout->complete_by_reflection) {
    auto layout = layout_from_reflection(program, given ? *program.layout : PipelineLayout{});
    if (!layout) return check.error(layout.error().message);
    program.layout = *layout;
  }
  if (given)
    if (Status ok = check.layout(); !ok) return ok;
  uint32_t dynamic_buffers = 0;
  for (const auto& set : program.layout->sets) dynamic_buffers += set ? set->dynamic_buffers() : 0;
  if (dynamic_buffers > kMaxDynamicBuffers)
    return check.error("the layout has " + std::to_string(dynamic_buffers) + " dynamic buffers; at most " +
                       std::to_string(kMaxDynamicBuffers) + " are allowed");
  if (program.layout->sets.size() > kMaxDescriptorSets)
    return check.error("the layout has " + std::to_string(program.layout->sets.size()) + " sets; at most " +
                       std::to_string(kMaxDescriptorSets) + " are allowed");
  if (program.layout->push_constants_B > kMaxPushConstants_B)
    return check.error("push constants take " + std::to_string(program.layout->push_constants_B) + " bytes; at most " +
                       std::to_string(kMaxPushConstants_B) + " are allowed");
  return Ok{};
}

Status check_topology(const Program& program, const FixedFunctionState& state) {
  const Checker check{program};
  const PrimitiveStages& stages = program.primitives;
  if (stages.meshes) return Ok{};  // nothing is assembled
  const bool patches = state.topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
  if (patches != stages.tessellates)
    return check.error(patches ? "the topology is PATCH_LIST, but there are no tessellation shaders; draw another one, or give both"
                               : "there are tessellation shaders, whose topology is PATCH_LIST; this one is " +
                                     topology_name(state.topology) + ": draw PATCH_LIST, or leave them out");
  if (patches && (state.patch_control_points == 0 || state.patch_control_points > kMaxPatchVertices))
    return check.error("patch_control_points is " + std::to_string(state.patch_control_points) + "; 1 to " +
                       std::to_string(kMaxPatchVertices) + " are allowed");
  const uint32_t vertices = vertices_of(state.topology);
  if (!patches && stages.makes_primitives && vertices != stages.geometry.input_vertices)
    return check.error("the geometry shader takes primitives of " + std::to_string(stages.geometry.input_vertices) +
                       " vertices; those of topology " + topology_name(state.topology) + " have " + std::to_string(vertices));
  return Ok{};
}

namespace {

// Bresenham's lines have no samples of their own, and the alpha of smooth ones is their coverage.
Status check_line_samples(const Checker& check, const RasterizationState& raster, const MultisampleState& m, const char* rule) {
  const char* const mode = raster.line_mode == VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT            ? "BRESENHAM"
                           : raster.line_mode == VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT ? "RECTANGULAR_SMOOTH"
                                                                                                   : nullptr;
  if (!mode) return Ok{};
  const char* const given = m.alpha_to_coverage ? "alphaToCoverageEnable"
                            : m.alpha_to_one    ? "alphaToOneEnable"
                            : m.sample_shading  ? "sampleShadingEnable"
                                                : nullptr;
  if (!given) return Ok{};
  return check.error(std::string("lineRasterizationMode is ") + mode + " and " + given + " is true; with BRESENHAM and " +
                     "RECTANGULAR_SMOOTH it must be false (" + rule + ")");
}

}  // namespace

Status check_lines(const Program& program, const GraphicsState& state, DynamicStates dynamic) {
  const Checker check{program};
  const RasterizationState& raster = state.rasterization;
  const bool fixed_mode = !dynamic.has(DynamicState::line_rasterization_mode);
  if (raster.line_mode < VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT || raster.line_mode > VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT)
    return check.error("lineRasterizationMode is number " + std::to_string(raster.line_mode) +
                       "; allowed are VK_LINE_RASTERIZATION_MODE_DEFAULT, _RECTANGULAR, _BRESENHAM and _RECTANGULAR_SMOOTH");
  if (fixed_mode) {
    MultisampleState known = state.multisample;
    if (dynamic.has(DynamicState::alpha_to_coverage_enable)) known.alpha_to_coverage = false;
    if (dynamic.has(DynamicState::alpha_to_one_enable)) known.alpha_to_one = false;
    if (Status ok = check_line_samples(check, raster, known, "VUID-VkGraphicsPipelineCreateInfo-lineRasterizationMode-02766"); !ok)
      return ok;
  }
  if (dynamic.has(DynamicState::line_stipple_enable)) return Ok{};
  GraphicsState known = state;  // what is dynamic is as it may be
  if (!fixed_mode) known.rasterization.line_mode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
  if (dynamic.has(DynamicState::line_stipple)) known.rasterization.line_stipple_factor = 1;
  return check_line_state(program, known);
}

Status check_line_state(const Program& program, const FixedFunctionState& state) {
  const RasterizationState& raster = state.rasterization;
  const Checker check{program};
  if (!raster.line_stipple) return Ok{};
  if (raster.line_stipple_factor == 0 || raster.line_stipple_factor > kMaxLineStippleFactor)
    return check.error("lineStippleFactor is " + std::to_string(raster.line_stipple_factor) + "; it must be 1 to " +
                       std::to_string(kMaxLineStippleFactor));
  if (raster.line_mode != VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT) return Ok{};
  return check.error(
      "stippledLineEnable is true and lineRasterizationMode is DEFAULT, whose lines are not strict here (strictLines is false) and have no "
      "stipple; set RECTANGULAR, BRESENHAM or RECTANGULAR_SMOOTH");
}

Status check_drawn_lines(const Program& program, const GraphicsState& state) {
  if (Status ok = check_line_state(program, state); !ok) return ok;
  if (!draws_lines(state, program.primitives.made_vertices())) return Ok{};
  return check_line_samples(Checker{program}, state.rasterization, state.multisample, "VUID-vkCmdDraw-None-10608");
}

Status forbidden_of(const GraphicsPipelineCreateInfo& info) {
  const auto error = [&](const std::string& text) {
    return Error{VK_ERROR_INITIALIZATION_FAILED, "pipeline '" + info.label + "': " + text};
  };
  if (info.depth_format && info.stencil_format && info.depth_format != info.stencil_format)
    return error("depth has format " + format_name(info.depth_format) + " and stencil " + format_name(info.stencil_format) +
                 "; where a pass has both, they are one image, of a format with both such as d24_unorm_s8_uint");
  for (const VkVertexInputAttributeDescription& a : info.vertex_attributes)
    if (a.location >= kMaxVertexAttributes)
      return error("vertex attribute at location " + std::to_string(a.location) + ": locations go from 0 to " +
                   std::to_string(kMaxVertexAttributes - 1));
  const MultisampleState& m = info.multisample;
  if (m.sample_shading && !(m.min_sample_shading >= 0 && m.min_sample_shading <= 1))
    return error("min_sample_shading is " + float_text(m.min_sample_shading) + "; it must be 0 to 1, a share of the samples");
  return Ok{};
}

// What a mesh shader reads of a payload that its task shader has not is 0.
static Status check_payload(const Program& program) {
  const Stage *task = program.find(VK_SHADER_STAGE_TASK_BIT_EXT), *mesh = program.find(VK_SHADER_STAGE_MESH_BIT_EXT);
  const uint32_t read_B = mesh ? mesh->traits.payload_B : 0, there_B = task ? task->traits.payload_B : 0;
  if (read_B <= there_B) return Ok{};
  const std::string reads = "the mesh shader reads a payload (taskPayloadSharedEXT) of " + std::to_string(read_B) + " bytes, and ";
  return Checker{program}.error(reads + (there_B ? "that of the task shader has " + std::to_string(there_B) + "; declare the same in both"
                                         : task  ? "the task shader writes none; write it there, or leave it out"
                                                 : "there is no task shader that writes it; give one, or leave it out"));
}

Status forbidden_of(const Program& program) {
  if (Status ok = check_payload(program); !ok) return ok;
  for (const Stage& stage : program.stages) {
    const uint32_t clip = stage.traits.clip_distances, cull = stage.traits.cull_distances;
    if (clip + cull > kMaxClipAndCullDistances)
      return Checker{program}.error(std::string("the ") + stage_name(stage.stage) + " shader has " + std::to_string(clip) +
                                    " clip distances and " + std::to_string(cull) + " cull distances; at most " +
                                    std::to_string(kMaxClipAndCullDistances) + " together are allowed");
  }
  return Ok{};
}

bool feeds_all_inputs(const Program& program, const GraphicsState& state) {
  const Stage* vertex = program.find(VK_SHADER_STAGE_VERTEX_BIT);
  if (!vertex) return true;
  const auto fed = [&](uint32_t location) {
    return std::any_of(state.vertex_attributes.begin(), state.vertex_attributes.end(),
                       [&](const auto& a) { return a.location == location; });
  };
  for (const ReflectedVariable& input : vertex->reflection->inputs)
    for (uint32_t l = input.location; input.used && l < input.location + locations_of(input.type); l++)
      if (!fed(fed_by(input.type, input.location, l))) return false;
  return true;
}

Status check_state(const Program& program, const GraphicsState& state) {
  const Checker check{program};
  if (!program.primitives.meshes)
    if (Status ok = check.vertex_input(state); !ok) return ok;
  if (Status ok = check.blending(state); !ok) return ok;
  return check.multisampling(state);
}

}  // namespace tilegpu::pipeline
