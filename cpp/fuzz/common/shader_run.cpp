// fuzz/common/shader_run.cpp -- see shader_run.hpp.
#include "common/shader_run.hpp"

#include <algorithm>
#include <map>
#include <spirv/unified1/spirv.hpp>

#include "shader/compiler.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kSize_px = 8, kVertices = 6, kHeader = 5;
constexpr uint64_t kBuffer_B = 2048;
using Base = ReflectedType::Base;

/// f(instruction's words) for each; stops where the lengths are wrong.
template <class F>
void each_instruction(std::vector<uint32_t>& words, F&& f) {
  for (size_t at = kHeader; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return;
    f(&words[at], count);
    at += count;
  }
}

std::string entry_point_of(std::vector<uint32_t>& words) {
  std::string name;
  bool found = false;
  each_instruction(words, [&](const uint32_t* i, uint32_t count) {
    if (found || (i[0] & 0xffff) != spv::OpEntryPoint || count < 4) return;
    found = true;
    const char* text = reinterpret_cast<const char*>(i + 3);
    name.assign(text, strnlen(text, (count - 3) * size_t{4}));
  });
  return name;
}

void leave_one_invocation(std::vector<uint32_t>& words) {
  each_instruction(words, [](uint32_t* i, uint32_t count) {
    if ((i[0] & 0xffff) == spv::OpExecutionMode && count == 6 && i[2] == spv::ExecutionModeLocalSize) i[3] = i[4] = i[5] = 1;
  });
}

// -- the other stages

/// By location: what kind of number lies there. Empty where it is no number of 32 bits.
using Locations = std::map<uint32_t, Base>;

bool add_locations(const ReflectedType& type, uint32_t location, Locations& to) {
  using Kind = ReflectedType::Kind;
  if (type.kind == Kind::array || type.kind == Kind::structure) {
    const size_t parts = type.kind == Kind::array ? std::min(type.array_length, 32u) : type.members.size();
    for (size_t k = 0; k < parts && !type.members.empty(); k++) {
      const ReflectedType& part = type.members[type.kind == Kind::array ? 0 : k].type;
      if (!add_locations(part, location, to)) return false;
      location += locations_of(part);
    }
    return true;
  }
  if (type.base != Base::f32 && type.base != Base::i32 && type.base != Base::u32) return false;
  for (uint32_t k = 0; k < locations_of(type); k++) to[location + k] = type.base;
  return true;
}

bool locations_of_all(const std::vector<ReflectedVariable>& variables, Locations& to) {
  return std::all_of(variables.begin(), variables.end(),
                     [&](const ReflectedVariable& v) { return v.patch || add_locations(v.type, v.location, to); });
}

const char* vector_name(Base base) { return base == Base::f32 ? "vec4" : base == Base::i32 ? "ivec4" : "uvec4"; }

/// Writes what the next stage reads: two triangles over most of the framebuffer, with edges through quads.
std::string vertex_text(const Locations& written) {
  std::string text = "#version 450\n", body;
  for (const auto& [location, base] : written) {
    const std::string number = std::to_string(location);
    text += "layout(location = " + number + ") out " + vector_name(base) + " v" + number + ";\n";
    body += "  v" + number + " = " + vector_name(base) + "(gl_VertexIndex * 3 - 4 + " + number + ", gl_VertexIndex - 2, 7 - " + number +
            ", gl_VertexIndex * gl_VertexIndex);\n";
  }
  return text + "void main() {\n" + body +
         "  vec2 at[6] = vec2[](vec2(-1, -1), vec2(1.3, -0.9), vec2(-0.8, 1.2), vec2(0.1, 0.9), vec2(0.9, -0.2), vec2(1, 1));\n"
         "  gl_Position = vec4(at[gl_VertexIndex % 6], 0.25 + 0.1 * gl_VertexIndex, 1);\n  gl_PointSize = 2;\n}";
}

/// Shows what the stage before it wrote.
std::string fragment_text(const Locations& read) {
  std::string text = "#version 450\nlayout(location = 0) out uvec4 o;\n", body = "  uvec4 sum = uvec4(gl_FragCoord.z * 4096.0);\n";
  for (const auto& [location, base] : read) {
    const std::string name = "v" + std::to_string(location);
    text += "layout(location = " + std::to_string(location) + ") flat in " + vector_name(base) + " " + name + ";\n";
    body += "  sum = sum * 31u + " + (base == Base::f32 ? "floatBitsToUint(" + name + ")" : "uvec4(" + name + ")") + ";\n";
  }
  return text + "void main() {\n" + body + "  o = sum;\n}";
}

