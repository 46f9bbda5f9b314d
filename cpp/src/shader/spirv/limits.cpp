// shader/spirv/limits.cpp -- see limits.hpp.
#include "shader/spirv/limits.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/workgroup.hpp"
#include "shader_abi/abi.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::shader {
namespace {

struct Checker {
  const Module& m;
  const Constants& constants;
  Status status = Ok{};

  bool fail(const std::string& message) {
    if (status) status = Error{VK_ERROR_INVALID_SHADER_NV, message};
    return false;
  }
  /// Is it so for the type, or a part of it? `follows`: pointers, too.
  template <class Is>
  bool any_part(uint32_t type, bool follows, Is is) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> work = {type};
    while (!work.empty()) {
      const uint32_t id = work.back();
      work.pop_back();
      if (!seen.insert(id).second) continue;
      if (is(id)) return true;
      const TypeInfo& t = m.type(id);
      if (is_array(t.kind) || (follows && t.kind == Kind::pointer)) work.push_back(t.element);
      if (t.kind == Kind::structure) work.insert(work.end(), t.members.begin(), t.members.end());
    }
    return false;
  }
  bool holds(uint32_t type, uint32_t part) const {
    return any_part(type, true, [&](uint32_t id) { return id == part; });
  }
  /// Is there an address in a value of the type?
  bool has_address(uint32_t type) const {
    return any_part(type, false, [&](uint32_t id) { return is_address(m.type(id)); });
  }
  std::string name_of(uint32_t id, const char* kind) const {
    const std::string name = m.name(id);
    return name.empty() ? std::string(kind) + " " + std::to_string(id) : std::string(kind) + " '" + name + "'";
  }
  /// The first variable that has an array type in it, for messages.
  std::string owner_of(uint32_t array_type) const {
    for (const Instruction& i : m.instructions)
      if (i.op == spv::OpVariable && holds(i.type, array_type)) return name_of(i.id, "variable");
    return "array type " + std::to_string(array_type);
  }
  /// The specialisation constants that a constant is made of, as a hint.
  std::string made_of(uint32_t constant) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> work = {constant};
    std::string text;
    while (!work.empty()) {
      const uint32_t id = work.back();
      work.pop_back();
      const Instruction* i = m.find(id);
      if (!i || !seen.insert(id).second) continue;
      if (const uint32_t spec_id = m.decoration(id).spec_id; spec_id != kNone)
        text += (text.empty() ? "" : ", ") + name_of(id, "constant") + " (constant_id " + std::to_string(spec_id) + ", here " +
                std::to_string(static_cast<int32_t>(constants.word(id))) + ")";
      const bool made = i->op == spv::OpSpecConstantOp || i->op == spv::OpSpecConstantComposite || is_replicated_constant(i->op);
      for (uint32_t k = i->op == spv::OpSpecConstantOp ? 1 : 0; made && k < i->count; ++k) work.push_back(m.operand(*i, k));
    }
    return text.empty() ? "" : "; it is made of " + text;
  }

  bool lengths();
  bool interface(uint32_t id, bool output);
  bool resource(uint32_t id);
  bool block(uint32_t id, uint32_t type, uint64_t most_B);
  bool workgroup();
  bool values();
};

bool Checker::lengths() {
  for (const Instruction& i : m.instructions) {
    if (i.op == spv::OpFunction) break;
    if (i.op != spv::OpTypeArray) continue;
    const TypeInfo& t = m.type(i.id);
    const Constant* length = constants.find(t.length_id);
    const TypeInfo& kind = m.type(length ? length->type : 0);
    const std::string name = owner_of(i.id) + ": its array length is ";
    if (!length || kind.kind != Kind::integer) return fail(name + "no integer constant");
    const uint32_t value = constants.word(t.length_id);
    const bool negative = kind.is_signed && value >> 31;
    if (value == 0 || negative)
      return fail(name + (negative ? std::to_string(static_cast<int32_t>(value)) : std::to_string(value)) + "; at least 1 is allowed" +
                  made_of(t.length_id));
  }
  return true;
}

