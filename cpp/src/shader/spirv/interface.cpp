// shader/spirv/interface.cpp -- see interface.hpp.
#include <spirv/unified1/GLSL.std.450.h>

#include "shader/spirv/interface.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <set>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

struct Walk {
  const Module& m;
  const Constants& constants;
  std::vector<InterfaceScalar>& out;

  /// Appends the scalars of `type`; `at` is advanced past the locations that it takes.
  void go(uint32_t type, InterfaceScalar& at) {
    const TypeInfo& t = m.type(type);
    switch (t.kind) {
      case Kind::boolean:
      case Kind::integer:
      case Kind::floating:
        vector(t, at, 1);
        break;
      case Kind::vector:
        vector(m.type(t.element), at, t.count);
        break;
      case Kind::matrix:
        for (uint32_t k = 0; k < t.count; ++k) go(t.element, at);
        break;
      case Kind::array:
        for (uint32_t k = 0; k < array_length(constants, type) && out.size() < 65536; ++k) go(t.element, at);
        break;
      case Kind::structure:
        for (uint32_t k = 0; k < t.members.size(); ++k) {
          const Decorations& member = m.member(type, k);
          InterfaceScalar part = at;
          if (member.builtin != kNone) part.builtin = member.builtin, part.location = kNone, part.element = 0;
          if (member.location != kNone) part.location = member.location;
          part.component = member.component == kNone ? 0 : member.component;
          decorate(part, member);
          go(t.members[k], part);
          if (member.builtin == kNone) at.location = part.location;
        }
        break;
      default:
        break;
    }
  }
  static void decorate(InterfaceScalar& at, const Decorations& d) {
    if (d.flat) at.interpolation = Interpolation::flat;
    if (d.noperspective) at.interpolation = Interpolation::noperspective;
    if (d.of_primitive) at.interpolation = Interpolation::flat;  // it comes with the vertex that provokes
    at.centroid = at.centroid || d.centroid;
    at.sample = at.sample || d.sample;
  }
  /// Scalars of 64 bits are two words each; what doesn't fit a location goes on in the next. Those of 16 bits are a word: halves a float
  /// with the same value.
  void vector(const TypeInfo& t, InterfaceScalar& at, uint32_t count) {
    const bool two_words = size_B(base_of(t)) == 8;
    for (uint32_t k = 0; k < (two_words ? 2 * count : count); ++k) {
      InterfaceScalar s = at;
      const uint32_t component = at.component + k;
      s.component = two_words ? component % 4 : component;
      if (two_words && at.location != kNone) s.location += component / 4, s.went_on = component >= 4;
      s.base = two_words ? Base::i32 : word_base(base_of(t));
      s.is_signed = t.is_signed, s.narrow = t.width_bits == 16;
      if (s.base != Base::f32 && s.base != Base::boolean) s.interpolation = Interpolation::flat;
      out.push_back(s);
      at.element++;
    }
    if (at.location != kNone) at.location += two_words && at.component + 2 * count > 4 ? 2 : 1;
  }
};

}  // namespace

Base base_of(const TypeInfo& scalar) {
  const bool is_float = scalar.kind == Kind::floating;
  assert(is_float || scalar.kind == Kind::integer || scalar.kind == Kind::boolean);
  if (scalar.kind == Kind::boolean) return Base::boolean;
  switch (scalar.width_bits) {
    case 8:
      return Base::i8;
    case 16:
      return is_float ? Base::f16 : Base::i16;
    case 64:
      return is_float ? Base::f64 : Base::i64;
    default:
      return is_float ? Base::f32 : Base::i32;
  }
}

Base word_base(Base base) { return base == Base::f16 ? Base::f32 : base == Base::i16 ? Base::i32 : base; }

uint32_t size_B(Base base) {
  switch (base) {
    case Base::i8:
      return 1;
    case Base::i16:
    case Base::f16:
      return 2;
    case Base::i64:
    case Base::f64:
      return 8;
    default:
      return 4;
  }
}

/// Of each word of a type the scalar that it is of.
static std::vector<uint32_t> words_in(const Module& m, const Constants& constants, uint32_t type) {
  std::vector<uint32_t> words;
  uint32_t scalars = 0;
  const std::function<void(uint32_t)> go = [&](uint32_t id) {
    const TypeInfo& t = m.type(id);
    const bool scalar = t.kind == Kind::boolean || t.kind == Kind::integer || t.kind == Kind::floating;
    if (scalar) words.insert(words.end(), t.width_bits == 64 ? 2 : 1, scalars++);
    if (t.kind == Kind::structure)
      for (uint32_t member : t.members) go(member);
    const uint32_t count = t.kind == Kind::array                              ? array_length(constants, id)
                           : t.kind == Kind::vector || t.kind == Kind::matrix ? t.count
                                                                              : 0;
    for (uint32_t k = 0; k < count && scalars < 65536; ++k) go(t.element);
  };
  go(type);
  return words;
}

