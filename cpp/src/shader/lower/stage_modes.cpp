// shader/lower/stage_modes.cpp -- see stage_modes.hpp.
#include "shader/lower/stage_modes.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <tuple>

#include "shader/spirv/workgroup.hpp"

namespace tilegpu::shader {

PrimitiveModes primitive_modes(const Module& m) {
  PrimitiveModes modes;
  const bool geometry = m.entry.model == spv::ExecutionModelGeometry;
  for (const auto& [mode, values] : m.entry.modes) {
    const uint32_t value = values.empty() ? 0 : values[0];
    switch (mode) {
      case spv::ExecutionModeInvocations:
        modes.invocations = value;
        break;
      case spv::ExecutionModeOutputPrimitivesEXT:
        modes.output_primitives = value;
        break;
      case spv::ExecutionModeOutputVertices:
        modes.output_vertices = value;
        break;
      case spv::ExecutionModeInputPoints:
        modes.input_vertices = 1;
        break;
      case spv::ExecutionModeInputLines:
        modes.input_vertices = 2;
        break;
      case spv::ExecutionModeInputLinesAdjacency:
        modes.input_vertices = 4;
        break;
      case spv::ExecutionModeTriangles:
        if (geometry)
          modes.input_vertices = 3;
        else
          modes.domain = PrimitiveModes::Domain::triangles;
        break;
      case spv::ExecutionModeInputTrianglesAdjacency:
        modes.input_vertices = 6;
        break;
      case spv::ExecutionModeQuads:
        modes.domain = PrimitiveModes::Domain::quads;
        break;
      case spv::ExecutionModeIsolines:
        modes.domain = PrimitiveModes::Domain::isolines;
        break;
      case spv::ExecutionModeSpacingEqual:
        modes.spacing = PrimitiveModes::Spacing::equal;
        break;
      case spv::ExecutionModeSpacingFractionalEven:
        modes.spacing = PrimitiveModes::Spacing::fractional_even;
        break;
      case spv::ExecutionModeSpacingFractionalOdd:
        modes.spacing = PrimitiveModes::Spacing::fractional_odd;
        break;
      case spv::ExecutionModeVertexOrderCw:
        modes.order = PrimitiveModes::Order::clockwise;
        break;
      case spv::ExecutionModeVertexOrderCcw:
        modes.order = PrimitiveModes::Order::counter_clockwise;
        break;
      case spv::ExecutionModePointMode:
        modes.point_mode = true;
        break;
      case spv::ExecutionModeOutputPoints:
        modes.made_vertices = 1;
        break;
      case spv::ExecutionModeOutputLineStrip:
      case spv::ExecutionModeOutputLinesEXT:
        modes.made_vertices = 2;
        break;
      case spv::ExecutionModeOutputTriangleStrip:
      case spv::ExecutionModeOutputTrianglesEXT:
        modes.made_vertices = 3;
        break;
      default:
        break;
    }
  }
  return modes;
}

Status check_modes(const Module& m, const PrimitiveModes& modes) {
  const auto wrong = [](const std::string& what, uint32_t value, uint32_t most) {
    return Error{VK_ERROR_INVALID_SHADER_NV, what + " is " + std::to_string(value) + "; 1 to " + std::to_string(most) + " are allowed"};
  };
  if (m.entry.model == spv::ExecutionModelTessellationControl && (modes.output_vertices == 0 || modes.output_vertices > kMaxPatchVertices))
    return wrong("the number of vertices that the control shader puts out (layout(vertices = ...))", modes.output_vertices,
                 kMaxPatchVertices);
  if (m.entry.model == spv::ExecutionModelMeshEXT) {
    if (modes.made_vertices == 0)
      return Error{VK_ERROR_INVALID_SHADER_NV,
                   "the mesh shader does not say what it makes; declare layout(points), (lines) or (triangles) out"};
    if (modes.output_vertices == 0 || modes.output_vertices > kMaxMeshVertices)
      return wrong("max_vertices", modes.output_vertices, kMaxMeshVertices);
    if (modes.output_primitives == 0 || modes.output_primitives > kMaxMeshPrimitives)
      return wrong("max_primitives", modes.output_primitives, kMaxMeshPrimitives);
  }
  if (m.entry.model != spv::ExecutionModelGeometry) return Ok{};
  if (modes.input_vertices == 0 || modes.made_vertices == 0)
    return Error{VK_ERROR_INVALID_SHADER_NV, "the geometry shader does not say what primitives it takes and makes"};
  if (modes.output_vertices == 0 || modes.output_vertices > kMaxEmittedVertices)
    return wrong("max_vertices", modes.output_vertices, kMaxEmittedVertices);
  if (modes.invocations == 0 || modes.invocations > kMaxGeometryInvocations)
    return wrong("the number of invocations of the geometry shader", modes.invocations, kMaxGeometryInvocations);
  return Ok{};
}

Status check_lengths(const Module& m, const Constants& constants, const PrimitiveModes& modes) {
  // A patch may have fewer vertices than there is room for, and a control shader's outputs are as many as it puts out.
  if (m.entry.model != spv::ExecutionModelGeometry) return Ok{};
  assert(modes.input_vertices >= 1 && modes.input_vertices <= kMaxPatchVertices);  // check_modes was asked before
  for (uint32_t id : used_variables(m, spv::StorageClassInput)) {
    if (!is_per_vertex(m, id)) continue;
    // Fewer than there are can be had: the first ones.
    if (array_length(constants, m.pointee(id)) <= modes.input_vertices) continue;
    return Error{VK_ERROR_INVALID_SHADER_NV, "input '" + m.name(id) + "' is an array of " +
                                                 std::to_string(array_length(constants, m.pointee(id))) +
                                                 " vertices; the primitives have " + std::to_string(modes.input_vertices)};
  }
  return Ok{};
}

namespace {

void add_words(const Module& m, const Constants& constants, const SharedVariable& v, InterfaceMemory& out) {
  assert(v.scalar_B && v.offset_B % v.scalar_B == 0);
  const bool vertices = is_per_vertex(m, v.id), patch = is_of_patch(m, v.id), primitive = is_per_primitive(m, v.id);
  assert(!(vertices && patch));  // an array over the vertices, or one for all of them
  const uint32_t type = m.pointee(v.id), of_one = vertices ? m.type(type).element : type;
  const auto step_B = static_cast<uint32_t>(scalar_count(constants, of_one) * v.scalar_B);
  const uint32_t count = vertices ? vertex_count(m, constants, v.id) : 1;
  const auto scalars = interface_of(m, constants, v.id);
  const auto used = used_scalars(m, constants, v.id);
  auto offset_B = static_cast<uint32_t>(v.offset_B);
  bool upper = false;  // the second word of a scalar of 64 bits
  const auto wide = scalar_widths(m, constants, v.id);
  for (size_t k = 0; k < scalars.size() && k < used.size() && k < wide.size(); ++k) {
    const InterfaceScalar& s = scalars[k];
    const uint32_t location = s.builtin == kNone ? s.location : builtin_location(s.builtin);
    if (used[k] && location != kNone)
      out.words.push_back({static_cast<uint8_t>(location), static_cast<uint8_t>(s.builtin == kNone ? s.component : s.element), patch,
                           primitive, static_cast<uint8_t>(v.scalar_B), static_cast<uint8_t>(upper ? 4 : 0), offset_B,
                           vertices ? step_B : 0, count});
    upper = wide[k] && !upper;
    if (!upper) offset_B += v.scalar_B;
  }
}

}  // namespace

InterfaceMemory input_memory(const Module& m, const Constants& constants) {
  InterfaceMemory memory;
  if (m.entry.model == spv::ExecutionModelTessellationControl) {
    const WorkgroupFacts facts = workgroup_of(m, constants);
    memory.size_B = static_cast<uint32_t>(facts.shared_B + facts.inputs_B);
    for (const SharedVariable& v : facts.shared)
      if (m.storage_of(v.id) == spv::StorageClassInput) add_words(m, constants, v, memory);
    return memory;
  }
  if (is_task_or_mesh(m.entry.model)) {
    const WorkgroupFacts facts = workgroup_of(m, constants);
    memory.size_B = static_cast<uint32_t>(facts.shared_B + facts.inputs_B);
    return memory;
  }
  const PlacedInputs placed = placed_inputs(m, constants);
  memory.size_B = static_cast<uint32_t>(placed.size_B);
  for (const SharedVariable& v : placed.variables) add_words(m, constants, v, memory);
  return memory;
}

InterfaceMemory output_memory(const Module& m, const Constants& constants) {
  InterfaceMemory memory;
  if (m.entry.model != spv::ExecutionModelTessellationControl && m.entry.model != spv::ExecutionModelMeshEXT) return memory;
  const WorkgroupFacts facts = workgroup_of(m, constants);
  memory.size_B = static_cast<uint32_t>(facts.shared_B);
  for (const SharedVariable& v : facts.shared)
    if (m.storage_of(v.id) == spv::StorageClassOutput) add_words(m, constants, v, memory);
  return memory;
}

namespace {

/// Where a variable or a member of its block is captured.
struct Place {
  uint32_t buffer = kNone, offset_B = kNone, stride_B = kNone, stream = 0;
  Place with(const Decorations& d) const {
    Place p = *this;
    if (d.xfb_buffer != kNone) p.buffer = d.xfb_buffer;
    if (d.xfb_stride_B != kNone) p.stride_B = d.xfb_stride_B;
    if (d.offset_B != kNone) p.offset_B = d.offset_B;
    if (d.stream) p.stream = d.stream;
    return p;
  }
};

/// Where the words of a type that is captured from `offset_B` on go: one behind the other, but what has scalars of 64 bits begins at a
/// multiple of 8, and structures with such end at one (GLSL 4.60, "Transform Feedback Layout Qualifiers").
struct CapturedType {
  const Module& m;
  const Constants& constants;
  std::vector<uint32_t> offsets_B = {};
  uint32_t end_B = 0;