bool Checker::interface(uint32_t id, bool output) {
  assert(m.storage_of(id) == (output ? spv::StorageClassOutput : spv::StorageClassInput));
  const bool fragment = m.entry.model == spv::ExecutionModelFragment;
  const std::string name = name_of(id, output ? "output" : "input");
  const TypeSize& size = constants.size(m.pointee(id));
  if (size.parts > kMaxValueParts)
    return fail(name + " has " + std::to_string(size.parts) + " parts; at most " + std::to_string(kMaxValueParts) + " are allowed");
  if (has_address(m.pointee(id)))
    return fail(name + " has a pointer to a buffer in it; inputs and outputs hold numbers: pass it as uint64_t or uvec2");
  if (size.widest_B > 4 && ((output && fragment) || m.entry.model == spv::ExecutionModelGLCompute)) {
    // No format of an attachment has them.
    if (status) status = Error{VK_ERROR_FEATURE_NOT_PRESENT, name + " has scalars of 64 bits; fragment outputs have 32"};
    return false;
  }
  const uint32_t limit = fragment && output ? kMaxTargets : kMaxLocations;
  const auto used = used_scalars(m, constants, id);
  const auto scalars = interface_of(m, constants, id);
  for (const InterfaceScalar& s : scalars) {
    const auto& declared = m.capabilities;
    if (s.narrow && std::find(declared.begin(), declared.end(), spv::CapabilityStorageInputOutput16) == declared.end())
      return fail(name + " has scalars of 16 bits, and the module does not declare StorageInputOutput16");
    if (size_B(s.base) >= 4) continue;
    if (status) status = Error{VK_ERROR_FEATURE_NOT_PRESENT, name + " has scalars of 8 bits; inputs and outputs have 16, 32 or 64"};
    return false;
  }
  for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
    if (!used[k] || scalars[k].builtin != kNone) continue;
    if (scalars[k].location >= limit)
      return fail(name + " reaches location " + std::to_string(scalars[k].location) + "; at most " + std::to_string(limit - 1) +
                  " is allowed");
    if (scalars[k].component > 3) return fail(name + " reaches component " + std::to_string(scalars[k].component) + "; a location has 4");
  }
  return true;
}

bool Checker::block(uint32_t id, uint32_t type, uint64_t most_B) {
  assert(m.used[id]);
  const uint64_t size_B = block_size_B(m, constants, type);
  if (size_B <= most_B) return true;
  std::string why;
  for (const Instruction& i : m.instructions)
    if (i.op == spv::OpTypeArray && why.empty() && holds(type, i.id)) why = made_of(m.type(i.id).length_id);
  return fail(name_of(id, "block") + " takes " + std::to_string(size_B) + " bytes; at most " + std::to_string(most_B) + " are allowed" +
              why);
}

bool Checker::resource(uint32_t id) {
  uint32_t type = m.pointee(id);
  const std::string name = name_of(id, "resource");
  if (is_array(m.type(type).kind)) {
    const bool unbounded = m.type(type).kind == Kind::runtime_array;
    const uint32_t count = unbounded ? 1 : constants.size(type).length;
    if (count > kMaxDescriptors)
      return fail(name + " is an array of " + std::to_string(count) + " descriptors; at most " + std::to_string(kMaxDescriptors) +
                  " are allowed" + made_of(m.type(type).length_id));
    type = m.type(type).element;
    if (is_array(m.type(type).kind)) return fail(name + " is an array of arrays of descriptors; make it one array");
    if (unbounded && m.type(type).kind == Kind::image && m.type(type).dim == spv::DimSubpassData)
      return fail(name + " is an array of input attachments without a length; give it one");
  }
  return m.storage_of(id) == spv::StorageClassUniformConstant || block(id, type, UINT32_MAX);
}