/// An array that is one built-in by itself, not one for each vertex.
static bool is_whole_builtin(const Module& m, uint32_t variable) {
  const uint32_t builtin = m.decoration(variable).builtin;
  return builtin == spv::BuiltInTessLevelOuter || builtin == spv::BuiltInTessLevelInner || builtin == spv::BuiltInSampleMask;
}

bool is_per_vertex(const Module& m, uint32_t variable) {
  const bool output = m.storage_of(variable) == spv::StorageClassOutput;
  if (!output && m.storage_of(variable) != spv::StorageClassInput) return false;
  switch (m.entry.model) {
    case spv::ExecutionModelTessellationControl:
      break;
    case spv::ExecutionModelTessellationEvaluation:
    case spv::ExecutionModelGeometry:
      if (output) return false;
      break;
    case spv::ExecutionModelMeshEXT:
      if (!output) return false;
      break;
    default:
      return false;
  }
  return m.type(m.pointee(variable)).kind == Kind::array && !is_of_patch(m, variable) && !is_whole_builtin(m, variable);
}

uint32_t vertex_count(const Module& m, const Constants& constants, uint32_t variable) {
  assert(is_per_vertex(m, variable));
  uint32_t count = array_length(constants, m.pointee(variable));
  if (m.entry.model == spv::ExecutionModelTessellationControl && m.storage_of(variable) == spv::StorageClassOutput)
    for (const auto& [mode, values] : m.entry.modes)  // more than may be is refused later
      if (mode == spv::ExecutionModeOutputVertices && !values.empty()) count = std::max(count, std::min(values[0], kMaxPatchVertices));
  return count;
}

bool is_per_primitive(const Module& m, uint32_t variable) {
  if (m.entry.model != spv::ExecutionModelMeshEXT || !is_per_vertex(m, variable)) return false;
  const auto says = [](const Decorations& d) {
    return d.of_primitive || d.builtin == spv::BuiltInPrimitivePointIndicesEXT || d.builtin == spv::BuiltInPrimitiveLineIndicesEXT ||
           d.builtin == spv::BuiltInPrimitiveTriangleIndicesEXT || d.builtin == spv::BuiltInCullPrimitiveEXT;
  };
  if (says(m.decoration(variable))) return true;
  const uint32_t of_one = m.type(m.pointee(variable)).element;  // a block whose members are decorated
  for (uint32_t k = 0; m.type(of_one).kind == Kind::structure && k < m.type(of_one).members.size(); ++k)
    if (says(m.member(of_one, k))) return true;
  return false;
}

bool is_of_corners(const Module& m, uint32_t variable) {
  if (m.entry.model != spv::ExecutionModelFragment || m.storage_of(variable) != spv::StorageClassInput) return false;
  const TypeInfo& type = m.type(m.pointee(variable));
  if (type.kind != Kind::array) return false;
  if (m.decoration(variable).of_corners) return true;
  const TypeInfo& element = m.type(type.element);  // a block whose members are decorated
  for (uint32_t k = 0; element.kind == Kind::structure && k < element.members.size(); ++k)
    if (m.member(type.element, k).of_corners) return true;
  return false;
}

bool is_of_patch(const Module& m, uint32_t variable) {
  const spv::ExecutionModel model = m.entry.model;
  const bool output = m.storage_of(variable) == spv::StorageClassOutput;
  if (model != (output ? spv::ExecutionModelTessellationControl : spv::ExecutionModelTessellationEvaluation)) return false;
  const Decorations& d = m.decoration(variable);
  if (d.builtin == spv::BuiltInTessLevelOuter || d.builtin == spv::BuiltInTessLevelInner) return true;
  if (d.builtin != kNone) return false;  // HLSL's compilers decorate TessCoord too
  if (d.patch) return true;
  uint32_t type = m.pointee(variable);  // a block whose members are decorated, or an array of such blocks
  while (m.type(type).kind == Kind::array) type = m.type(type).element;
  for (uint32_t k = 0; m.type(type).kind == Kind::structure && k < m.type(type).members.size(); ++k)
    if (m.member(type, k).patch) return true;
  return false;
}

/// Of one vertex.
static uint32_t type_of_interface(const Module& m, uint32_t variable) {
  const uint32_t type = m.pointee(variable);
  return is_per_vertex(m, variable) ? m.type(type).element : type;
}

bool is_interpolated(uint32_t builtin) {
  return builtin == spv::BuiltInClipDistance || builtin == spv::BuiltInCullDistance || builtin == spv::BuiltInBaryCoordKHR ||
         builtin == spv::BuiltInBaryCoordNoPerspKHR;
}