constexpr const char* kControl =
    "#version 450\nlayout(vertices = 3) out;\nvoid main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n"
    "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 2.0;\n"
    "gl_TessLevelInner[0] = gl_TessLevelInner[1] = 2.0; }";
constexpr const char* kEvaluation =
    "#version 450\nlayout(triangles) in;\nvoid main() { gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * "
    "gl_TessCoord.y + gl_in[2].gl_Position * gl_TessCoord.z; }";

/// False where the module's neighbours can't be made.
bool add_stages(const Ptr<ShaderModule>& module, std::vector<ShaderStage>& stages) {
  const Reflection& r = module->reflection();
  const auto own = [&](const std::string& text, VkShaderStageFlagBits stage) {
    Ptr<ShaderModule> made = own_shader(text, stage);
    if (made) stages.push_back({made, {}});
    return made != nullptr;
  };
  Locations read, written;
  const bool reads = locations_of_all(r.inputs, read), writes = locations_of_all(r.outputs, written);
  switch (r.stage) {
    case VK_SHADER_STAGE_VERTEX_BIT:
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT:
    case VK_SHADER_STAGE_GEOMETRY_BIT:
      if (!writes || !own(fragment_text(written), VK_SHADER_STAGE_FRAGMENT_BIT)) return false;
      if (r.stage == VK_SHADER_STAGE_VERTEX_BIT) return true;
      if (r.stage == VK_SHADER_STAGE_GEOMETRY_BIT) return reads && own(vertex_text(read), VK_SHADER_STAGE_VERTEX_BIT);
      return own(vertex_text({}), VK_SHADER_STAGE_VERTEX_BIT) && own(kControl, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT);
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT:
      return reads && own(vertex_text(read), VK_SHADER_STAGE_VERTEX_BIT) && own(kEvaluation, VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT) &&
             own(fragment_text({}), VK_SHADER_STAGE_FRAGMENT_BIT);
    case VK_SHADER_STAGE_FRAGMENT_BIT:
      return reads && own(vertex_text(read), VK_SHADER_STAGE_VERTEX_BIT);
    default:
      return false;
  }
}

// -- what is bound

struct Bound {
  std::vector<Ptr<Buffer>> buffers;
  std::vector<Ptr<ImageView>> views;
  std::vector<Ptr<DescriptorSet>> sets;
};