/// Of compute, task and mesh shaders: the workgroup, the memory that its invocations share, what a mesh shader makes, and the payload.
bool Checker::workgroup() {
  constexpr uint64_t kLine_B = 64;  // each variable has cache lines of its own
  const WorkgroupFacts facts = workgroup_of(m, constants);
  const auto size = [&] {
    return std::to_string(facts.size[0]) + " x " + std::to_string(facts.size[1]) + " x " + std::to_string(facts.size[2]);
  };
  for (uint32_t side : facts.size)
    if (side == 0 || side > kMaxWorkgroupInvocations)
      return fail("the workgroup's size is " + size() + "; each side has at least 1 and at most " +
                  std::to_string(kMaxWorkgroupInvocations) + " invocations");
  if (facts.invocations() > kMaxWorkgroupInvocations)
    return fail("the workgroup's size is " + size() + ", " + std::to_string(facts.invocations()) + " invocations; at most " +
                std::to_string(kMaxWorkgroupInvocations) + " are allowed");
  uint64_t shared_B = 0, made_B = 0, payload_B = 0;
  for (const SharedVariable& v : facts.shared) {
    const spv::StorageClass storage = m.storage_of(v.id);
    if (facts.has_layout && storage == spv::StorageClassWorkgroup) {  // one beside the other, from one place on
      shared_B = std::max(shared_B, block_size_B(m, constants, m.pointee(v.id)));
      continue;
    }
    const uint64_t own_B = (scalar_count(constants, m.pointee(v.id)) * v.scalar_B + kLine_B - 1) / kLine_B * kLine_B;
    (storage == spv::StorageClassOutput ? made_B : v.id == facts.payload ? payload_B : shared_B) += own_B;
  }
  for (const auto& [what, size_B, most_B] :
       {std::tuple("shared variables take ", shared_B, kMaxSharedMemory_B), std::tuple("the outputs take ", made_B, kMaxMeshOutput_B),
        std::tuple("the payload (taskPayloadSharedEXT) takes ", payload_B, kMaxTaskPayload_B)})
    if (size_B > most_B) return fail(what + std::to_string(size_B) + " bytes; at most " + std::to_string(most_B) + " are allowed");
  return true;
}

/// Types of what reachable code computes and keeps.
bool Checker::values() {
  std::set<uint32_t> seen;
  for (uint32_t id : m.reachable) {
    for (const BasicBlock& b : m.functions.at(id).blocks) {
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        const TypeInfo& t = m.type(i.type);
        const bool memory = t.storage == spv::StorageClassFunction || t.storage == spv::StorageClassPrivate;
        if (t.kind == Kind::pointer && !memory) continue;
        const uint32_t type = t.kind == Kind::pointer ? t.element : i.type;
        if (!type || !seen.insert(type).second || constants.size(type).parts <= kMaxValueParts) continue;
        const std::string source = m.source_of(i);
        return fail(name_of(i.id, i.op == spv::OpVariable ? "variable" : "value") + (source.empty() ? "" : " at " + source) + " has " +
                    std::to_string(constants.size(type).parts) + " parts; at most " + std::to_string(kMaxValueParts) + " are allowed");
      }
    }
  }
  return true;
}

}  // namespace