uint32_t builtin_location(uint32_t builtin) {
  switch (static_cast<spv::BuiltIn>(builtin)) {
    case spv::BuiltInPosition:
      return kPositionLocation;
    case spv::BuiltInPointSize:
      return kPointSizeLocation;
    case spv::BuiltInLayer:
      return kLayerLocation;
    case spv::BuiltInViewportIndex:
      return kViewportLocation;
    case spv::BuiltInPrimitiveShadingRateKHR:
      return kShadingRateLocation;
    case spv::BuiltInPrimitiveId:
      return kPrimitiveIdLocation;
    case spv::BuiltInPrimitivePointIndicesEXT:
    case spv::BuiltInPrimitiveLineIndicesEXT:
    case spv::BuiltInPrimitiveTriangleIndicesEXT:
      return kPrimitiveIndicesLocation;
    case spv::BuiltInCullPrimitiveEXT:
      return kCullPrimitiveLocation;
    case spv::BuiltInTessLevelOuter:
      return kOuterLevelLocation;
    case spv::BuiltInTessLevelInner:
      return kInnerLevelLocation;
    case spv::BuiltInBaryCoordKHR:
      return kBarycentricLocation;
    case spv::BuiltInBaryCoordNoPerspKHR:
      return kLinearBarycentricLocation;
    case spv::BuiltInClipDistance:
      return kClipDistanceLocation;
    case spv::BuiltInCullDistance:
      return kCullDistanceLocation;
    default:
      return kNone;
  }
}

std::vector<InterfaceScalar> interface_of(const Module& m, const Constants& constants, uint32_t variable) {
  assert(m.find(variable) && m.find(variable)->op == spv::OpVariable);
  std::vector<InterfaceScalar> out;
  const uint32_t type = type_of_interface(m, variable);
  if (scalar_count(constants, type) > 65536) return out;
  const Decorations& d = m.decoration(variable);
  InterfaceScalar at;
  at.builtin = d.builtin;
  if (d.builtin == kNone) at.location = d.location == kNone ? 0 : d.location;
  at.component = d.component == kNone ? 0 : d.component;
  at.index = d.index;
  Walk::decorate(at, d);
  if (d.builtin == spv::BuiltInBaryCoordNoPerspKHR) at.interpolation = Interpolation::noperspective;
  if (is_of_corners(m, variable)) {
    at.interpolation = Interpolation::flat;
    for (uint32_t k = 0; k < array_length(constants, type); ++k) {
      InterfaceScalar corner = at;
      corner.corner = std::min(k, 2u) + 1;  // others are undefined
      Walk{m, constants, out}.go(m.type(type).element, corner);
    }
  } else {
    Walk{m, constants, out}.go(type, at);
  }
  assert(out.size() == words_in(m, constants, type).size());
  return out;
}

std::vector<bool> scalar_widths(const Module& m, const Constants& constants, uint32_t variable) {
  const std::vector<uint32_t> scalar = words_in(m, constants, type_of_interface(m, variable));
  std::vector<bool> wide(scalar.size());
  for (size_t k = 0; k < scalar.size(); ++k)
    wide[k] = (k > 0 && scalar[k - 1] == scalar[k]) || (k + 1 < scalar.size() && scalar[k + 1] == scalar[k]);
  return wide;
}

std::vector<uint32_t> used_variables(const Module& m, spv::StorageClass storage) {
  std::vector<uint32_t> result;
  for (uint32_t id : m.global_variables) {
    if (m.used[id] && m.storage_of(id) == storage) result.push_back(id);
  }
  return result;
}

std::vector<bool> used_scalars(const Module& m, const Constants& constants, uint32_t variable) {
  assert(m.find(variable) && m.find(variable)->op == spv::OpVariable);
  const bool vertices = is_per_vertex(m, variable);
  const uint32_t of_one = type_of_interface(m, variable);
  const uint64_t count = scalar_count(constants, of_one);
  std::vector<bool> used(count <= 65536 ? count : 0, false);  // by scalar
  const auto mark = [&](uint64_t first, uint64_t n) {
    for (uint64_t k = first; k < first + n && k < used.size(); ++k) used[k] = true;
  };
  const Instruction* declared = m.find(variable);
  if (declared && declared->count > 1 && m.storage_of(variable) == spv::StorageClassOutput) mark(0, count);  // initialised
  for (uint32_t id : m.reachable) {
    for (const BasicBlock& b : m.functions.at(id).blocks) {
      assert(b.first <= b.end && b.end <= m.instructions.size());
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        if (i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) {
          if (m.operand(i, 0) != variable) continue;
          uint32_t type = of_one;
          uint64_t first = 0;
          for (uint32_t n = vertices ? 2 : 1; n < i.count; ++n) {
            const TypeInfo& t = m.type(type);
            if (!constants.find(m.operand(i, n))) break;  // dynamic: everything from here on
            const uint32_t index = constants.word(m.operand(i, n));
            if (t.kind == Kind::structure) {
              if (index >= t.members.size()) break;
              for (uint32_t s = 0; s < index; ++s) first += scalar_count(constants, t.members[s]);
              type = t.members[index];
            } else {
              type = t.element;
              first += std::min<uint64_t>(index, 65536) * scalar_count(constants, type);
            }
          }
          mark(first, scalar_count(constants, type));
        } else {
          if (any_id(m, i, [&](uint32_t named) { return named == variable; })) mark(0, count);
        }
      }
    }
  }
  if (constants.size(of_one).widest_B <= 4 || used.empty()) return used;
  std::vector<bool> words;
  for (uint32_t scalar : words_in(m, constants, of_one)) words.push_back(used[scalar]);
  return words;
}