Descriptor descriptor_for(const ReflectedBinding& b, Bound& bound) {
  Descriptor d;
  const ReflectedType& type = b.type.kind == ReflectedType::Kind::array && !b.type.members.empty() ? b.type.members[0].type : b.type;
  switch (b.descriptor) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
      d.buffer = patterned_buffer(kBuffer_B, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
      break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER: {
      d.buffer = patterned_buffer(kBuffer_B, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
      VkFormat format = type.format;
      if (format == VK_FORMAT_UNDEFINED)
        format = type.base == Base::i32 ? VK_FORMAT_R32_SINT : type.base == Base::u32 ? VK_FORMAT_R32_UINT : VK_FORMAT_R32_SFLOAT;
      if (auto view = BufferView::create({.buffer = d.buffer, .format = format})) d.texels = *view;
      bound.buffers.push_back(d.buffer);
      d.buffer = nullptr;
      return d;
    }
    case VK_DESCRIPTOR_TYPE_SAMPLER:
      d.sampler = sampler(type.depth_compare);
      return d;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      d.sampler = sampler(type.depth_compare);
      [[fallthrough]];
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
      d.view = patterned_view(type);
      break;
    default:
      break;
  }
  if (d.buffer) bound.buffers.push_back(d.buffer);
  if (d.view) bound.views.push_back(d.view);
  return d;
}

/// What can't be written stays a null descriptor.
Bound bind_all(const Ptr<Device>& device, const PipelineLayout& layout, const Reflection& reflection) {
  constexpr uint32_t kMostElements = 4;
  Bound bound;
  for (const auto& of : layout.sets) {
    Ptr<DescriptorSet> set;
    if (of)
      if (auto made = device->create_descriptor_set(of)) set = *made;
    bound.sets.push_back(set);
  }
  for (const ReflectedBinding& b : reflection.bindings) {
    if (!b.used || b.set >= bound.sets.size() || !bound.sets[b.set]) continue;
    for (uint32_t k = 0; k < std::min(std::max(b.count, 1u), kMostElements); k++)
      (void)bound.sets[b.set]->write(b.binding, k, descriptor_for(b, bound));
  }
  return bound;
}

std::vector<std::pair<uint32_t, uint64_t>> values_for(const Reflection& reflection, bool specialise) {
  std::vector<std::pair<uint32_t, uint64_t>> values;
  if (specialise)
    for (const ReflectedConstant& c : reflection.constants) values.emplace_back(c.constant_id, c.default_bits ^ (3 + c.constant_id % 5));
  return values;
}

// -- runs

void push(CommandBuffer& cb, const PipelineLayout& layout) {
  std::array<float, kMaxPushConstants_B / 4> words;
  for (size_t k = 0; k < words.size(); k++) words[k] = 0.5f + static_cast<float>(k % 13);
  if (layout.push_constants_B) (void)cb.push_constants(0, words.data(), layout.push_constants_B);
}

bool submit(const Ptr<Device>& device, const Ptr<CommandBuffer>& cb, const Bound& bound, ShaderRun& run) {
  auto done = device->submit_and_wait({{cb}, {}}, {});
  if (!done) {
    run.error = done.error().message;
    return false;
  }
  for (const auto& buffer : bound.buffers) append(run.result, *buffer);
  for (const auto& view : bound.views) append(run.result, *view->image());
  return run.ran = true;
}

void dispatch(const Ptr<Device>& device, const Ptr<ShaderModule>& module, const HowToRun& how, ShaderRun& run) {
  auto pipeline =
      device->create_pipeline(ComputePipelineCreateInfo{{module, values_for(module->reflection(), how.specialise)}, nullptr, "shader"});
  run.is_pipeline = static_cast<bool>(pipeline);
  if (!pipeline) {
    run.error = pipeline.error().message;
    return;
  }
  const PipelineLayout& layout = *(*pipeline)->info().layout;
  const Bound bound = bind_all(device, layout, module->reflection());
  run.has_one_result = (*pipeline)->workgroup_size() == std::array{1u, 1u, 1u};
  auto cb = std::make_shared<CommandBuffer>(device);
  take(cb->begin(), "begin");
  cb->bind_pipeline(*pipeline);
  for (uint32_t k = 0; k < bound.sets.size(); k++)
    if (bound.sets[k]) cb->bind_descriptor_set(k, bound.sets[k], {}, VK_PIPELINE_BIND_POINT_COMPUTE);
  push(*cb, layout);
  if (Status ok = cb->dispatch(1, 1, 1); !ok) {
    run.error = ok.error().message;
    return;
  }
  if (Status ok = cb->end(); !ok) {
    run.error = ok.error().message;
    return;
  }
  submit(device, cb, bound, run);
}

void describe_targets(const Ptr<ShaderModule>& module, GraphicsPipelineCreateInfo& info) {
  const Reflection& r = module->reflection();
  if (r.stage != VK_SHADER_STAGE_FRAGMENT_BIT) {
    info.color_formats = {VK_FORMAT_R32G32B32A32_UINT};
  } else {
    Locations written;
    if (!locations_of_all(r.outputs, written)) written.clear();
    for (const auto& [location, base] : written) {
      if (location >= kMaxColorAttachments) continue;
      info.color_formats.resize(std::max<size_t>(info.color_formats.size(), location + 1), VK_FORMAT_UNDEFINED);
      info.color_formats[location] = base == Base::f32   ? VK_FORMAT_R32G32B32A32_SFLOAT
                                     : base == Base::i32 ? VK_FORMAT_R32G32B32A32_SINT
                                                         : VK_FORMAT_R32G32B32A32_UINT;
    }
  }
  info.depth_format = VK_FORMAT_D32_SFLOAT;
  info.depth_stencil.depth_test = info.depth_stencil.depth_write = true;
  info.depth_stencil.depth_compare = VK_COMPARE_OP_ALWAYS;
}

void describe_input(const Reflection& r, GraphicsPipelineCreateInfo& info) {
  switch (r.stage) {
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT:
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT:
      info.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
      break;
    default:
      info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
      break;
  }
  if (r.stage != VK_SHADER_STAGE_VERTEX_BIT) return;
  Locations read;
  if (!locations_of_all(r.inputs, read)) return;
  info.vertex_bindings.push_back({{0, 16, VK_VERTEX_INPUT_RATE_VERTEX}, 1});
  for (const auto& [location, base] : read)
    info.vertex_attributes.push_back({location, 0,
                                      base == Base::f32   ? VK_FORMAT_R32G32B32A32_SFLOAT
                                      : base == Base::i32 ? VK_FORMAT_R32G32B32A32_SINT
                                                          : VK_FORMAT_R32G32B32A32_UINT,
                                      location * 16});
}

/// The pipeline, for whatever primitives a geometry shader takes.
Expected<Ptr<Pipeline>> pipeline_of(const Ptr<Device>& device, GraphicsPipelineCreateInfo& info) {
  Expected<Ptr<Pipeline>> made = device->create_pipeline(info);
  if (made) return made;
  for (VkPrimitiveTopology topology :
       {VK_PRIMITIVE_TOPOLOGY_POINT_LIST, VK_PRIMITIVE_TOPOLOGY_LINE_LIST, VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY,
        VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY}) {
    if (made.error().message.find("the geometry shader takes primitives of") == std::string::npos) break;
    info.topology = topology;
    if (Expected<Ptr<Pipeline>> again = device->create_pipeline(info)) return again;
  }
  return made;
}

void draw(const Ptr<Device>& device, const Ptr<ShaderModule>& module, const HowToRun& how, ShaderRun& run) {
  GraphicsPipelineCreateInfo info;
  info.label = "shader";
  if (!add_stages(module, info.stages)) {
    run.error = "no stages fit it";
    return;
  }
  info.stages.push_back({module, values_for(module->reflection(), how.specialise)});
  describe_targets(module, info);
  describe_input(module->reflection(), info);
  Expected<Ptr<Pipeline>> pipeline = pipeline_of(device, info);
  run.is_pipeline = static_cast<bool>(pipeline);
  if (!pipeline) {
    run.error = pipeline.error().message;
    return;
  }
  Expected<shader::StageTraits> traits = shader::analyze(*module, info.stages.back().specialization);
  run.has_one_result = traits && !traits->writes_memory;
  const PipelineLayout& layout = *(*pipeline)->info().layout;
  const Bound bound = bind_all(device, layout, module->reflection());
  RenderingInfo pass;
  pass.label = "shader";
  for (VkFormat format : info.color_formats) {
    RenderingAttachment& a = pass.color.emplace_back();
    if (format == VK_FORMAT_UNDEFINED) continue;
    a.view = target(format, VK_SAMPLE_COUNT_1_BIT, kSize_px, kSize_px), a.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.clear.color.uint32[0] = 0x3f000000;
  }
  pass.depth.view = target(info.depth_format, VK_SAMPLE_COUNT_1_BIT, kSize_px, kSize_px);
  pass.depth.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR, pass.depth.clear.depthStencil = {0.5f, 0};
  auto cb = std::make_shared<CommandBuffer>(device);
  take(cb->begin(), "begin");
  Status ok = cb->begin_rendering(pass);
  if (ok) {
    cb->bind_pipeline(*pipeline);
    cb->bind_vertex_buffer(0, patterned_buffer(1024, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT), 0);
    for (uint32_t k = 0; k < bound.sets.size(); k++)
      if (bound.sets[k]) cb->bind_descriptor_set(k, bound.sets[k]);
    push(*cb, layout);
    ok = cb->draw(kVertices, 1, 0, 0);
  }
  if (ok) ok = cb->end_rendering();
  if (ok) ok = cb->end();
  if (!ok) {
    run.error = ok.error().message;
    return;
  }
  if (!submit(device, cb, bound, run)) return;
  for (const RenderingAttachment& a : pass.color)
    if (a.view) append(run.result, *a.view->image());
  append(run.result, *pass.depth.view->image());
}

}  // namespace

ShaderRun run_shader(const Ptr<Device>& device, std::vector<uint32_t> words, const HowToRun& how) {
  ShaderRun run;
  if (how.alone) leave_one_invocation(words);
  const std::string entry = entry_point_of(words);
  Expected<Ptr<ShaderModule>> module = device->create_shader_module(std::move(words), "shader", entry.empty() ? "main" : entry);
  run.is_module = static_cast<bool>(module);
  if (!module) {
    run.error = module.error().message;
    if (run.error.empty()) finding("a module was refused without a word");
    return run;
  }
  if ((*module)->reflection().stage == VK_SHADER_STAGE_COMPUTE_BIT)
    dispatch(device, *module, how, run);
  else
    draw(device, *module, how, run);
  if (!run.ran && run.error.empty()) finding("a shader was refused without a word");
  return run;
}

}  // namespace tilegpu::fuzz