  void go(uint32_t type) {
    const TypeInfo& t = m.type(type);
    const bool wide = constants.size(type).widest_B > 4;
    const auto align = [&] { end_B = wide ? (end_B + 7) & ~7u : end_B; };
    align();
    if (t.kind == Kind::structure) {
      for (uint32_t member : t.members) go(member);
      align();
      return;
    }
    const uint32_t count = t.kind == Kind::array                              ? array_length(constants, type)
                           : t.kind == Kind::vector || t.kind == Kind::matrix ? t.count
                                                                              : 0;
    for (uint32_t k = 0; k < count; ++k) go(t.element);
    for (uint32_t words = count || t.element ? 0 : wide ? 2 : 1; words; --words, end_B += 4) offsets_B.push_back(end_B);
  }
  static CapturedType of(const Module& m, const Constants& constants, uint32_t type, const Place& place) {
    CapturedType made{m, constants, {}, place.offset_B == kNone ? 0 : place.offset_B};
    made.go(type);
    return made;
  }
};

struct Capture {
  TransformFeedback out;
  std::string wrong;

  /// Words [first, first + offsets_B.size()) of the variable's interface, at these offsets of the buffer, the last one before end_B.
  void add(const std::vector<InterfaceScalar>& scalars, uint64_t first, const Place& place, const CapturedType& type) {
    const std::vector<uint32_t>& offsets_B = type.offsets_B;
    if (place.buffer == kNone || place.offset_B == kNone) return;
    assert(first <= scalars.size());
    if (place.buffer >= kMaxTransformFeedbackBuffers || place.stream >= kMaxStreams) {
      wrong = "transform feedback goes to buffer " + std::to_string(place.buffer) + " from stream " + std::to_string(place.stream) +
              "; there are buffers 0 to 3 and streams 0 to 3";
      return;
    }
    const auto narrow = [](const InterfaceScalar& s) { return s.narrow; };
    if (std::any_of(scalars.begin() + static_cast<ptrdiff_t>(first),
                    scalars.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(first + offsets_B.size(), scalars.size())), narrow)) {
      wrong = "transform feedback captures an output of 16 bits (buffer " + std::to_string(place.buffer) + ", offset " +
              std::to_string(place.offset_B) + "); outputs of 32 and 64 bits can be captured";
      return;
    }
    if (place.stride_B == kNone || place.stride_B % 4 || place.stride_B > kMaxTransformFeedbackStride_B || place.offset_B % 4 ||
        type.end_B > place.stride_B) {
      wrong = "transform feedback captures bytes " + std::to_string(place.offset_B) + " to " + std::to_string(type.end_B) + " of buffer " +
              std::to_string(place.buffer) + ", whose stride is " + std::to_string(place.stride_B) +
              "; multiples of 4 within a stride of at most " + std::to_string(kMaxTransformFeedbackStride_B) + " are allowed";
      return;
    }
    if (out.stride_B[place.buffer] && out.stride_B[place.buffer] != place.stride_B) {
      wrong = "transform feedback has strides " + std::to_string(out.stride_B[place.buffer]) + " and " + std::to_string(place.stride_B) +
              " for buffer " + std::to_string(place.buffer) + "; give it one";
      return;
    }
    out.stride_B[place.buffer] = place.stride_B;
    for (uint64_t k = 0; k < offsets_B.size() && first + k < scalars.size(); ++k) {
      const InterfaceScalar& s = scalars[first + k];
      const uint32_t location = s.builtin == kNone ? s.location : builtin_location(s.builtin);
      if (location == kNone) continue;
      out.words.push_back({place.stream, place.buffer, offsets_B[k], location, s.builtin == kNone ? s.component : s.element});
    }
  }
};

/// Words sorted by stream, buffer and offset: two at one place, or a buffer of two streams; empty: neither.
std::string overlap_of(const std::vector<CapturedWord>& words) {
  uint32_t stream_of[kMaxTransformFeedbackBuffers] = {kNone, kNone, kNone, kNone};
  for (size_t k = 0; k < words.size(); ++k) {
    const CapturedWord& w = words[k];
    assert(w.buffer < kMaxTransformFeedbackBuffers && w.offset_B % 4 == 0);  // Capture::add refuses others
    if (k > 0 && words[k - 1].stream == w.stream && words[k - 1].buffer == w.buffer && w.offset_B < words[k - 1].offset_B + 4)
      return "transform feedback captures byte " + std::to_string(w.offset_B) + " of buffer " + std::to_string(w.buffer) + " twice";
    uint32_t& stream = stream_of[w.buffer];
    if (stream != kNone && stream != w.stream)
      return "transform feedback writes streams " + std::to_string(stream) + " and " + std::to_string(w.stream) + " to buffer " +
             std::to_string(w.buffer) + "; give each its own";
    stream = w.stream;
  }
  return {};
}

}  // namespace