Status check_limits(const Module& m, const Constants& constants) {
  Checker check{m, constants};
  if (!check.lengths()) return check.status;
  for (uint32_t id : m.global_variables) {
    if (!m.used[id]) continue;
    bool ok = true;
    switch (m.storage_of(id)) {
      case spv::StorageClassInput:
      case spv::StorageClassOutput:
        ok = check.interface(id, m.storage_of(id) == spv::StorageClassOutput);
        break;
      case spv::StorageClassPrivate:
        if (constants.size(m.pointee(id)).parts > kMaxValueParts)
          ok = check.fail(check.name_of(id, "variable") + " has " + std::to_string(constants.size(m.pointee(id)).parts) +
                          " parts; at most " + std::to_string(kMaxValueParts) + " are allowed");
        break;
      case spv::StorageClassUniform:
      case spv::StorageClassUniformConstant:
      case spv::StorageClassStorageBuffer:
        ok = check.resource(id);
        break;
      case spv::StorageClassPushConstant:
        ok = check.block(id, m.pointee(id), kMaxPushConstants_B);
        break;
      default:
        break;
    }
    if (!ok) return check.status;
  }
  const DistanceCounts distances = count_distances(m, constants);
  for (const auto& [what, count, most] :
       {std::tuple("gl_ClipDistance", distances.clip, kMaxClipDistances), std::tuple("gl_CullDistance", distances.cull, kMaxCullDistances)})
    if (count > most)
      return Error{VK_ERROR_INVALID_SHADER_NV, std::string(what) + " has " + std::to_string(count) + " elements; at most " +
                                                   std::to_string(most) + " are allowed: declare a shorter array"};
  if ((m.entry.model == spv::ExecutionModelGLCompute || is_task_or_mesh(m.entry.model)) && !check.workgroup()) return check.status;
  if (!check.values()) return check.status;
  return check_cooperative(m, constants);
}

Expected<Constants> specialise(const Module& module, const Specialization& specialization) {
  Expected<Constants> constants = evaluate_constants(module, specialization);
  if (!constants) return constants;
  if (Status ok = check_limits(module, *constants); !ok) return ok.error();
  return constants;
}

DistanceCounts count_distances(const Module& m, const Constants& constants) {
  const bool fragment = m.entry.model == spv::ExecutionModelFragment;
  DistanceCounts counts;
  for (uint32_t id : used_variables(m, fragment ? spv::StorageClassInput : spv::StorageClassOutput)) {
    const auto scalars = interface_of(m, constants, id);
    const auto used = used_scalars(m, constants, id);
    // The whole array counts as soon as one element is used: its length is the number of planes.
    const auto add = [&](spv::BuiltIn builtin, uint32_t& count) {
      bool any = false;
      for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) any = any || (used[k] && scalars[k].builtin == builtin);
      for (size_t k = 0; any && k < scalars.size(); ++k) count += scalars[k].builtin == builtin;
    };
    add(spv::BuiltInClipDistance, counts.clip);
    add(spv::BuiltInCullDistance, counts.cull);
  }
  return counts;
}

uint32_t descriptor_count(const Module& m, const Constants& constants, uint32_t variable) {
  assert(m.find(variable) && m.find(variable)->op == spv::OpVariable);
  const uint32_t type = m.pointee(variable);
  if (m.type(type).kind == Kind::runtime_array) return kUnbounded;
  return m.type(type).kind == Kind::array ? array_length(constants, type) : 1;
}

uint32_t descriptor_type(const Module& m, uint32_t variable) {
  uint32_t type = m.pointee(variable);
  while (is_array(m.type(type).kind)) type = m.type(type).element;
  return type;
}

uint64_t block_size_B(const Module& m, const Constants& constants, uint32_t type, bool row_major, uint32_t matrix_stride_B) {
  const TypeInfo& t = m.type(type);
  switch (t.kind) {
    case Kind::vector:
      return uint64_t{constants.size(type).widest_B} * t.count;
    case Kind::matrix:
      return uint64_t{matrix_stride_B} * (row_major ? m.type(t.element).count : t.count);
    case Kind::array:
      return uint64_t{m.decorations_array_stride(type)} * array_length(constants, type);
    case Kind::structure: {
      uint64_t end = 0;
      for (uint32_t k = 0; k < t.members.size(); ++k) {
        const Decorations& member = m.member(type, k);
        const uint64_t size = block_size_B(m, constants, t.members[k], member.row_major, member.matrix_stride_B);
        if (size == 0) return 0;
        end = std::max(end, (member.offset_B == kNone ? 0 : member.offset_B) + size);
      }
      return end;
    }
    case Kind::integer:
    case Kind::floating:
    case Kind::boolean:
    case Kind::pointer:
      return constants.size(type).widest_B;
    default:
      return 0;
  }
}

}  // namespace tilegpu::shader