uint32_t stored_pointer(const Module& m, const Instruction& i) {
  if (i.op == spv::OpStore || i.op == spv::OpCopyMemory || i.op == kOpCooperativeMatrixStore) return m.operand(i, 0);
  if (i.op != spv::OpExtInst || m.operand(i, 0) != m.glsl450) return 0;
  assert(i.count >= 2);
  return m.operand(i, 1) == GLSLstd450Modf || m.operand(i, 1) == GLSLstd450Frexp ? m.operand(i, 3) : 0;
}

bool uses_addresses(const Module& m) {
  const auto is_address = [&](uint32_t id) { return id && m.holds_address(id); };
  for (uint32_t id : m.reachable)
    for (const BasicBlock& b : m.functions.at(id).blocks)
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        const bool reads = is_load(i.op) || is_atomic(i.op);
        if (is_address(stored_pointer(m, i)) || (reads && is_address(m.operand(i, 0))) ||
            (i.op == spv::OpCopyMemory && is_address(m.operand(i, 1))))
          return true;
      }
  return false;
}

Kind innermost_kind(const Module& m, uint32_t type) {
  while (is_array(m.type(type).kind)) type = m.type(type).element;
  return m.type(type).kind;
}

bool holds_images(const Module& m, uint32_t type) {
  const Kind kind = innermost_kind(m, type);
  return kind == Kind::image || kind == Kind::sampler || kind == Kind::sampled_image;
}

bool reads_attachment(const Module& m, const Instruction& i) {
  assert(i.op == spv::OpImageRead);
  return m.type(m.type_of(m.operand(i, 0))).dim == spv::DimSubpassData;
}

/// A variable pointer that may be to any variable of its class.
static bool is_chosen(const Module& m, const Instruction& i) {
  const bool follows = i.op == spv::OpVariable || i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain ||
                       i.op == spv::OpCopyObject || i.op == spv::OpFunctionParameter;
  return !follows && m.type(i.type).variable_pointer;
}

std::vector<uint32_t> resource_roots(const Module& m, uint32_t id) {
  std::vector<uint32_t> result;
  std::set<uint32_t> seen;
  std::vector<uint32_t> work = {id};
  while (!work.empty()) {
    const uint32_t at = work.back();
    work.pop_back();
    const Instruction* i = m.find(at);
    if (!i || !seen.insert(at).second) continue;
    if (is_chosen(m, *i)) {
      for (uint32_t any : m.global_variables)
        if (m.used[any] && m.storage_of(any) == m.type(i->type).storage) work.push_back(any);
      continue;
    }
    switch (i->op) {
      case spv::OpVariable:
        result.push_back(at);
        break;
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
      case spv::OpCopyObject:
        work.push_back(m.origin_of(at));
        break;
      case spv::OpLoad:
      case spv::OpCompositeExtract:
      case spv::OpImage:
      case spv::OpImageTexelPointer:
      case spv::OpSampledImage:
        work.push_back(m.operand(*i, 0));
        break;
      case spv::OpFunctionParameter:
        if (const auto passed = m.arguments.find(at); passed != m.arguments.end())
          work.insert(work.end(), passed->second.begin(), passed->second.end());
        break;
      default:
        break;
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

VkDescriptorType descriptor_type_of(const Module& module, uint32_t variable) {
  const spv::StorageClass storage = module.storage_of(variable);
  const uint32_t type_id = descriptor_type(module, variable);
  const TypeInfo& type = module.type(type_id);
  if (storage == spv::StorageClassStorageBuffer || module.decoration(type_id).buffer_block) return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  if (storage == spv::StorageClassUniform) return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  if (type.kind == Kind::sampler) return VK_DESCRIPTOR_TYPE_SAMPLER;
  const TypeInfo& image = type.kind == Kind::sampled_image ? module.type(type.element) : type;
  if (image.dim == spv::DimBuffer)
    return image.sampled == 2 ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
  if (type.kind == Kind::sampled_image) return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  if (image.dim == spv::DimSubpassData) return VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
  return image.sampled == 2 ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
}

}  // namespace tilegpu::shader