Expected<TransformFeedback> transform_feedback_of(const Module& m, const Constants& constants) {
  if (!m.entry.has_mode(spv::ExecutionModeXfb)) return TransformFeedback{};
  Capture capture;
  for (uint32_t id : m.global_variables) {
    if (m.storage_of(id) != spv::StorageClassOutput) continue;
    if (std::find(m.entry.interface.begin(), m.entry.interface.end(), id) == m.entry.interface.end()) continue;
    const auto scalars = interface_of(m, constants, id);
    if (scalars.empty()) continue;  // or more than any interface has: its type is not walked
    const Place place = Place{}.with(m.decoration(id));
    uint32_t type = m.pointee(id);
    if (place.offset_B != kNone) {
      capture.add(scalars, 0, place, CapturedType::of(m, constants, type, place));
      continue;
    }
    uint64_t blocks = 1;  // of an array of blocks each has a buffer of its own, one after the other
    for (; m.type(type).kind == Kind::array; type = m.type(type).element) blocks *= array_length(constants, type);
    const std::vector<uint32_t>& members = m.type(type).members;
    uint64_t first = 0;
    for (uint32_t block = 0; block < blocks && first < scalars.size(); ++block)
      for (uint32_t k = 0; k < members.size(); ++k) {
        Place of = place.with(m.member(type, k));
        if (of.buffer != kNone) of.buffer += block;
        const CapturedType captured = CapturedType::of(m, constants, members[k], of);
        capture.add(scalars, first, of, captured);
        first += captured.offsets_B.size();
      }
  }
  if (!capture.wrong.empty()) return Error{VK_ERROR_INVALID_SHADER_NV, capture.wrong};
  std::sort(capture.out.words.begin(), capture.out.words.end(), [](const CapturedWord& a, const CapturedWord& b) {
    return std::tuple(a.stream, a.buffer, a.offset_B) < std::tuple(b.stream, b.buffer, b.offset_B);
  });
  if (std::string wrong = overlap_of(capture.out.words); !wrong.empty()) return Error{VK_ERROR_INVALID_SHADER_NV, wrong};
  return std::move(capture.out);
}

}  // namespace tilegpu::shader
